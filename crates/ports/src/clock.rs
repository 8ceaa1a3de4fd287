//! Time comes in through a port.
use foldwright_domain::Millis;

/// The clock that the kernel and an adapter without a server clock go by.
pub trait Clock: Send + Sync + 'static {
    /// The time. May step back; nothing in the product relies on it being monotonic.
    fn now(&self) -> Millis;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the machine's clock"
    )]
    fn now(&self) -> Millis {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Millis(since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
    }
}
