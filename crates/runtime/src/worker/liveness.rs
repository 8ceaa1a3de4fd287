//! Saying that the worker lives.
use super::{Stop, WorkerSettings};
use crate::context::Context;
use foldwright_ports::{Capabilities, WorkerId};
use std::{
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::watch,
    task::JoinSet,
};

/// What a worker says of itself while it lives.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) ctx: Arc<Context>,
    pub(super) worker: WorkerId,
    pub(super) capabilities: Arc<Capabilities>,
    pub(super) ttl: Duration,
}

/// Renews a worker's liveness record every third of its life.
///
/// On a runtime with several threads it does so from a thread of its own, so that handlers that block every one of them do
/// not make a live worker look dead. On one with a single thread, where simulated time is, it is a task.
pub(super) enum Liveness {
    Thread {
        stop: mpsc::Sender<()>,
        thread: thread::JoinHandle<()>,
    },
    Task {
        stop: watch::Sender<bool>,
        task: JoinSet<()>,
    },
}

impl Record {
    pub(super) fn new(
        ctx: &Arc<Context>,
        worker: WorkerId,
        capabilities: Capabilities,
        settings: WorkerSettings,
    ) -> Self {
        Self {
            ctx: ctx.clone(),
            worker,
            capabilities: Arc::new(capabilities),
            ttl: settings.liveness(),
        }
    }

    async fn beat(&self) {
        let beat = self
            .ctx
            .ports
            .queue
            .beat(self.worker, &self.capabilities, self.ttl);
        if let Err(error) = beat.await {
            tracing::warn!(%error, "the worker's liveness record was not renewed, the next beat tries again");
        }
    }

    /// Ends the record: the worker stops in good order, and nothing is held against what it held.
    pub(super) async fn goodbye(&self) -> foldwright_ports::Result<()> {
        self.ctx.ports.queue.goodbye(self.worker).await
    }
}

impl Liveness {
    /// Begins to renew the record. Needs a tokio runtime.
    pub(super) fn start(record: Record) -> Self {
        let handle = Handle::current();
        if handle.runtime_flavor() != RuntimeFlavor::CurrentThread {
            let (stop, stopped) = mpsc::channel();
            let of_thread = record.clone();
            let spawned = thread::Builder::new()
                .name("foldwright-liveness".to_owned())
                .spawn(move || renew(&of_thread, &handle, &stopped));
            match spawned {
                Ok(thread) => return Self::Thread { stop, thread },
                Err(error) => {
                    tracing::warn!(%error, "no thread for the liveness record, a task renews it");
                }
            }
        }
        let (stop, mut stopped) = Stop::new();
        let mut task = JoinSet::new();
        task.spawn(async move {
            while stopped.or(record.beat()).await.is_some() {
                stopped.sleep(record.ttl / 3).await;
            }
        });
        Self::Task { stop, task }
    }

    /// Renews it no more. Cancel safe: dropping this ends it too.
    pub(super) async fn stop(self) {
        match self {
            Self::Thread { stop, thread } => {
                drop(stop);
                // The thread may be within a beat, which must not block this one.
                let joined = tokio::task::spawn_blocking(move || thread.join());
                if !matches!(joined.await, Ok(Ok(()))) {
                    tracing::error!("the thread of the liveness record ended badly");
                }
            }
            Self::Task { stop, mut task } => {
                stop.send_replace(true);
                while task.join_next().await.is_some() {}
            }
        }
    }
}

/// Polls the calls on this thread; what they wait for is driven by the runtime's own.
fn renew(record: &Record, runtime: &Handle, stopped: &mpsc::Receiver<()>) {
    loop {
        runtime.block_on(record.beat());
        // Nothing is ever sent: the sender goes away.
        if !matches!(
            stopped.recv_timeout(record.ttl / 3),
            Err(mpsc::RecvTimeoutError::Timeout)
        ) {
            return;
        }
    }
}
