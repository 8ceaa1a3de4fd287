//! What a sender gets.
use super::{ReceiptError, ReceiptKey, desk::Desk, desk::StoredEvents, wait::Waits};
use foldwright_domain::{CommandId, Fold, Rejected, StreamKey, TenantId};
use foldwright_ports::{Error, JobId, JobState, Reason};
use std::{fmt, sync::Arc, time::Duration};

/// After so many looks that found nothing, a receipt asks the queue what its job is doing.
const LOOKS_BEFORE_WHY: u32 = 3;

/// After so many looks that found nothing, a receipt whose answer is kept looks into the log as well: its process may
/// have died between the two.
const LOOKS_BEFORE_LOG: u32 = 5;

/// A command that is durable in the queue. Its decision comes later.
///
/// Cheap to clone. [`key`](Self::key) is its form for other processes.
#[derive(Clone)]
pub struct Receipt {
    /// The command's id; the ids of its events are made from it.
    pub command: CommandId,
    pub(super) name: &'static str,
    pub(super) stream: StreamKey,
    pub(super) job: JobId,
    /// Whether the queue keeps its answer whatever it is.
    pub(super) asked: bool,
    /// The answer, where the command was run while it was sent.
    pub(super) inline: Option<Answered>,
    pub(super) desk: Arc<Desk>,
}

/// What became of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answered {
    /// It led to these events.
    Events(StoredEvents),
    /// It had been sent before, under the same idempotency key: these events stood already.
    Duplicate(StoredEvents),
    /// It led to none.
    NoEvents,
    /// It was refused.
    Rejected(Rejected),
}

/// What one look found.
enum Look {
    Answered(Answered),
    NotYet(ReceiptError),
}

impl Receipt {
    /// Waits until the command is decided.
    ///
    /// Whatever became of it, if it was sent with [`Kernel::ask`](crate::Kernel::ask) and is asked about within the time
    /// for which the queue keeps answers (60 s). Otherwise events of its own are found in the log, for as long as it
    /// holds them, and a rejection for that time; that it led to nothing, or to what was there before, cannot be told
    /// then ([`ReceiptError::Unknown`]).
    ///
    /// Looks at once, then after growing pauses of 2 to 250 ms. Cancel safe.
    ///
    /// # Errors
    /// [`ReceiptError`] where there is no answer within `timeout`, or can be none.
    pub async fn decided(&self, timeout: Duration) -> Result<Answered, ReceiptError> {
        let mut reason = ReceiptError::TimedOut { why: None };
        let waited = tokio::time::timeout(timeout, self.decision(&mut reason)).await;
        waited.unwrap_or(Err(reason))
    }

    /// Waits until fold `F` holds every stored event that the command led to and that `F` reads; none means at once, and so
    /// does an answer without events. Keyed folds hold it under the key of each event.
    ///
    /// Exact: it asks the notes beside the stored states which events they hold. Pauses and cancellation as
    /// [`decided`](Self::decided).
    ///
    /// # Errors
    /// As [`decided`](Self::decided), and [`ReceiptError::NoSuchFold`] for a fold that no pipeline of the kernel
    /// declares.
    pub async fn applied<F: Fold>(&self, timeout: Duration) -> Result<Answered, ReceiptError> {
        let mut reason = ReceiptError::TimedOut { why: None };
        let waited = tokio::time::timeout(timeout, self.application::<F>(&mut reason)).await;
        waited.unwrap_or(Err(reason))
    }

    /// Its form for other processes: a web process may hand it out and another one ask.
    /// [`Kernel::receipt`](crate::Kernel::receipt) makes a receipt of it again.
    #[must_use]
    pub fn key(&self) -> ReceiptKey {
        ReceiptKey {
            tenant: self.stream.tenant.clone(),
            command: self.name.into(),
            aggregate: self.stream.id.clone(),
            id: self.command,
            asked: self.asked,
        }
    }

