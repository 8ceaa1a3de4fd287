//! From what went wrong to what becomes of the jobs.
use crate::{
    fold::RefoldError,
    wire::{BodyError, HeaderError, WireError},
};
use foldwright_domain::DecodeError;
use foldwright_ports::{Error, Kind, Rest};
use std::time::Duration;

/// How long work waits for a store that cannot serve it, unless the store says longer. Spends no attempt.
const STORE_WAIT: Duration = Duration::from_secs(1);

/// Why a job could not be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// May go better: spends an attempt.
    Retry { floor: Option<Duration>, error: String },
    /// Cannot go better.
    Quarantine { error: String },
    /// Nobody's fault: spends no attempt.
    Defer { after: Duration },
}

impl Failure {
    pub(crate) fn retry(error: impl Into<String>) -> Self {
        Self::Retry {
            floor: None,
            error: error.into(),
        }
    }

    pub(crate) fn quarantine(error: impl Into<String>) -> Self {
        Self::Quarantine { error: error.into() }
    }

    pub(crate) fn defer(after: Duration) -> Self {
        Self::Defer { after }
    }

    pub(crate) fn rest(&self) -> Rest {
        match self.clone() {
            Self::Retry { floor, error } => Rest::Retry { floor, error },
            Self::Quarantine { error } => Rest::Quarantine { error },
            Self::Defer { after } => Rest::Defer { after },
        }
    }
}

/// A store that is full, away or closed in this process is no fault of the job: it waits without spending an attempt.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.kind() {
            Kind::Unavailable | Kind::Timeout | Kind::Full | Kind::Closed => Self::Defer {
                after: error.wait().unwrap_or(STORE_WAIT).max(STORE_WAIT),
            },
            _ => Self::quarantine(error.to_string()),
        }
    }
}

/// A body tier that cannot be reached spends attempts, so that a body nobody can read ends up in front of a person;
/// so does a body that is gone or broken. Only a breach of tenants and an oversized body are hopeless at once.
impl From<BodyError> for Failure {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Store(error) if error.kind() == Kind::Closed => error.into(),
            BodyError::Store(error) if error.is_retryable() => Self::Retry {
                floor: error.wait(),
                error: error.to_string(),
            },
            BodyError::TooLarge(_) | BodyError::Store(_) | BodyError::Wire(WireError::Inflate { .. }) => {
                Self::quarantine(error.to_string())
            }
            BodyError::Missing { .. } | BodyError::Forged { .. } | BodyError::Wire(_) => {
                Self::retry(error.to_string())
            }
        }
    }
}

impl From<HeaderError> for Failure {
    fn from(error: HeaderError) -> Self {
        match error {
            HeaderError::Wire(_) => Self::retry(error.to_string()),
            HeaderError::Security(_) | HeaderError::OtherRoute { .. } => Self::quarantine(error.to_string()),
        }
    }
}

impl From<RefoldError> for Failure {
    fn from(error: RefoldError) -> Self {
        match error {
            RefoldError::Log(error) => error.into(),
            RefoldError::Panicked { .. } | RefoldError::Init { .. } | RefoldError::Horizon(_) => {
                Self::quarantine(error.to_string())
            }
            RefoldError::Decode(_) | RefoldError::Forgets { .. } | RefoldError::Gone { .. } => {
                Self::retry(error.to_string())
            }
        }
    }
}

/// Another build may know what this one does not: the ladder leaves time to deploy it.
impl From<WireError> for Failure {
    fn from(error: WireError) -> Self {
        Self::retry(error.to_string())
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self::retry(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-03, R-18
    #[test]
    fn a_store_that_is_away_spends_no_attempt() {
        for kind in [Kind::Unavailable, Kind::Timeout, Kind::Full, Kind::Closed] {
            let failure = Failure::from(Error::new(kind, "append", ""));
            assert_eq!(failure, Failure::Defer { after: STORE_WAIT });
        }
        let slow = Error::new(Kind::Full, "append", "").retry_after(Duration::from_secs(9));
        assert_eq!(
            Failure::from(slow),
            Failure::Defer {
                after: Duration::from_secs(9)
            }
        );
        for kind in [Kind::Invalid, Kind::Corrupt, Kind::Security, Kind::Unsupported] {
            assert!(matches!(
                Failure::from(Error::new(kind, "append", "")),
                Failure::Quarantine { .. }
            ));
        }
    }

    /// B-19
    #[test]
    fn an_unreachable_tier_is_retried_on_the_ladder() {
        let error = BodyError::Store(Error::new(Kind::Unavailable, "get", ""));
        assert!(matches!(Failure::from(error), Failure::Retry { .. }));
    }
}
