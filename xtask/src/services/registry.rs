use std::path::Path;

use crate::error::Error;

/// An engine that tests run against, as a private instance with its own data directory and a free port.
pub(crate) trait Service {
    fn name(&self) -> &'static str;

    /// The environment variable in which tests read the address. Where it is set already, nothing is started.
    fn url_variable(&self) -> &'static str;

    /// Starts the service with its files under `directory`, and answers its address.
    fn start(&self, directory: &Path) -> Result<String, Error>;

    /// Stops what [`Service::start`] started.
    fn stop(&self, directory: &Path) -> Result<(), Error>;

    /// Waits a bounded time until the service at `url` is ready.
    fn probe(&self, url: &str) -> Result<(), Error>;
}

/// Every service. A new one is one value here. The embedded adapters run inside the tests and need none.
pub(crate) fn all() -> Vec<Box<dyn Service>> {
    Vec::new()
}
