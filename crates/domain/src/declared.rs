//! Commands that are declared instead of handled.
use crate::{Aggregate, AggregateId, Command, Handler, Intent, InvalidId, Rejected};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A command that becomes exactly one event: the event's data is the payload, so the two cannot drift apart.
pub trait Declares: Send + Sync + 'static {
    /// The aggregate whose event it becomes.
    type Of: Aggregate;
    /// The event's data.
    type Data: Clone
        + Serialize
        + DeserializeOwned
        + Into<<Self::Of as Aggregate>::Event>
        + Send
        + Sync
        + 'static;

    /// The command's name in routes.
    const NAME: &'static str;

    /// The aggregate that the data is about.
    ///
    /// # Errors
    /// [`InvalidId`], which refuses the command at `send`.
    fn aggregate_id(data: &Self::Data) -> Result<AggregateId, InvalidId>;

    /// See [`Handler::group_key`].
    fn group_key(_data: &Self::Data) -> Option<String> {
        None
    }

    /// See [`Command::idempotency_key`].
    fn idempotency_key(_data: &Self::Data) -> Option<String> {
        None
    }
}

/// The command that a declaration stands for. Its payload serialises exactly as the event's data.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct Declared<D: Declares>(pub D::Data);

impl<D: Declares> Command for Declared<D> {
    type Of = D::Of;
    const NAME: &'static str = D::NAME;

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        D::aggregate_id(&self.0)
    }

    fn idempotency_key(&self) -> Option<String> {
        D::idempotency_key(&self.0)
    }
}

impl<D: Declares> Handler for Declared<D> {
    fn group_key(&self) -> Option<String> {
        D::group_key(&self.0)
    }

    fn handle(intent: &Intent<Self>) -> Result<Vec<<D::Of as Aggregate>::Event>, Rejected> {
        Ok(vec![intent.payload.0.clone().into()])
    }
}
