//! Ids come in through a port.
use crate::Nonce;
use foldwright_domain::{CommandId, Millis};

/// Makes ids. Seeded in simulations, random elsewhere.
pub trait IdSource: Send + Sync + 'static {
    /// A command id, larger than every earlier one of this source.
    fn command_id(&self, now: Millis) -> CommandId;

    /// A nonce that no other call carries.
    fn nonce(&self) -> Nonce;
}
