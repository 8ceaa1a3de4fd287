//! Receipts on their way between processes.
use foldwright_domain::{AggregateId, CommandId, TenantId};
use serde::{Deserialize, Serialize};

/// What a receipt is made of again, in another process or later. Serialise it as you like.
///
/// Not a secret and no proof of anything: who hands it in says which tenant they are, see
/// [`Kernel::receipt`](crate::Kernel::receipt).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReceiptKey {
    pub(super) tenant: TenantId,
    pub(super) command: String,
    pub(super) aggregate: AggregateId,
    #[serde(with = "hex")]
    pub(super) id: CommandId,
    pub(super) asked: bool,
}

/// 128 bits as text: many readers of JSON cannot hold such a number.
mod hex {
    use foldwright_domain::CommandId;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(id: &CommandId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{:032x}", id.as_u128()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CommandId, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16)
            .map(CommandId::from_u128)
            .map_err(D::Error::custom)
    }
}
