//! Ports in memory, a clock that goes by paused time, and the calls that tests repeat.
use super::{Faults, Finish, Note, Noted, Run, faults::faulty};
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::{
    Aggregate, AggregateId, Declared, EventsOf, Fold, Intent, Key, KeyedFold, Millis, TenantId,
};
use foldwright_ports::{BlockedGroup, FoldRow, Limits, Ports, QueueSettings, StateKey, StateRow};
use foldwright_runtime::{Kernel, KernelBuilder, Reader, Receipt, Role, SeededIds, WorkerSettings};
use std::{sync::Arc, time::Duration};

pub(crate) const START: i64 = 1_764_500_000_000;

/// An instant, in ms after the start of the test.
pub(crate) fn at(ms: i64) -> Millis {
    Millis(START + ms)
}

pub(crate) fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

/// A store that kernels come and go on.
pub(crate) struct Bench {
    pub(crate) ports: Ports,
    pub(crate) ids: Arc<SeededIds>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::seeded(7)
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        Self::with(&QueueSettings::default(), seed)
    }

    /// A store whose queue has other settings.
    pub(crate) fn with(settings: &QueueSettings, seed: u64) -> Self {
        let clock = Arc::new(VirtualClock::new(Millis(START)));
        let memory = Memory::new(clock, *settings);
        Self::over(memory.ports(), seed)
    }

    pub(crate) fn over(ports: Ports, seed: u64) -> Self {
        let ids = Arc::new(SeededIds::new(seed));
        Self { ports, ids }
    }

    /// A kernel on this store, ready for pipelines.
    pub(crate) fn kernel(&self) -> KernelBuilder {
        self.with_role(Role::All)
    }

    pub(crate) fn with_role(&self, role: Role) -> KernelBuilder {
        Kernel::builder(self.ports.clone(), role).ids(self.ids.clone())
    }

    /// A kernel on this store whose calls go wrong as the script says.
    pub(crate) fn faulty(&self, faults: &Arc<Faults>) -> KernelBuilder {
        Kernel::builder(faulty(&self.ports, faults), Role::All).ids(self.ids.clone())
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::new(self.ports.clone())
    }

    /// The state of a fold of tenant `a`'s run.
    pub(crate) async fn state<F: Fold<On: EventsOf<Run>>>(&self, run: &str) -> Option<F::State> {
        self.row::<F>(run).await.map(|row| row.state)
    }

    /// The row of a fold of tenant `a`'s run.
    pub(crate) async fn row<F: Fold<On: EventsOf<Run>>>(&self, run: &str) -> Option<FoldRow<F::State>> {
        self.reader()
            .state::<F, Run>(&key::<Run>("a", run))
            .await
            .unwrap()
    }

    /// The same row as it lies in the store.
    pub(crate) async fn stored<F: Fold>(&self, run: &str) -> Option<StateRow> {
        let key = StateKey {
            tenant: tenant("a"),
            projection: F::NAME.into(),
            key: run.into(),
        };
        self.ports.folds.load(&[key]).await.unwrap().remove(0)
    }

    pub(crate) async fn keyed<F: KeyedFold>(&self, key: &F::Key) -> Option<F::State> {
        self.reader()
            .keyed_state::<F>(&tenant("a"), key)
            .await
            .unwrap()
            .map(|row| row.state)
    }

    /// What is quarantined.
    pub(crate) async fn blocked(&self) -> Vec<BlockedGroup> {
        self.ports
            .queue_admin
            .blocked(None, None, Limits::items(1_000))
            .await
            .unwrap()
            .items
    }

    /// Lets a killed worker's leases lapse; a live kernel returns them to the queue.
    pub(crate) async fn leases_lapse(&self) {
        tokio::time::sleep(WorkerSettings::default().lease + Duration::from_millis(1)).await;
    }
}

/// Waits until something holds.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..200_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to hold");
}

/// Waits until no job waits or runs; quarantined ones may be left.
pub(crate) async fn idle(kernel: &Kernel) {
    for _ in 0..700_000 {
        let backlog = kernel.backlog().await.unwrap();
        if backlog.open() + backlog.subscribers.waiting + backlog.subscribers.leased == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never idle: {:?}", kernel.backlog().await.unwrap());
}

pub(crate) fn key<A: Aggregate>(owner: &str, id: &str) -> Key<A> {
    Key::new(tenant(owner), AggregateId::parse(id).unwrap())
}

/// A number for a run of tenant `a`, `ms` after the start.
pub(crate) fn note(run: &str, ms: i64, n: u64) -> Intent<Declared<Note>> {
    Intent::new(
        tenant("a"),
        at(ms),
        Declared(Noted {
            run: run.into(),
            n,
            key: None,
        }),
    )
}

/// The same with an idempotency key.
pub(crate) fn keyed_note(run: &str, ms: i64, n: u64, key: &str) -> Intent<Declared<Note>> {
    Intent::new(
        tenant("a"),
        at(ms),
        Declared(Noted {
            run: run.into(),
            n,
            key: Some(key.into()),
        }),
    )
}

pub(crate) async fn finish(kernel: &Kernel, run: &str, times: usize) -> Receipt {
    let finish = Finish {
        run: run.into(),
        times,
    };
    kernel
        .send(Intent::new(tenant("a"), at(0), finish))
        .await
        .unwrap()
}
