//! Listening, and stopping in order.
use super::{connection::serve, settings::Settings, state::State, telemetry};
use foldwright::{Kernel, ports::Clock};
use metrics_exporter_prometheus::PrometheusHandle;
use std::{
    io::{self, Write as _},
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinError, JoinSet},
};

/// How often the metrics recorder tidies up.
const UPKEEP: Duration = Duration::from_secs(5);
/// How long accepting pauses when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// What a connection gets that finds no place. Written without waiting.
const NO_PLACE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    state: Arc<State>,
}

/// What is left when a server has stopped.
pub struct Stopped {
    /// The kernel, still working: closing it is the caller's.
    pub kernel: Option<Kernel>,
    /// Connections whose requests did not end within the budget.
    pub cut_off: usize,
}

impl Server {
    /// Listens from now on; requests are answered once it [`run`](Self::run)s.
    ///
    /// # Errors
    /// The address cannot be had.
    pub async fn bind(
        settings: Settings,
        kernel: Kernel,
        clock: Arc<dyn Clock>,
        metrics: PrometheusHandle,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(settings.listen).await?;
        Ok(Self {
            listener,
            state: Arc::new(State::new(settings, kernel, clock, metrics)),
        })
    }

    /// Where it listens: the port that was given when port 0 was asked for.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` comes, then finishes what is in flight and hands the kernel back.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Stopped {
        let Self { listener, state } = self;
        let (stopping, stop_connections) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut accepting = Accepting {
            listener,
            state: state.clone(),
            stop_connections,
        };
        accepting.until(stop, &mut connections).await;
        state.stop();
        let delay = tokio::time::sleep(state.settings.stop_delay);
        accepting.until(delay, &mut connections).await;
        drop(accepting);
        stopping.send_replace(true);
        let draining = async {
            while let Some(ended) = connections.join_next().await {
                report(ended);
            }
        };
        let cut_off = match tokio::time::timeout(state.settings.stop_budget, draining).await {
            Ok(()) => 0,
            Err(_) => connections.len(),
        };
        connections.shutdown().await;
        Stopped {
            kernel: Arc::into_inner(state).map(|state| state.kernel),
            cut_off,
        }
    }
}

struct Accepting {
    listener: TcpListener,
    state: Arc<State>,
    stop_connections: watch::Receiver<bool>,
}

impl Accepting {
    /// Accepts connections until `end` comes.
    async fn until(&mut self, end: impl Future<Output = ()>, connections: &mut JoinSet<()>) {
        let mut end = pin!(end);
        let mut upkeep = tokio::time::interval(UPKEEP);
        loop {
            tokio::select! {
                biased;
                () = end.as_mut() => return,
                Some(ended) = connections.join_next() => report(ended),
                _ = upkeep.tick() => self.state.metrics.run_upkeep(),
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => self.take(stream, connections),
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
            }
            telemetry::connections(connections.len());
        }
    }

    fn take(&self, stream: TcpStream, connections: &mut JoinSet<()>) {
        if connections.len() < self.state.settings.max_connections {
            connections.spawn(serve(stream, self.state.clone(), self.stop_connections.clone()));
            return;
        }
        telemetry::turned_away();
        // The buffer of a fresh socket has room for so little; where it has not, the peer sees a connection that ends.
        let _ = stream
            .into_std()
            .and_then(|mut socket| socket.write_all(NO_PLACE));
    }
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "serving a connection ended badly");
    }
}
