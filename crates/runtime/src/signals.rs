//! Running a kernel until the process is told to stop.
use crate::{
    kernel::Kernel,
    shutdown::{Shutdown, ShutdownError},
};
use std::{convert::Infallible, error::Error, io, process::ExitCode};

/// Requests to stop that the process gets: SIGTERM and SIGINT, where there are none Ctrl-C.
///
/// From its making on they no longer end the process by themselves, so make it first of all.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Begins to listen. Needs a tokio runtime with I/O enabled.
    ///
    /// # Errors
    /// The system's, when it does not let the process listen.
    pub fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// The next request. Cancel safe.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            biased;
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// How a process that was run until a signal is to end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Exit {
    /// In good order, or with phases that had trouble and are in the log.
    Clean,
    /// Asked to stop while it started: nothing had begun.
    BeforeStart,
    /// It did not start.
    NotStarted(Box<dyn Error + Send + Sync>),
    /// The stop took too long.
    Overdue(ShutdownError),
    /// A second signal came while it stopped.
    AtOnce,
}

impl Exit {
    /// For a process that reports its errors itself. On a second signal it ends at once, as with [`code`](Self::code).
    ///
    /// # Errors
    /// Why it did not start, or that the stop took too long.
    pub fn result(self) -> Result<(), Box<dyn Error + Send + Sync>> {
        match self {
            Self::Clean | Self::BeforeStart => Ok(()),
            Self::NotStarted(error) => Err(error),
            Self::Overdue(error) => Err(error.into()),
            Self::AtOnce => at_once(),
        }
    }

    /// Ends the process from `main`; says on stderr why, where it is not a clean end.
    ///
    /// On a second signal it ends at once, without running a destructor: whoever asked twice does not want to wait for
    /// what hangs.
    #[must_use]
    pub fn code(self) -> ExitCode {
        match self {
            Self::Clean | Self::BeforeStart => ExitCode::SUCCESS,
            Self::NotStarted(error) => {
                eprintln!("error: the service did not start: {error}");
                ExitCode::FAILURE
            }
            Self::Overdue(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
            Self::AtOnce => at_once(),
        }
    }
}

/// As shells report a process that an interrupt has ended.
const SECOND_SIGNAL: i32 = 130;

fn at_once() -> ! {
    eprintln!("error: stopped at once by a second signal");
    std::process::exit(SECOND_SIGNAL)
}

/// Starts a kernel, runs it until the first signal, then stops it as `shutdown` says. The first signal is honoured also
/// while it starts; a second one ends the stop at once.
///
/// Make `signals` before anything else is opened, and hand [`Exit::code`] to `main`.
pub async fn run_until_signal<E>(
    mut signals: Signals,
    start: impl Future<Output = Result<Kernel, E>>,
    shutdown: impl FnOnce() -> Shutdown,
) -> Exit
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let forever = async |_: &Kernel| std::future::pending::<Infallible>().await;
    drive(async || signals.next().await, start, forever, shutdown)
        .await
        .0
}

/// As [`run_until_signal`], for a process that has an end of its own: does `work` with the kernel, and stops in order when
/// that is done. The first signal drops `work` where it is, so what it does has to bear that; one that comes while the
/// kernel stops after its work changes nothing, and the next one ends the stop at once.
///
/// Answers what `work` answered; `None` where it was not done.
pub async fn run_until_done<E, T>(
    mut signals: Signals,
    start: impl Future<Output = Result<Kernel, E>>,
    work: impl AsyncFnOnce(&Kernel) -> T,
    shutdown: impl FnOnce() -> Shutdown,
) -> (Exit, Option<T>)
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    drive(async || signals.next().await, start, work, shutdown).await
}

async fn drive<E, T>(
    mut signal: impl AsyncFnMut(),
    start: impl Future<Output = Result<Kernel, E>>,
    work: impl AsyncFnOnce(&Kernel) -> T,
    shutdown: impl FnOnce() -> Shutdown,
) -> (Exit, Option<T>)
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let started = tokio::select! {
        biased;
        () = signal() => {
            tracing::info!("asked to stop while starting");
            return (Exit::BeforeStart, None);
        }
        started = start => started,
    };
    let kernel = match started {
        Ok(kernel) => kernel,
        Err(error) => return (Exit::NotStarted(error.into()), None),
    };
    let done = tokio::select! {
        biased;
        () = signal() => {
            tracing::info!("asked to stop: finishing what has begun, a second signal ends at once");
            None
        }
        done = work(&kernel) => Some(done),
    };
    let at_once = async {
        // Whose work is done stops already: the first signal asks for no more than that.
        if done.is_some() {
            signal().await;
        }
        signal().await;
    };
    let exit = tokio::select! {
        biased;
        () = at_once => Exit::AtOnce,
        stopped = kernel.shutdown(shutdown()) => match stopped {
            Ok(_) => Exit::Clean,
            Err(error) => Exit::Overdue(error),
        },
    };
    (exit, done)
}

#[cfg(test)]
#[path = "signals_test.rs"]
mod tests;
