//! Why an effect failed.
use std::time::Duration;

/// Whether another attempt can help.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EffectError {
    /// It can: the ladder decides when, at the earliest after `floor`.
    #[error("{message}")]
    Retry {
        /// The shortest wait that makes sense.
        floor: Option<Duration>,
        /// What went wrong, for operators.
        message: String,
    },
    /// It cannot: the run's group is quarantined.
    #[error("{message}")]
    Fatal {
        /// What went wrong, for operators.
        message: String,
    },
}

impl EffectError {
    /// Another attempt can help.
    #[must_use]
    pub fn retry(message: impl Into<String>) -> Self {
        Self::Retry {
            floor: None,
            message: message.into(),
        }
    }

    /// Another attempt can help, but not before `floor`.
    #[must_use]
    pub fn retry_after(floor: Duration, message: impl Into<String>) -> Self {
        Self::Retry {
            floor: Some(floor),
            message: message.into(),
        }
    }

    /// No attempt can help.
    #[must_use]
    pub fn fatal(message: impl Into<String>) -> Self {
        Self::Fatal {
            message: message.into(),
        }
    }
}
