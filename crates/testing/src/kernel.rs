//! A kernel in memory whose time a test moves.
use crate::timeline::{START, aggregate_id, tenant};
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::{
    Aggregate, Command, EventsOf, Fold, Intent, Key, KeyedFold, Map, Millis, RawEvent, Rejected,
};
use foldwright_ports::{Cursor, Limits, Page, Ports, QueueSettings};
use foldwright_runtime::{Answered, Backlog, Kernel, KernelBuilder, Receipt, Role, SeededIds, SendError};
use std::{fmt, sync::Arc, time::Duration};

/// Longer than any ladder of retries: what is not done by then never will be.
const PATIENCE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The whole kernel over the memory adapter, deterministic: time begins at [`START`] and moves only while every task
/// waits, ids come from a seed, and one thread runs it all. A night of retries takes milliseconds.
///
/// Needs the paused time of a runtime on one thread: `#[tokio::test(start_paused = true)]`.
///
/// What it is asked for concerns the tenant [`tenant`]; [`kernel`](Self::kernel) and [`ports`](Self::ports) are there for
/// all else. Every method fails the test where the kernel answers an error.
pub struct TestKernel {
    kernel: Kernel,
    ports: Ports,
    ids: Arc<SeededIds>,
}

impl TestKernel {
    /// Starts a kernel of role `All` on an empty store. `compose` adds pipelines and whatever else a composition root
    /// would.
    ///
    /// # Panics
    /// When the composition has faults, or time is not paused.
    pub async fn start(compose: impl FnOnce(KernelBuilder) -> KernelBuilder) -> Self {
        // Fails at once where time runs by itself: nothing below would be deterministic.
        tokio::time::advance(Duration::ZERO).await;
        let clock = Arc::new(VirtualClock::new(START));
        let ports = Memory::new(clock, QueueSettings::default()).ports();
        Self::on(ports, Arc::new(SeededIds::new(0)), compose)
    }

    fn on(ports: Ports, ids: Arc<SeededIds>, compose: impl FnOnce(KernelBuilder) -> KernelBuilder) -> Self {
        let builder = Kernel::builder(ports.clone(), Role::All).ids(ids.clone());
        match compose(builder).start() {
            Ok(kernel) => Self { kernel, ports, ids },
            Err(faults) => panic!("the composition has faults: {faults}"),
        }
    }

    /// Closes the kernel and starts another one on the same store, as a deploy does.
    ///
    /// # Panics
    /// When the composition has faults.
    pub async fn restart(self, compose: impl FnOnce(KernelBuilder) -> KernelBuilder) -> Self {
        let Self { kernel, ports, ids } = self;
        kernel.close().await;
        Self::on(ports, ids, compose)
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.ports.clock.now()
    }

    /// Lets so much time pass, with everything that falls due in it.
    pub async fn advance(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Works off every command, fold and map, and every subscriber that is due. Debounced and delayed ones wait for
    /// [`advance`](Self::advance). What backs off after a failure is waited for, so time may pass.
    ///
    /// # Panics
    /// When something is still open after 30 days: without a worker that knows its route, a job waits for ever.
    pub async fn settle(&self) -> Backlog {
        let Ok(backlog) = tokio::time::timeout(PATIENCE, self.settled()).await else {
            panic!("there is still work after 30 days: {:?}", self.backlog().await)
        };
        backlog
    }

    async fn settled(&self) -> Backlog {
        loop {
            // Time moves only when every task waits, so by then each lane has taken what is due.
            tokio::time::sleep(Duration::from_millis(1)).await;
            let backlog = self.backlog().await;
            if backlog.open() + backlog.subscribers.leased == 0 {
                return backlog;
            }
        }
    }

    /// What is still to be done.
    pub async fn backlog(&self) -> Backlog {
        good(self.kernel.backlog().await)
    }

    /// Sends a command whose business time is now.
    pub async fn send<C: Command>(&self, payload: C) -> Receipt {
        self.send_intent(Intent::new(tenant(), self.now(), payload)).await
    }

    /// Sends an intent as it is.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn send_intent<C: Command>(&self, intent: Intent<C>) -> Receipt {
        match self.kernel.send(intent).await {
            Ok(receipt) => receipt,
            Err(error) => refused(error),
        }
    }

    /// Sends a command whose business time is now, works off what it leads to, and answers what became of it.
    ///
    /// # Errors
    /// Its rejection.
    ///
    /// # Panics
    /// When there is no answer, because it was quarantined for example.
    pub async fn decide<C: Command>(&self, payload: C) -> Result<Answered, Rejected> {
        let receipt = match self.kernel.ask(Intent::new(tenant(), self.now(), payload)).await {
            Ok(receipt) => receipt,
            Err(error) => refused(error),
        };
        let answered = receipt.decided(PATIENCE).await;
        self.settle().await;
        match answered {
            Ok(Answered::Rejected(rejected)) => Err(rejected),
            Ok(answered) => Ok(answered),
            Err(error) => panic!("`{}` has no answer: {error}", C::NAME),
        }
    }

    /// The state of a fold for one aggregate; `None` when nothing was folded yet.
    pub async fn state<F, A>(&self, id: &str) -> Option<F::State>
    where
        F: Fold<On: EventsOf<A>>,
        A: Aggregate,
    {
        let key = Key::<A>::new(tenant(), aggregate_id(id));
        let row = good(self.kernel.reader().state::<F, A>(&key).await);
        row.map(|row| row.state)
    }

    /// The state of a keyed fold for one key; `None` when nothing was folded yet.
    pub async fn keyed_state<F: KeyedFold>(&self, key: &F::Key) -> Option<F::State> {
        let row = good(self.kernel.reader().keyed_state::<F>(&tenant(), key).await);
        row.map(|row| row.state)
    }

    /// Every record of a map, in canonical order.
    pub async fn records<M: Map>(&self) -> Vec<M::Record> {
        let (reader, tenant) = (self.kernel.reader(), tenant());
        let page = async |from| reader.records::<M>(&tenant, None, from, LIMITS).await;
        let records = all(page).await;
        records.into_iter().map(|record| record.record).collect()
    }

    /// Every event of the log, in canonical order.
    pub async fn events(&self) -> Vec<RawEvent> {
        let selection = foldwright_ports::Selection::all(tenant());
        all(async |from| self.ports.log.scan(&selection, from, LIMITS).await).await
    }

    /// The kernel itself.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The store itself.
    #[must_use]
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Finishes what is in hand and ends every task.
    pub async fn close(self) {
        self.kernel.close().await;
    }
}

const LIMITS: Limits = Limits::items(1_000);

async fn all<T>(page: impl AsyncFn(Option<Cursor>) -> foldwright_ports::Result<Page<T>>) -> Vec<T> {
    let (mut items, mut from) = (Vec::new(), None);
    loop {
        let read = good(page(from).await);
        items.extend(read.items);
        match read.next {
            Some(next) => from = Some(next),
            None => return items,
        }
    }
}

fn refused<C: Command, T>(error: SendError<C>) -> T {
    panic!("`{}` was refused: {}", C::NAME, error.refused)
}

/// A test has no use for a store's error.
fn good<T>(answer: foldwright_ports::Result<T>) -> T {
    match answer {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

impl fmt::Debug for TestKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestKernel")
            .field("kernel", &self.kernel)
            .finish_non_exhaustive()
    }
}
