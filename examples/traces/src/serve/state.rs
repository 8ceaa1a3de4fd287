//! What all requests share.
use super::{budget::Budget, settings::Settings};
use foldwright::{Kernel, ports::Clock};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::Semaphore;

pub(super) struct State {
    pub(super) kernel: Kernel,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) budget: Budget,
    pub(super) reads: Semaphore,
    pub(super) metrics: PrometheusHandle,
    pub(super) settings: Settings,
    stopping: AtomicBool,
}

impl State {
    pub(super) fn new(
        settings: Settings,
        kernel: Kernel,
        clock: Arc<dyn Clock>,
        metrics: PrometheusHandle,
    ) -> Self {
        Self {
            kernel,
            clock,
            budget: Budget::new(settings.max_exports, settings.max_memory),
            reads: Semaphore::new(settings.max_reads),
            metrics,
            settings,
            stopping: AtomicBool::new(false),
        }
    }

    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
