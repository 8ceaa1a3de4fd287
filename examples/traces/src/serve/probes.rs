//! Health, readiness and metrics.
use super::{
    answer::{Answer, answer, refused},
    refusal::Refusal,
    state::State,
    telemetry,
};
use foldwright::Backlog;
use hyper::StatusCode;
use std::time::Duration;

/// A store that takes longer is taken for gone.
const PATIENCE: Duration = Duration::from_secs(2);

const TEXT: &str = "text/plain; charset=utf-8";

/// The process lives.
pub(super) fn health() -> Answer {
    answer(StatusCode::OK, TEXT, "ok\n")
}

/// The store answers, and the server is not about to stop.
pub(super) async fn readiness(state: &State) -> Answer {
    if state.is_stopping() {
        return refused(&Refusal::busy("the server is stopping"));
    }
    match backlog(state).await {
        Some(_) => answer(StatusCode::OK, TEXT, "ready\n"),
        None => refused(&Refusal::busy("the store does not answer")),
    }
}

pub(super) async fn metrics(state: &State) -> Answer {
    let backlog = backlog(state).await;
    telemetry::store(backlog.as_ref());
    telemetry::budget(
        state
            .settings
            .max_exports
            .saturating_sub(state.budget.free_exports()),
        state
            .settings
            .max_memory
            .saturating_sub(state.budget.free_bytes()),
    );
    answer(
        StatusCode::OK,
        "text/plain; version=0.0.4; charset=utf-8",
        state.metrics.render(),
    )
}

async fn backlog(state: &State) -> Option<Backlog> {
    match tokio::time::timeout(PATIENCE, state.kernel.backlog()).await {
        Ok(Ok(backlog)) => Some(backlog),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the store does not answer");
            None
        }
        Err(_) => {
            tracing::warn!("the store did not answer within {PATIENCE:?}");
            None
        }
    }
}
