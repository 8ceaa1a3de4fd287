//! A running kernel.
use super::{
    Answered, Backlog, Desk, Inline, KernelBuilder, Operator, Receipt, ReceiptKey, SendError, SendRefused,
    backlog,
    send::{self, How},
};
use crate::{
    counters::Counters,
    description::Description,
    reader::Reader,
    retention::KeepsBase,
    role::Role,
    shutdown::{Shutdown, ShutdownBudget, ShutdownError, Stopped},
    subscriber::SubscriberCounts,
    worker::Worker,
};
use foldwright_domain::{Command, Intent, SecurityError, StreamKey, TenantId};
use foldwright_ports::{Error, JobId, Kind, NewJob, Ports, Result, Room, Route, StageRefused};
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

/// After so many looks without any change the caller asks what the work that is left waits for: two seconds, in which a
/// worker that is just starting has made itself known.
const STILL: u32 = 100;

/// What a composition made, beside what every handler works with.
pub(crate) struct Wired {
    /// Projections in tables of the user's own, by kind and name.
    pub(crate) elsewhere: BTreeSet<(&'static str, &'static str)>,
    /// The routes that this process's worker takes.
    pub(crate) taken: BTreeSet<Route>,
    pub(crate) bases: Vec<Arc<dyn KeepsBase>>,
    pub(crate) description: Description,
}

/// Pipelines that run on ports.
///
/// Dropping it drops what its worker does; their leases lapse. [`close`](Self::close) finishes it instead.
pub struct Kernel {
    desk: Arc<Desk>,
    elsewhere: Arc<BTreeSet<(&'static str, &'static str)>>,
    taken: BTreeSet<Route>,
    bases: Arc<[Arc<dyn KeepsBase>]>,
    description: Description,
    worker: Option<Worker>,
    /// Runs commands while they are sent, where the role says so.
    inline: Option<Inline>,
}

impl Kernel {
    /// Begins a kernel. Ports and role are arguments, so that neither can be forgotten.
    #[must_use]
    pub fn builder(ports: Ports, role: Role) -> KernelBuilder {
        KernelBuilder::new(ports, role)
    }

    pub(super) fn new(desk: Arc<Desk>, wired: Wired, worker: Option<Worker>, inline: Option<Inline>) -> Self {
        Self {
            desk,
            elsewhere: Arc::new(wired.elsewhere),
            taken: wired.taken,
            bases: wired.bases.into(),
            description: wired.description,
            worker,
            inline,
        }
    }

    /// What was wired, as it was when the kernel was started.
    #[must_use]
    pub fn describe(&self) -> &Description {
        &self.description
    }

    /// The operator's access to the queue and the log behind this kernel.
    #[must_use]
    pub fn operator(&self) -> Operator {
        Operator::new(self.desk.ctx.clone(), self.bases.clone())
    }

    /// Accepts a command: returns when it is durable in the queue. Its decision comes later. With
    /// [`Role::Migration`] it returns when it is decided and its jobs are staged.
    ///
    /// The queue keeps no answer of it but a rejection: use [`ask`](Self::ask) where the answer is waited for.
    ///
    /// Cancellation: a dropped call leaves it undecided whether the command was accepted.
    ///
    /// # Errors
    /// [`SendError`] gives the intent back. Nothing was staged, unless the store stayed away
    /// ([`SendRefused::outcome_is_unknown`]): then the command may have been accepted all the same, and sending it again
    /// is safe only with an idempotency key. A queue that is full says when to come back
    /// ([`SendRefused::retry_after`]).
    pub async fn send<C: Command>(&self, intent: Intent<C>) -> Result<Receipt, SendError<C>> {
        self.one(intent, false).await
    }

    /// Accepts a command whose sender is going to ask for its answer ([`Receipt::decided`]): the queue keeps it for a
    /// minute, whatever it is. That is one more row to write and to remove; where nobody asks, [`send`](Self::send).
    ///
    /// Cancellation and errors: as [`send`](Self::send).
    pub async fn ask<C: Command>(&self, intent: Intent<C>) -> Result<Receipt, SendError<C>> {
        self.one(intent, true).await
    }

