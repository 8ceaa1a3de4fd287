//! OpenTelemetry for Foldwright: the kernel's traces go over OTLP, and go on the traces of those who call.
//!
//! ```no_run
//! use foldwright_telemetry::{Otlp, OtlpSettings};
//! use tracing_subscriber::prelude::*;
//!
//! let otlp = Otlp::start(&OtlpSettings::to("http://127.0.0.1:4318", "orders"))?;
//! tracing_subscriber::registry().with(otlp.layer()).init();
//! // Kernel::builder(…).propagation(otlp.propagation()) …
//! // and last of all, when everything else has ended:
//! otlp.flush()?;
//! # Ok::<(), foldwright_telemetry::OtlpError>(())
//! ```
//!
//! Spans leave in batches from a thread of their own. A collector that is away or slow holds nothing up: what does not fit
//! into the queue of 2,048 spans is dropped and logged by the exporter.
#![forbid(unsafe_code)]

mod otlp;
mod propagation;
mod settings;

pub use otlp::{Otlp, OtlpError};
pub use propagation::OpenTelemetry;
pub use settings::OtlpSettings;
