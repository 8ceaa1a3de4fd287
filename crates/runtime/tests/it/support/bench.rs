//! Ports in memory, a clock that stands still, and the calls that tests repeat.
use super::{Finish, Note, Noted, Run};
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::{Aggregate, AggregateId, Declared, EventsOf, Fold, Intent, Key, KeyedFold, Millis, TenantId};
use foldwright_ports::{Ports, QueueSettings};
use foldwright_runtime::{Kernel, KernelBuilder, Reader, Receipt, Role, SeededIds};
use std::sync::Arc;

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
        let clock = Arc::new(VirtualClock::new(Millis(START)));
        let memory = Memory::new(clock, QueueSettings::default());
        Self { ports: memory.ports(), ids: Arc::new(SeededIds::new(7)) }
    }

    /// A kernel on this store, ready for pipelines.
    pub(crate) fn kernel(&self) -> KernelBuilder {
        Kernel::builder(self.ports.clone(), Role::All).ids(self.ids.clone())
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::new(self.ports.clone())
    }

    /// The state of a fold of tenant `a`'s run.
    pub(crate) async fn state<F: Fold<On: EventsOf<Run>>>(&self, run: &str) -> Option<F::State> {
        let key = key::<Run>("a", run);
        self.reader().state::<F, Run>(&key).await.unwrap().map(|row| row.state)
    }

    pub(crate) async fn keyed<F: KeyedFold>(&self, key: &F::Key) -> Option<F::State> {
        self.reader().keyed_state::<F>(&tenant("a"), key).await.unwrap().map(|row| row.state)
    }
}

pub(crate) fn key<A: Aggregate>(owner: &str, id: &str) -> Key<A> {
    Key::new(tenant(owner), AggregateId::parse(id).unwrap())
}

/// A number for a run of tenant `a`, `ms` after the start.
pub(crate) fn note(run: &str, ms: i64, n: u64) -> Intent<Declared<Note>> {
    Intent::new(tenant("a"), at(ms), Declared(Noted { run: run.into(), n, key: None }))
}

/// The same with an idempotency key.
pub(crate) fn keyed_note(run: &str, ms: i64, n: u64, key: &str) -> Intent<Declared<Note>> {
    Intent::new(tenant("a"), at(ms), Declared(Noted { run: run.into(), n, key: Some(key.into()) }))
}

pub(crate) async fn finish(kernel: &Kernel, run: &str, times: usize) -> Receipt {
    let finish = Finish { run: run.into(), times };
    kernel.send(Intent::new(tenant("a"), at(0), finish)).await.unwrap()
}
