//! The one error type of all ports.
use std::{error::Error as StdError, fmt, io, time::Duration};

/// What a port answers.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, in which operation, and whether trying again can help.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    operation: &'static str,
    message: String,
    retry_after: Option<Duration>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What to do about an [`Error`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// The store cannot be reached or refuses for now. The outcome may be unknown. Retry.
    Unavailable,
    /// No answer in time. The outcome is unknown. Retry under the same nonce.
    Timeout,
    /// The store has no room for more. Nothing of the call took effect. Retry later.
    Full,
    /// The adapter cannot do this; see its capabilities. Do not retry.
    Unsupported,
    /// What the store holds cannot be read. Do not retry; needs a person.
    Corrupt,
    /// The call, or a stored row, crosses a tenant border. Do not retry; alert.
    Security,
    /// The call itself is wrong. Do not retry.
    Invalid,
    /// The adapter has been closed. Do not retry on this handle.
    Closed,
}

impl Kind {
    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Unavailable | Self::Timeout | Self::Full)
    }

    /// What an I/O error means for a caller.
    #[must_use]
    pub fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::Timeout,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Self::Invalid,
            io::ErrorKind::InvalidData => Self::Corrupt,
            _ => Self::Unavailable,
        }
    }

    /// What the bare text of a driver's error means, for drivers that hide the code; `None` when it says nothing.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        const TIMEOUT: [&str; 3] = ["timed out", "timeout", "etimedout"];
        const UNAVAILABLE: [&str; 17] = [
            "connection reset",
            "econnreset",
            "connection refused",
            "econnrefused",
            "connection aborted",
            "connection closed",
            "broken pipe",
            "epipe",
            "host unreachable",
            "ehostunreach",
            "network unreachable",
            "network is unreachable",
            "enetunreach",
            "no route to host",
            "temporary failure in name resolution",
            "eai_again",
            "try again",
        ];
        let text = text.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|w| text.contains(w));
        if says(&TIMEOUT) {
            Some(Self::Timeout)
        } else if says(&UNAVAILABLE) {
            Some(Self::Unavailable)
        } else {
            None
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Timeout => "timed out",
            Self::Full => "full",
            Self::Unsupported => "unsupported",
            Self::Corrupt => "corrupt",
            Self::Security => "security",
            Self::Invalid => "invalid",
            Self::Closed => "closed",
        }
    }
}

impl Error {
    /// An error of `operation`, for example `settle`; `message` says what to do where that is not plain.
    #[must_use]
    pub fn new(kind: Kind, operation: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            operation,
            message: message.into(),
            retry_after: None,
            source: None,
        }
    }

    /// The same error with what caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same error with the shortest wait that makes sense.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The operation that failed.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// What it says beyond its kind.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The shortest wait that makes sense, when the store named one.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation, self.kind.as_str())?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|s| s as &(dyn StdError + 'static))
    }
}

impl From<foldwright_domain::SecurityError> for Error {
    fn from(source: foldwright_domain::SecurityError) -> Self {
        Self::new(Kind::Security, "tenant check", String::new()).caused_by(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    ///
    #[test]
    fn network_trouble_is_retryable_and_mistakes_are_not() {
        for kind in [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionRefused,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::TimedOut,
            io::ErrorKind::HostUnreachable,
            io::ErrorKind::NetworkUnreachable,
            io::ErrorKind::Interrupted,
        ] {
            assert!(Kind::of_io(&kind.into()).is_retryable(), "{kind:?}");
        }
        assert!(!Kind::of_io(&io::ErrorKind::InvalidData.into()).is_retryable());
        for text in [
            "read: Connection reset by peer",
            "ECONNREFUSED 127.0.0.1:6379",
            "Broken pipe (os error 32)",
            "operation timed out",
            "getaddrinfo EAI_AGAIN db",
            "No route to host",
        ] {
            assert!(Kind::of_text(text).is_some_and(Kind::is_retryable), "{text}");
        }
        for text in ["no such table: events", "type mismatch: expected UInt64"] {
            assert_eq!(Kind::of_text(text), None, "{text}");
        }
    }

    #[test]
    fn the_text_names_operation_kind_message_and_cause() {
        let error = Error::new(Kind::Full, "stage", "raise the limit").caused_by("disk full");
        assert_eq!(error.to_string(), "stage: full: raise the limit: disk full");
    }
}
