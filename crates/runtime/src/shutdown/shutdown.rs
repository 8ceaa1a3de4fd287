//! Stopping in phases, each within its own time.
use super::ShutdownBudget;
use crate::worker::Worker;
use futures_util::future::BoxFuture;
use std::{error::Error, fmt::Display, time::Duration};
use tokio::time::{Instant, timeout};

/// What a phase answers.
type Ended = Result<(), Box<dyn Error + Send + Sync>>;

/// How a kernel is to be stopped: within which times, and what follows on it.
///
/// ```text
/// stop claiming ─► drain ─► give back ─► goodbye ─► then… (stores) ─► flush ─► done
/// ```
///
/// A phase that fails or hangs is named in the log and left after its own time; the later ones still run.
pub struct Shutdown {
    budget: ShutdownBudget,
    then: Vec<(&'static str, BoxFuture<'static, Ended>)>,
    flush: Option<BoxFuture<'static, Ended>>,
}

/// A kernel that has been stopped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stopped {
    /// Phases that failed, or were left because they took too long.
    pub troubled: Vec<&'static str>,
    /// How many leases were given back because their jobs did not end within the drain.
    pub given_back: usize,
}

/// A stop took longer than it may in all. What had not run yet did not run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the stop took longer than {total:?} in all and was given up in its phase `{phase}`")]
pub struct ShutdownError {
    /// The phase that ran, or was about to, when the time was over.
    pub phase: &'static str,
    /// How long it may take.
    pub total: Duration,
}

impl Shutdown {
    /// Within these times, and nothing follows on it.
    #[must_use]
    pub fn new(budget: ShutdownBudget) -> Self {
        Self {
            budget,
            then: Vec::new(),
            flush: None,
        }
    }

    /// Runs this behind the kernel's own phases and those named before: closing the stores, for example. No job of the
    /// kernel runs any more by then, unless it blocks its thread.
    #[must_use]
    pub fn then<E>(
        mut self,
        name: &'static str,
        phase: impl Future<Output = Result<(), E>> + Send + 'static,
    ) -> Self
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.then
            .push((name, Box::pin(async { phase.await.map_err(Into::into) })));
        self
    }

    /// Runs this last of all: telemetry tells of the stop itself. Its failure changes nothing.
    #[must_use]
    pub fn flush<E>(mut self, flush: impl Future<Output = Result<(), E>> + Send + 'static) -> Self
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.flush = Some(Box::pin(async { flush.await.map_err(Into::into) }));
        self
    }

    /// Stops a worker, if there is one, then does what follows.
    pub(crate) async fn run(self, worker: Option<Worker>) -> Result<Stopped, ShutdownError> {
        let Self { budget, then, flush } = self;
        let mut phases = Phases::new(budget);
        let ran = phases.of_kernel(worker, then).await;
        // Also where the time is over: what went wrong is to be told.
        if let Some(flush) = flush {
            match timeout(budget.phase(), flush).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => failed("flush", &error),
                Err(_) => hung("flush", budget.phase()),
            }
        }
        ran.map(|()| phases.stopped)
    }
}

impl std::fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let then: Vec<_> = self.then.iter().map(|(name, _)| name).collect();
        f.debug_struct("Shutdown")
            .field("budget", &self.budget)
            .field("then", &then)
            .field("flush", &self.flush.is_some())
            .finish()
    }
}

/// The phases of one stop.
struct Phases {
    budget: ShutdownBudget,
    began: Instant,
    stopped: Stopped,
}

impl Phases {
    fn new(budget: ShutdownBudget) -> Self {
        Self {
            budget,
            began: Instant::now(),
            stopped: Stopped::default(),
        }
    }

    async fn of_kernel(
        &mut self,
        worker: Option<Worker>,
        then: Vec<(&'static str, BoxFuture<'static, Ended>)>,
    ) -> Result<(), ShutdownError> {
        if let Some(mut worker) = worker {
            worker.stop();
            let drained = async {
                worker.drained().await;
                Ok::<_, ShutdownError>(())
            };
            // What the drain leaves behind is what the next phase is for.
            self.phase("drain", self.budget.drain(), drained).await?;
            let given_back = self
                .phase("give back", self.budget.phase(), worker.give_back())
                .await?;
            self.stopped.given_back = given_back.unwrap_or(0);
            self.phase("goodbye", self.budget.phase(), worker.goodbye())
                .await?;
        }
        for (name, phase) in then {
            self.phase(name, self.budget.phase(), phase).await?;
        }
        Ok(())
    }

    /// Runs a phase within its own time and what is left of the whole; `None` where it failed or was left.
    async fn phase<T, E: Display>(
        &mut self,
        name: &'static str,
        own: Duration,
        phase: impl Future<Output = Result<T, E>>,
    ) -> Result<Option<T>, ShutdownError> {
        let total = self.budget.total();
        let left = total.saturating_sub(self.began.elapsed());
        match timeout(own.min(left), phase).await {
            Ok(Ok(done)) => return Ok(Some(done)),
            Ok(Err(error)) => failed(name, &error),
            Err(_) if left <= own => {
                tracing::error!(
                    phase = name,
                    ?total,
                    "the stop took too long in all and is given up"
                );
                return Err(ShutdownError { phase: name, total });
            }
            Err(_) => hung(name, own),
        }
        self.stopped.troubled.push(name);
        Ok(None)
    }
}

fn failed(phase: &'static str, error: &dyn Display) {
    tracing::error!(phase, %error, "a phase of the stop failed, the next one begins");
}

fn hung(phase: &'static str, after: Duration) {
    tracing::error!(
        phase,
        ?after,
        "a phase of the stop did not end in time, the next one begins"
    );
}
