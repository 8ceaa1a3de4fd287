//! A running kernel.
use super::{Answered, Backlog, KernelBuilder, Receipt, Role, SendError, SendRefused, send};
use crate::{
    context::Context,
    counters::Counters,
    reader::Reader,
    shutdown::{Shutdown, ShutdownBudget, ShutdownError, Stopped},
    wire::CommandAnswer,
    worker::Worker,
};
use foldwright_domain::{Command, Intent, Rejected};
use foldwright_ports::{Error, Kind, NewJob, Ports, Result, Room, Route, StageRefused};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// The waits before a call whose outcome is unknown is repeated.
const STAGE_AGAIN: [Duration; 3] = [
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(800),
];

/// How often a caller that waits for the backlog looks at it.
const LOOK: Duration = Duration::from_millis(20);

/// Pipelines that run on ports.
///
/// Dropping it drops what its worker does; their leases lapse. [`close`](Self::close) finishes it instead.
pub struct Kernel {
    ctx: Arc<Context>,
    commands: BTreeMap<&'static str, Route>,
    elsewhere: Arc<BTreeSet<(&'static str, &'static str)>>,
    worker: Option<Worker>,
}

impl Kernel {
    /// Begins a kernel. Ports and role are arguments, so that neither can be forgotten.
    #[must_use]
    pub fn builder(ports: Ports, role: Role) -> KernelBuilder {
        KernelBuilder::new(ports, role)
    }

    pub(super) fn new(
        ctx: Arc<Context>,
        commands: BTreeMap<&'static str, Route>,
        elsewhere: BTreeSet<(&'static str, &'static str)>,
        worker: Option<Worker>,
    ) -> Self {
        Self {
            ctx,
            commands,
            elsewhere: Arc::new(elsewhere),
            worker,
        }
    }

    /// Accepts a command: returns when it is durable in the queue. Its decision comes later.
    ///
    /// Cancellation: a dropped call leaves it undecided whether the command was accepted.
    ///
    /// # Errors
    /// [`SendError`] gives the intent back. Nothing was staged, unless the store stayed away
    /// ([`SendRefused::outcome_is_unknown`]): then the command may have been accepted all the same, and sending it again
    /// is safe only with an idempotency key.
    pub async fn send<C: Command>(&self, intent: Intent<C>) -> Result<Receipt, SendError<C>> {
        let mut receipts = self.stage(vec![intent]).await?;
        match receipts.pop() {
            Some(receipt) => Ok(receipt),
            None => Err(SendError {
                intents: Vec::new(),
                refused: Error::new(Kind::Unavailable, "stage", "the queue gave no answer").into(),
            }),
        }
    }

    /// Accepts many commands in one call, all or none; receipts in the order of the call.
    ///
    /// Cancellation and errors: as [`send`](Self::send).
    pub async fn send_all<C: Command>(
        &self,
        intents: impl IntoIterator<Item = Intent<C>>,
    ) -> Result<Vec<Receipt>, SendError<C>> {
        self.stage(intents.into_iter().collect()).await
    }

    async fn stage<C: Command>(&self, intents: Vec<Intent<C>>) -> Result<Vec<Receipt>, SendError<C>> {
        match self.try_stage(&intents).await {
            Ok(receipts) => Ok(receipts),
            Err(refused) => Err(SendError { intents, refused }),
        }
    }

    async fn try_stage<C: Command>(&self, intents: &[Intent<C>]) -> Result<Vec<Receipt>, SendRefused> {
        let route = self
            .commands
            .get(C::NAME)
            .ok_or(SendRefused::NotRegistered { command: C::NAME })?;
        let mut jobs = Vec::with_capacity(intents.len());
        let mut receipts = Vec::with_capacity(intents.len());
        for intent in intents {
            let (job, receipt) = send::job(intent, route, &self.ctx).await?;
            jobs.push(job);
            receipts.push(receipt);
        }
        if !jobs.is_empty() {
            self.stage_jobs(jobs).await?;
        }
        Ok(receipts)
    }

    /// Repeats a call whose outcome is unknown under its nonce, so that commands are not staged twice.
    async fn stage_jobs(&self, jobs: Vec<NewJob>) -> Result<()> {
        let nonce = self.ctx.ids.nonce();
        let mut waits = STAGE_AGAIN.iter();
        loop {
            let Err(StageRefused { error, .. }) = self
                .ctx
                .ports
                .queue
                .stage(nonce, jobs.clone(), Room::Sender)
                .await
            else {
                return Ok(());
            };
            let unknown = matches!(error.kind(), Kind::Unavailable | Kind::Timeout);
            match waits.next() {
                Some(wait) if unknown => tokio::time::sleep(*wait).await,
                _ => return Err(error),
            }
        }
    }

    /// The answer of a command that was rejected; `None` while it is not decided, when it led to events, and a
    /// minute after it was decided.
    ///
    /// # Errors
    /// The queue's.
    pub async fn answer(&self, receipt: &Receipt) -> Result<Option<Answered>> {
        let Some(bytes) = self.ctx.ports.queue.answer(&receipt.tenant, receipt.job).await? else {
            return Ok(None);
        };
        let CommandAnswer::Rejected { code, message } = CommandAnswer::decode(&bytes).map_err(|source| {
            Error::new(Kind::Corrupt, "answer", "the stored answer does not decode").caused_by(source)
        })?;
        Ok(Some(Answered::Rejected(Rejected::new(code, message))))
    }

    /// What is still to be done, over all processes on the same queue.
    ///
    /// # Errors
    /// The queue's.
    pub async fn backlog(&self) -> Result<Backlog> {
        Ok(Backlog::of(&self.ctx.ports.queue_admin.depth().await?))
    }

    /// Waits until no command, fold or map waits or runs, and answers what is left; `watch` sees each look at it.
    ///
    /// Does not end by itself while others keep sending, while a group backs off, while jobs are stranded for want of a
    /// worker that knows their route, or where no process works: give it a limit with `tokio::time::timeout`. Cancel
    /// safe.
    ///
    /// # Errors
    /// The queue's.
    pub async fn caught_up(&self, mut watch: impl FnMut(&Backlog)) -> Result<Backlog> {
        loop {
            let backlog = self.backlog().await?;
            watch(&backlog);
            if backlog.open() == 0 {
                return Ok(backlog);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Reads what projections made.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader::without(self.ctx.ports.clone(), self.elsewhere.clone())
    }

    /// What this kernel has counted since it was started.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.ctx.counters
    }

    /// Stops taking work, finishes and settles what is in hand within the default budget, gives back what is left then, and
    /// ends every task. The stores stay open: they are the caller's. What had trouble is in the log.
    pub async fn close(self) {
        // Past the whole time the error is logged.
        let _ = self.shutdown(Shutdown::new(ShutdownBudget::default())).await;
    }

    /// Stops as [`Shutdown`] says: stop claiming, drain, give back, goodbye, then what it names, then its flush.
    ///
    /// What runs may stage jobs until the drain ends. What has not ended by then is dropped, and its groups are claimable
    /// at once.
    ///
    /// # Errors
    /// [`ShutdownError`] when it took longer than it may in all.
    pub async fn shutdown(self, shutdown: Shutdown) -> Result<Stopped, ShutdownError> {
        shutdown.run(self.worker).await
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel")
            .field("commands", &self.commands)
            .finish_non_exhaustive()
    }
}