    /// Whose command it is.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.stream.tenant
    }

    /// The answer as far as it stands: one look into the queue.
    pub(super) async fn kept(&self) -> Result<Option<Answered>, Error> {
        match &self.inline {
            Some(answered) => Ok(Some(answered.clone())),
            None => self.desk.kept(self.tenant(), self.job).await,
        }
    }

    async fn decision(&self, reason: &mut ReceiptError) -> Result<Answered, ReceiptError> {
        let mut waits = Waits::new();
        loop {
            match self.look(waits.so_far()).await {
                Ok(Look::Answered(answered)) => return Ok(answered),
                Ok(Look::NotYet(why)) => *reason = why,
                Err(ReceiptError::Store(error)) if error.is_retryable() => {
                    *reason = ReceiptError::Store(error);
                }
                Err(over) => return Err(over),
            }
            waits.wait().await;
        }
    }

    async fn application<F: Fold>(&self, reason: &mut ReceiptError) -> Result<Answered, ReceiptError> {
        let fold = self
            .desk
            .fold::<F>()
            .ok_or(ReceiptError::NoSuchFold { fold: F::NAME })?;
        let answered = self.decision(reason).await?;
        let (Answered::Events(stored) | Answered::Duplicate(stored)) = &answered else {
            return Ok(answered);
        };
        *reason = ReceiptError::TimedOut { why: None };
        let (mut waits, mut events) = (Waits::new(), None);
        loop {
            let holds = async {
                if events.is_none() {
                    let found = self.desk.events(stored).await?;
                    events = Some(found.ok_or(ReceiptError::Unknown)?);
                }
                let events = events.as_deref().unwrap_or_default();
                Ok(fold.holds(self.tenant(), events, &self.desk.ctx).await?)
            };
            match holds.await {
                Ok(true) => return Ok(answered),
                Ok(false) => {}
                Err(ReceiptError::Store(error)) if error.is_retryable() => {
                    *reason = ReceiptError::Store(error);
                }
                Err(over) => return Err(over),
            }
            waits.wait().await;
        }
    }

    async fn look(&self, looks: u32) -> Result<Look, ReceiptError> {
        if let Some(answered) = self.kept().await? {
            return Ok(Look::Answered(answered));
        }
        if (!self.asked || looks >= LOOKS_BEFORE_LOG)
            && let Some(answered) = self.desk.in_the_log(&self.stream, self.command).await?
        {
            return Ok(Look::Answered(answered));
        }
        if looks < LOOKS_BEFORE_WHY {
            return Ok(Look::NotYet(ReceiptError::TimedOut { why: None }));
        }
        self.why().await
    }

    /// What keeps the job from being done, or that it is not there.
    async fn why(&self) -> Result<Look, ReceiptError> {
        let admin = &self.desk.ctx.ports.queue_admin;
        let Some(why) = admin.why_job(self.tenant(), self.job).await? else {
            return self.settled().await;
        };
        for reason in &why.reasons {
            match reason {
                Reason::Blocked { job, error, .. } if *job == self.job => {
                    return Err(ReceiptError::Quarantined { error: error.clone() });
                }
                Reason::Retrying { job, error, .. } if *job == self.job => {
                    let error = error.clone();
                    return Ok(Look::NotYet(ReceiptError::Failing { error }));
                }
                _ => {}
            }
        }
        let job = admin.job(self.tenant(), self.job).await;
        if matches!(job, Ok(Some(view)) if view.state == JobState::Dead) {
            return Err(ReceiptError::GivenUp);
        }
        Ok(Look::NotYet(ReceiptError::TimedOut {
            why: Some(Box::new(why)),
        }))
    }

    /// The job is gone, perhaps since the last look for its answer. What it led to is durable by now.
    async fn settled(&self) -> Result<Look, ReceiptError> {
        if let Some(answered) = self.kept().await? {
            return Ok(Look::Answered(answered));
        }
        let found = self.desk.in_the_log(&self.stream, self.command).await?;
        found.map(Look::Answered).ok_or(ReceiptError::Unknown)
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receipt")
            .field("command", &self.command)
            .field("name", &self.name)
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}
