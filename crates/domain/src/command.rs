//! Commands: intents that become events.
use crate::{Aggregate, AggregateId, CommandId, EventId, Fold, InvalidId, Millis, TenantId};
use serde::{Serialize, de::DeserializeOwned};
use std::{borrow::Cow, sync::Arc};

/// An intent: what it is, and which aggregate it is about. What becomes of it says [`Handler`] or [`Decider`].
pub trait Command: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The aggregate whose events it leads to.
    type Of: Aggregate;

    /// Its name in routes. Data for the queue: renaming the Rust type must not change it.
    const NAME: &'static str;

    /// The aggregate that this command is about.
    ///
    /// # Errors
    /// [`InvalidId`], which refuses the command at `send`.
    fn aggregate_id(&self) -> Result<AggregateId, InvalidId>;

    /// Makes a command that is sent again the same fact. A function of the payload alone.
    fn idempotency_key(&self) -> Option<String> {
        None
    }

    /// Best effort, after the events are durable. A panic in it is counted and fails nothing.
    fn after_store(_intent: &Intent<Self>) {}
}

/// A command whose rule needs no state.
///
/// [`handle`](Self::handle) is a pure function of the intent alone: a command that runs again makes the same events. What
/// it needs from outside comes in the payload.
pub trait Handler: Command {
    /// Finer parallelism than the aggregate: commands of one group key run in order, others beside them.
    fn group_key(&self) -> Option<String> {
        None
    }

    /// The events this command leads to; none is an answer too.
    ///
    /// # Errors
    /// [`Rejected`] is an answer, not a retry.
    fn handle(intent: &Intent<Self>) -> Result<Vec<<Self::Of as Aggregate>::Event>, Rejected>;
}

/// A command whose rule needs what has happened to its aggregate so far.
///
/// The kernel decides once: whatever fails or runs again, the events of a command are those of the first decision that was
/// stored, and each decision saw every event that its aggregate had. The decisions of one aggregate run one after the
/// other, whatever their commands, so there is no group key.
pub trait Decider: Command {
    /// The fold whose state it decides on. It takes every event of the aggregate: that is how the kernel knows, from the
    /// count alone, whether a stored state is up to date. A fold of some of the events does not compile here.
    type Fold: Fold<On = <Self::Of as Aggregate>::Event>;

    /// The events this command leads to, given everything that has happened; none is an answer too. Pure. `state` is
    /// [`Fold::init`] for an aggregate without events.
    ///
    /// # Errors
    /// [`Rejected`] is an answer, not a retry.
    fn decide(
        intent: &Intent<Self>,
        state: &<Self::Fold as Fold>::State,
    ) -> Result<Vec<<Self::Of as Aggregate>::Event>, Rejected>;
}

/// What a caller hands over; the kernel adds the id and the time of acceptance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Intent<C> {
    /// Whose command it is.
    pub tenant: TenantId,
    /// Business time of what it tells.
    pub occurred_at: Millis,
    /// The command itself.
    pub payload: C,
    /// Where it came from.
    pub origin: Origin,
}

/// What led to a command, if anything did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The first command of the chain; the command's own id when there is none.
    pub correlation_id: Option<CommandId>,
    /// The event that led here; the command's own id when there is none.
    pub causation_id: Option<EventId>,
    /// W3C `traceparent`.
    pub trace_context: Option<Arc<str>>,
}

impl<C> Intent<C> {
    /// An intent that nothing else led to.
    #[must_use]
    pub fn new(tenant: TenantId, occurred_at: Millis, payload: C) -> Self {
        Self {
            tenant,
            occurred_at,
            payload,
            origin: Origin::default(),
        }
    }

    /// The same intent with what led to it.
    #[must_use]
    pub fn caused_by(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }
}

/// A command's refusal: an answer for its sender.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Rejected {
    /// For programs, for example `already_paid`.
    pub code: Cow<'static, str>,
    /// For people.
    pub message: String,
}

impl Rejected {
    /// Refuses with a code for programs and a message for people.
    #[must_use]
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
        }
    }
}
