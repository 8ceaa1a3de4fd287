//! Who owns a fact.
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// The name of one tenant: 1–128 bytes of `[A-Za-z0-9._-]`.
///
/// A tenant is the first segment of every key, group and blob path, so characters that separate segments cannot
/// occur in it. Deserialising checks the same rule as [`TenantId::parse`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "Arc<str>", into = "Arc<str>")]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// The longest name in bytes.
    pub const MAX_BYTES: usize = 128;

    /// Checks a name.
    ///
    /// # Errors
    /// [`SecurityError::InvalidTenant`] for anything but 1–128 bytes of `[A-Za-z0-9._-]`.
    pub fn parse(name: impl Into<Arc<str>>) -> Result<Self, SecurityError> {
        let name = name.into();
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        if name.is_empty() || name.len() > Self::MAX_BYTES || !name.bytes().all(allowed) {
            return Err(SecurityError::InvalidTenant);
        }
        Ok(Self(name))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<Arc<str>> for TenantId {
    type Error = SecurityError;
    fn try_from(name: Arc<str>) -> Result<Self, SecurityError> {
        Self::parse(name)
    }
}

impl From<TenantId> for Arc<str> {
    fn from(tenant: TenantId) -> Self {
        tenant.0
    }
}

/// A breach of tenant isolation: a type of its own, so that it can be alerted on. Never worth a retry.
///
/// The offending text is left out on purpose: it may come from an attacker and end up in a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecurityError {
    /// The text is no tenant id.
    #[error("security: a tenant id is 1-128 bytes of [A-Za-z0-9._-]")]
    InvalidTenant,
    /// A value belongs to another tenant than the one asked for or written under.
    #[error("security: {what} belongs to another tenant")]
    ForeignTenant {
        /// What was found to be foreign, for example `event` or `stored row`.
        what: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T-01
    #[test]
    fn only_plain_names_are_tenants() {
        let longest = "x".repeat(128);
        for good in ["a", "Acme-1._", longest.as_str()] {
            assert_eq!(TenantId::parse(good).unwrap().as_str(), good);
        }
        let too_long = "x".repeat(129);
        for bad in [
            "",
            "a/b",
            "a:b",
            "{a}",
            "a b",
            "a\n",
            "a\0",
            "é",
            too_long.as_str(),
        ] {
            assert_eq!(TenantId::parse(bad), Err(SecurityError::InvalidTenant), "{bad:?}");
        }
    }

    /// T-01
    #[test]
    fn deserialising_checks_too() {
        assert!(serde_json::from_str::<TenantId>("\"acme\"").is_ok());
        assert!(serde_json::from_str::<TenantId>("\"a/b\"").is_err());
    }
}
