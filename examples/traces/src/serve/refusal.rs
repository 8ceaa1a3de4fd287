//! Why a request gets no 200.
use foldwright::{
    SendRefused,
    ports::{Error, Kind},
};
use hyper::StatusCode;
use std::time::Duration;

/// The shortest wait that is asked for. `Retry-After` counts whole seconds.
const WAIT: Duration = Duration::from_secs(1);

/// A status with what to do about it.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            retry_after: None,
            message: message.into(),
        }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// 503 rather than 429: both are retryable by the specification, but some exporters drop what got a 429.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self::later(StatusCode::SERVICE_UNAVAILABLE, message, None)
    }

    pub(super) fn too_slow(message: impl Into<String>) -> Self {
        Self::later(StatusCode::GATEWAY_TIMEOUT, message, None)
    }

    fn later(status: StatusCode, message: impl Into<String>, wait: Option<Duration>) -> Self {
        Self {
            status,
            retry_after: Some(wait.unwrap_or(WAIT).max(WAIT)),
            message: message.into(),
        }
    }

    /// What a store's error means to whoever asked. The text of the store stays inside.
    pub(super) fn of_store(error: &Error) -> Self {
        match error.kind() {
            Kind::Full => Self::later(StatusCode::SERVICE_UNAVAILABLE, "the queue is full", error.wait()),
            Kind::Unavailable | Kind::Closed => {
                Self::later(StatusCode::SERVICE_UNAVAILABLE, "the store is away", error.wait())
            }
            Kind::Timeout => Self::later(
                StatusCode::GATEWAY_TIMEOUT,
                "the store did not answer in time",
                error.wait(),
            ),
            _ => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the store failed, see the server's log",
            ),
        }
    }

    pub(super) fn of_send(refused: &SendRefused) -> Self {
        match refused {
            SendRefused::Store(error) => Self::of_store(error),
            // The clock stepped back between two looks at it, or the composition is wrong: nothing that the sender did.
            _ => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the spans were not accepted, see the server's log",
            ),
        }
    }

    /// The code of gRPC that says the same.
    pub(super) fn code(&self) -> i32 {
        match self.status {
            StatusCode::NOT_FOUND => 5,
            StatusCode::PAYLOAD_TOO_LARGE => 8,
            StatusCode::SERVICE_UNAVAILABLE => 14,
            StatusCode::GATEWAY_TIMEOUT | StatusCode::REQUEST_TIMEOUT => 4,
            status if status.is_server_error() => 13,
            _ => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_succeed_later_says_when() {
        for (kind, status) in [
            (Kind::Full, 503),
            (Kind::Unavailable, 503),
            (Kind::Closed, 503),
            (Kind::Timeout, 504),
            (Kind::Corrupt, 500),
            (Kind::Security, 500),
        ] {
            let error = Error::new(kind, "stage", "/a/path").retry_after(Duration::from_secs(7));
            let refusal = Refusal::of_send(&SendRefused::Store(error));
            assert_eq!(refusal.status.as_u16(), status, "{kind:?}");
            let wait = (status != 500).then_some(Duration::from_secs(7));
            assert_eq!(refusal.retry_after, wait, "{kind:?}");
            assert!(!refusal.message.contains("/a/path"), "{}", refusal.message);
        }
    }
}