    /// Accepts many commands in one call, all or none; receipts in the order of the call. With [`Role::Migration`] they
    /// run one after the other, up to the first that fails: that one and those behind it come back.
    ///
    /// Cancellation and errors: as [`send`](Self::send).
    pub async fn send_all<C: Command>(
        &self,
        intents: impl IntoIterator<Item = Intent<C>>,
    ) -> Result<Vec<Receipt>, SendError<C>> {
        self.all(intents.into_iter().collect(), false).await
    }

    /// As [`send_all`](Self::send_all), with the answers kept as [`ask`](Self::ask) has them kept.
    ///
    /// Cancellation and errors: as [`send`](Self::send).
    pub async fn ask_all<C: Command>(
        &self,
        intents: impl IntoIterator<Item = Intent<C>>,
    ) -> Result<Vec<Receipt>, SendError<C>> {
        self.all(intents.into_iter().collect(), true).await
    }

    async fn one<C: Command>(&self, intent: Intent<C>, asks: bool) -> Result<Receipt, SendError<C>> {
        let mut receipts = self.all(vec![intent], asks).await?;
        match receipts.pop() {
            Some(receipt) => Ok(receipt),
            None => Err(SendError {
                intents: Vec::new(),
                refused: Error::new(Kind::Unavailable, "stage", "the queue gave no answer").into(),
            }),
        }
    }

    async fn all<C: Command>(
        &self,
        mut intents: Vec<Intent<C>>,
        asks: bool,
    ) -> Result<Vec<Receipt>, SendError<C>> {
        let Some(inline) = &self.inline else {
            return match self.stage(&intents, asks).await {
                Ok(receipts) => Ok(receipts),
                Err(refused) => Err(SendError { intents, refused }),
            };
        };
        let mut receipts = Vec::with_capacity(intents.len());
        for intent in &intents {
            match self.migrate(intent, inline).await {
                Ok(receipt) => receipts.push(receipt),
                Err(refused) => {
                    let intents = intents.split_off(receipts.len());
                    return Err(SendError { intents, refused });
                }
            }
        }
        Ok(receipts)
    }

    async fn stage<C: Command>(
        &self,
        intents: &[Intent<C>],
        asks: bool,
    ) -> Result<Vec<Receipt>, SendRefused> {
        let how = How {
            asks,
            migrates: false,
        };
        let mut jobs = Vec::with_capacity(intents.len());
        let mut receipts = Vec::with_capacity(intents.len());
        for intent in intents {
            let (job, receipt) = send::job(intent, how, &self.desk).await?;
            jobs.push(job);
            receipts.push(receipt);
        }
        if !jobs.is_empty() {
            self.stage_jobs(jobs, Room::Sender).await?;
        }
        Ok(receipts)
    }

    /// Runs one command, and stages what follows: nobody may refuse that for want of room, because its events stand.
    async fn migrate<C: Command>(&self, intent: &Intent<C>, inline: &Inline) -> Result<Receipt, SendRefused> {
        let how = How {
            asks: true,
            migrates: true,
        };
        let (job, mut receipt) = send::job(intent, how, &self.desk).await?;
        let ctx = &*self.desk.ctx;
        let (answered, then) = inline.run(job, ctx.ports.clock.now(), ctx).await?;
        if !then.is_empty() {
            self.stage_jobs(then, Room::Lease).await?;
        }
        receipt.inline = answered;
        Ok(receipt)
    }

    /// Repeats a call whose outcome is unknown under its nonce, so that commands are not staged twice.
    async fn stage_jobs(&self, jobs: Vec<NewJob>, room: Room) -> Result<()> {
        let ctx = &self.desk.ctx;
        let nonce = ctx.ids.nonce();
        let mut waits = STAGE_AGAIN.iter();
        loop {
            let staged = ctx.ports.queue.stage(nonce, jobs.clone(), room).await;
            let error = match staged {
                Ok(staged) => {
                    ctx.counters.staged(&staged);
                    return Ok(());
                }
                Err(StageRefused { error, .. }) => error,
            };
            let unknown = matches!(error.kind(), Kind::Unavailable | Kind::Timeout);
            if room == Room::Sender && error.kind() == Kind::Full {
                ctx.counters.full.add(1);
            }
            match waits.next() {
                Some(wait) if unknown => tokio::time::sleep(*wait).await,
                _ => return Err(error),
            }
        }
    }

