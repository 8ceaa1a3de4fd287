//! Which aggregate of its type.
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Any UTF-8 text of 1–512 bytes. Adapters encode it when they build keys, so that two ids never make one key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "Arc<str>", into = "Arc<str>")]
pub struct AggregateId(Arc<str>);

impl AggregateId {
    /// The longest id in bytes.
    pub const MAX_BYTES: usize = 512;

    /// Checks an id.
    ///
    /// # Errors
    /// [`InvalidId`] when it is empty or longer than 512 bytes.
    pub fn parse(id: impl Into<Arc<str>>) -> Result<Self, InvalidId> {
        let id = id.into();
        if id.is_empty() || id.len() > Self::MAX_BYTES {
            return Err(InvalidId { bytes: id.len() });
        }
        Ok(Self(id))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AggregateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<Arc<str>> for AggregateId {
    type Error = InvalidId;
    fn try_from(id: Arc<str>) -> Result<Self, InvalidId> {
        Self::parse(id)
    }
}

impl From<AggregateId> for Arc<str> {
    fn from(id: AggregateId) -> Self {
        id.0
    }
}

/// The text is no aggregate id, or no key of a keyed fold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an id is 1-512 bytes of text, this one has {bytes}")]
pub struct InvalidId {
    /// How long the refused text is.
    pub bytes: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T-02, L-06
    #[test]
    fn length_is_the_only_limit() {
        for good in ["a/b", "a%2Fb", "a:b", "{x}", "日本", "x".repeat(512).as_str()] {
            assert_eq!(AggregateId::parse(good).unwrap().as_str(), good);
        }
        assert_eq!(AggregateId::parse(""), Err(InvalidId { bytes: 0 }));
        assert_eq!(AggregateId::parse("x".repeat(513)), Err(InvalidId { bytes: 513 }));
    }
}
