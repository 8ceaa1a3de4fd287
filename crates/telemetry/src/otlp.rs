//! The exporter.
use crate::{OpenTelemetry, OtlpSettings};
use foldwright_runtime::Propagation;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkError,
    trace::{Sampler, SdkTracer, SdkTracerProvider},
};
use std::sync::Arc;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

/// Traces on their way to a collector. Dropping it drops what was not exported yet: [`flush`](Self::flush) last of all.
#[derive(Debug)]
pub struct Otlp {
    provider: SdkTracerProvider,
}

/// Why traces cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtlpError {
    /// The sampled part is no part.
    #[error("the sampled part of traces is {0}, it must be 0 to 1")]
    Sampled(f64),
    /// The exporter refuses its settings.
    #[error(
        "the exporter of traces refuses its settings: the endpoint is a URL such as http://127.0.0.1:4318"
    )]
    Build(#[from] ExporterBuildError),
    /// The exporter did not end in order.
    #[error("the exporter of traces did not end in order, its last traces may be missing")]
    Flush(#[from] OTelSdkError),
}

impl Otlp {
    /// Starts to export. Connects when there is something to send.
    ///
    /// # Errors
    /// [`OtlpError`] names the setting that is wrong.
    pub fn start(settings: &OtlpSettings) -> Result<Self, OtlpError> {
        if !(0.0..=1.0).contains(&settings.sampled) {
            return Err(OtlpError::Sampled(settings.sampled));
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(format!("{}/v1/traces", settings.endpoint.trim_end_matches('/')))
            .with_timeout(settings.timeout)
            .build()?;
        let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.sampled)));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(sampler)
            .with_resource(
                Resource::builder()
                    .with_service_name(settings.service.clone())
                    .build(),
            )
            .build();
        Ok(Self { provider })
    }

    /// The layer through which spans get here.
    #[must_use]
    pub fn layer<S>(&self) -> OpenTelemetryLayer<S, SdkTracer>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        tracing_opentelemetry::layer().with_tracer(self.provider.tracer("foldwright"))
    }

    /// For [`KernelBuilder::propagation`](foldwright_runtime::KernelBuilder).
    #[must_use]
    pub fn propagation(&self) -> Arc<dyn Propagation> {
        Arc::new(OpenTelemetry)
    }

    /// Exports what is left and ends. Blocks while it does, a few times the exporter's timeout at most. An export that fails
    /// is the exporter's to log and fails nothing.
    ///
    /// # Errors
    /// The exporter did not end in order. Nothing else depends on it.
    pub fn flush(self) -> Result<(), OtlpError> {
        Ok(self.provider.shutdown()?)
    }
}
