//! The log on standard error, and traces of the service's own to a collector.
use super::Failure;
use foldwright::{
    TARGET,
    telemetry::{Otlp, OtlpSettings},
};
use std::{
    io::{self, IsTerminal},
    thread,
};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{EnvFilter, Layer, filter::Targets, prelude::*};

/// Makes this process log, and send its traces to `endpoint` if there is one. For `main` alone.
pub(crate) fn install(endpoint: Option<&str>) -> Result<Option<Otlp>, Failure> {
    let filter = EnvFilter::try_from_env("FOLDWRIGHT_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    let log = tracing_subscriber::fmt::layer()
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .with_filter(filter);
    let otlp = endpoint
        .map(|endpoint| Otlp::start(&OtlpSettings::to(endpoint, "traces")))
        .transpose()?;
    // The kernel's spans and nothing else: those of the exporter itself would never end.
    let spans = Targets::new().with_target(TARGET, LevelFilter::INFO);
    let layer = otlp.as_ref().map(|otlp| otlp.layer().with_filter(spans));
    tracing_subscriber::registry().with(layer).with(log).init();
    Ok(otlp)
}

/// Sends what is left. On a thread of its own, so that a collector that does not answer holds up no end of the process:
/// whoever waits may stop waiting.
pub(super) async fn flush(otlp: Option<Otlp>) -> Result<(), Failure> {
    let Some(otlp) = otlp else {
        return Ok(());
    };
    let (flushed, done) = tokio::sync::oneshot::channel();
    thread::spawn(move || {
        // An error means that nobody waits any more.
        let _ = flushed.send(otlp.flush());
    });
    Ok(done.await??)
}
