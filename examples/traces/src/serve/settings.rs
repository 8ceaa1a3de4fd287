//! The numbers of the server.
use foldwright::prelude::TenantId;
use std::{net::SocketAddr, time::Duration};

/// How the server behaves. Every field has a default that suits one machine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens; default 127.0.0.1:4318, the port of OTLP/HTTP.
    pub listen: SocketAddr,
    /// Whose the spans of requests without `x-tenant-id` are; default nobody's, such a request is refused.
    pub default_tenant: Option<TenantId>,
    /// The longest request body as it travels, in bytes; default 20 MiB.
    pub max_body: usize,
    /// The longest request body once it is decompressed, in bytes; default 20 MiB.
    pub max_decompressed: usize,
    /// Memory for all request bodies and what is decoded from them, in bytes; default 256 MiB.
    pub max_memory: usize,
    /// How many exports run at once; default 64.
    pub max_exports: usize,
    /// How many reads run at once; default 16.
    pub max_reads: usize,
    /// How many connections are open at once; default 512.
    pub max_connections: usize,
    /// How long a connection may take to send the head of a request, and how long it may idle; default 30 s.
    pub header_timeout: Duration,
    /// How long the body of a request may take to arrive, and an answer to be taken off; default 10 s.
    pub body_timeout: Duration,
    /// How long a request may take in all; default 30 s.
    pub request_timeout: Duration,
    /// After a request to stop: how long new connections are still taken while `/readyz` says no, so that whoever
    /// balances the load notices; default 0 s.
    pub stop_delay: Duration,
    /// How long requests in flight may take to end once the server stops; default 10 s. The kernel gets as long again.
    pub stop_budget: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 4318)),
            default_tenant: None,
            max_body: 20 << 20,
            max_decompressed: 20 << 20,
            max_memory: 256 << 20,
            max_exports: 64,
            max_reads: 16,
            max_connections: 512,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            stop_delay: Duration::ZERO,
            stop_budget: Duration::from_secs(10),
        }
    }
}

/// Memory is handed out in KiB, counted in 32 bits less three.
const MOST_MEMORY: usize = 1 << 38;

/// Nobody waits longer, and the sum of such times stays far from any overflow.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Settings {
    /// Every value that cannot work; empty when all can.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (name, value) in [
            ("max-body", self.max_body),
            ("max-decompressed", self.max_decompressed),
            ("max-memory", self.max_memory),
            ("max-exports", self.max_exports),
            ("max-reads", self.max_reads),
            ("max-connections", self.max_connections),
        ] {
            if value == 0 {
                faults.push(format!("{name} is 0, the least is 1"));
            }
        }
        let most = self.max_body.saturating_add(self.max_decompressed);
        if self.max_memory < most {
            faults.push(format!(
                "max-memory is {} bytes, less than one body as it travels and decompressed, {most} bytes",
                self.max_memory
            ));
        }
        if self.max_memory > MOST_MEMORY {
            faults.push(format!(
                "max-memory is {} bytes, the most is {MOST_MEMORY}",
                self.max_memory
            ));
        }
        for (name, value) in [
            ("max-exports", self.max_exports),
            ("max-reads", self.max_reads),
            ("max-connections", self.max_connections),
        ] {
            if value > 1 << 20 {
                faults.push(format!("{name} is {value}, the most is {}", 1 << 20));
            }
        }
        for (name, value) in [
            ("header-timeout", self.header_timeout),
            ("body-timeout", self.body_timeout),
            ("request-timeout", self.request_timeout),
        ] {
            if value.is_zero() {
                faults.push(format!("{name} must not be zero"));
            }
        }
        for (name, value) in [
            ("header-timeout", self.header_timeout),
            ("body-timeout", self.body_timeout),
            ("request-timeout", self.request_timeout),
            ("stop-delay", self.stop_delay),
            ("stop-budget", self.stop_budget),
        ] {
            if value > LONGEST {
                faults.push(format!("{name} is {value:?}, the most is 24 h"));
            }
        }
        if self.body_timeout > self.request_timeout {
            faults.push(format!(
                "body-timeout ({:?}) is longer than request-timeout ({:?})",
                self.body_timeout, self.request_timeout
            ));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_work_and_every_fault_is_named() {
        assert_eq!(Settings::default().faults(), Vec::<String>::new());
        let settings = Settings {
            max_body: 0,
            max_memory: 1,
            max_exports: usize::MAX,
            max_reads: 0,
            header_timeout: Duration::ZERO,
            body_timeout: Duration::from_secs(60),
            stop_budget: Duration::MAX,
            ..Settings::default()
        };
        let text = settings.faults().join("\n");
        for name in [
            "max-body is 0",
            "max-memory",
            "max-exports",
            "max-reads",
            "header-timeout",
            "body-timeout",
            "stop-budget",
        ] {
            assert!(text.contains(name), "{name}: {text}");
        }
    }
}
