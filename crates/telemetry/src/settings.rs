//! Where traces go.
use std::time::Duration;

/// How traces are exported. What is required is an argument of [`to`](Self::to).
#[derive(Clone, PartialEq, Debug)]
pub struct OtlpSettings {
    /// The collector, without a path: `http://127.0.0.1:4318`. Plain HTTP: put a collector beside the service, and let that
    /// speak TLS.
    pub endpoint: String,
    /// The `service.name` of this process.
    pub service: String,
    /// Which part of the traces that begin here is exported, 0 to 1; traces that came from outside follow their callers.
    /// Default 1.
    pub sampled: f64,
    /// How long one export may take; default 5 s.
    pub timeout: Duration,
}

impl OtlpSettings {
    /// To this collector, under this name, with the defaults.
    #[must_use]
    pub fn to(endpoint: impl Into<String>, service: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            service: service.into(),
            sampled: 1.0,
            timeout: Duration::from_secs(5),
        }
    }
}
