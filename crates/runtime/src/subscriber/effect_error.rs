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

    /// What an HTTP call that did not succeed means. Another attempt can help after 408, 429, 5xx, any status that is no
    /// error, and where there was none at all (`None`: no answer in time, no connection); not before `retry_after`, what
    /// the answer's `Retry-After` says. Any other 4xx is the caller's own fault, and no attempt can help.
    #[must_use]
    pub fn of_status(status: Option<u16>, retry_after: Option<Duration>, message: impl Into<String>) -> Self {
        let message = message.into();
        match status {
            Some(400..=407 | 409..=428 | 430..=499) => Self::Fatal { message },
            _ => Self::Retry {
                floor: retry_after,
                message,
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    ///
    #[test]
    fn a_status_says_whether_another_attempt_can_help() {
        let wait = Some(Duration::from_secs(7));
        let retry = |status| {
            let expected = EffectError::Retry {
                floor: wait,
                message: "no".into(),
            };
            assert_eq!(EffectError::of_status(status, wait, "no"), expected, "{status:?}");
        };
        for status in [408, 429, 500, 502, 503, 504, 599, 200, 302, 100, 999] {
            retry(Some(status));
        }
        retry(None);
        for status in [400, 401, 403, 404, 407, 409, 410, 422, 428, 430, 499] {
            assert_eq!(
                EffectError::of_status(Some(status), wait, "no"),
                EffectError::fatal("no")
            );
        }
    }
}