    /// The answer of a command as far as it stands, without waiting: of one that was sent with [`ask`](Self::ask)
    /// whatever it is, of another one a rejection. `None` while it is not decided, and a minute after it was.
    ///
    /// # Errors
    /// The queue's.
    pub async fn answer(&self, receipt: &Receipt) -> Result<Option<Answered>> {
        receipt.kept().await
    }

    /// A receipt that another process gave, or this one earlier. `tenant` is whoever asks: they get no receipt of
    /// somebody else's command, whatever the key says.
    ///
    /// # Errors
    /// [`Kind::Security`] for a key of another tenant; [`Kind::Invalid`] for a command that is not registered.
    pub fn receipt(&self, tenant: &TenantId, key: &ReceiptKey) -> Result<Receipt> {
        if key.tenant != *tenant {
            return Err(SecurityError::ForeignTenant { what: "receipt" }.into());
        }
        let Some((name, registered)) = self.desk.commands.get_key_value(key.command.as_str()) else {
            let advice = "its command is not registered: add it to a pipeline of this kernel";
            return Err(Error::new(Kind::Invalid, "receipt", advice));
        };
        Ok(Receipt {
            command: key.id,
            name,
            stream: StreamKey {
                tenant: tenant.clone(),
                aggregate_type: registered.aggregate_type.into(),
                id: key.aggregate.clone(),
            },
            job: JobId::of_command(key.id, &registered.route),
            asked: key.asked,
            inline: None,
            desk: self.desk.clone(),
        })
    }

    /// What is still to be done, over all processes on the same queue.
    ///
    /// Stranded jobs are counted by route against the workers that live, paused ones by the pauses of routes;
    /// [`caught_up`](Self::caught_up) looks more closely. A queue that keeps no record of workers shows none as stranded.
    ///
    /// # Errors
    /// The queue's.
    pub async fn backlog(&self) -> Result<Backlog> {
        backlog::look(&*self.desk.ctx.ports.queue_admin, &self.taken).await
    }

    /// Waits until no command, fold or map waits or runs, and answers what is left; `watch` sees each look at it.
    ///
    /// Returns too when what is left does not run as things stand: it is stranded for want of a worker that knows its
    /// route, format or fold version, or it is paused, and nothing has moved for two seconds. [`Backlog::open`] is not
    /// zero then. Blocked groups and dead letters are never waited for; see [`Backlog::stuck`].
    ///
    /// Does not end by itself while others keep sending or while a group backs off: give it a limit with
    /// `tokio::time::timeout`. Where no process works, that is everything stranded. Cancel safe.
    ///
    /// # Errors
    /// The queue's.
    pub async fn caught_up(&self, mut watch: impl FnMut(&Backlog)) -> Result<Backlog> {
        let (mut last, mut still) = (None, 0);
        loop {
            let backlog = self.backlog().await?;
            watch(&backlog);
            if backlog.open() == 0 {
                return Ok(backlog);
            }
            still = if last == Some(backlog) { still + 1 } else { 0 };
            last = Some(backlog);
            if still >= STILL {
                still = 0;
                let closely = backlog::look_closely(&*self.desk.ctx.ports.queue_admin, &self.taken).await?;
                if closely.moving() == 0 {
                    return Ok(closely);
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Reads what projections made.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader::without(self.desk.ctx.ports.clone(), self.elsewhere.clone())
    }

    /// What this kernel has counted since it was started.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.desk.ctx.counters
    }

    /// What each subscriber did with the events that were routed to it, by route, since this kernel was started.
    #[must_use]
    pub fn subscriber_counts(&self) -> &BTreeMap<Route, Arc<SubscriberCounts>> {
        &self.desk.ctx.subscribers
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
            .field("commands", &self.desk.commands.keys())
            .finish_non_exhaustive()
    }
}
