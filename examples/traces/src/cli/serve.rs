//! `traces serve`.
use super::{
    Failure,
    telemetry::flush,
    units::{bytes, time},
};
use foldwright::{Shutdown, ShutdownBudget, Signals, prelude::TenantId, telemetry::Otlp};
use foldwright_traces::{
    serve::{Server, Settings, Stopped, telemetry},
    store::Store,
};
use std::{
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    process,
    time::Duration,
};

/// The status of a process that was told twice to stop, as a shell has it for an interrupt.
const STOPPED_AT_ONCE: i32 = 130;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Where to listen. There is no authentication: put a proxy in front of anything but the loopback.
    #[arg(
        long,
        env = "TRACES_LISTEN",
        default_value = "127.0.0.1:4318",
        value_name = "ADDRESS:PORT"
    )]
    listen: SocketAddr,
    /// The store; made if it is not there.
    #[arg(long, env = "TRACES_STORE", default_value = "./foldwright.db")]
    store: PathBuf,
    /// Whose the spans of requests without the header x-tenant-id are; without this they are refused.
    #[arg(long, env = "TRACES_DEFAULT_TENANT", value_parser = super::tenant)]
    default_tenant: Option<TenantId>,
    /// How long the work of a killed process waits before another takes it over.
    #[arg(long, env = "TRACES_LEASE", default_value = "5s", value_parser = time, value_name = "TIME")]
    lease: Duration,
    /// The longest request body as it travels.
    #[arg(long, env = "TRACES_MAX_BODY", default_value = "20MiB", value_parser = bytes, value_name = "SIZE")]
    max_body: usize,
    /// The longest request body once it is decompressed.
    #[arg(long, env = "TRACES_MAX_DECOMPRESSED", default_value = "20MiB", value_parser = bytes, value_name = "SIZE")]
    max_decompressed: usize,
    /// Memory for all request bodies and what is decoded from them; beyond it requests are told to come back.
    #[arg(long, env = "TRACES_MAX_MEMORY", default_value = "256MiB", value_parser = bytes, value_name = "SIZE")]
    max_memory: usize,
    /// How many exports run at once; beyond it requests are told to come back.
    #[arg(long, env = "TRACES_MAX_EXPORTS", default_value_t = 64, value_name = "NUMBER")]
    max_exports: usize,
    /// How many reads run at once; beyond it requests are told to come back.
    #[arg(long, env = "TRACES_MAX_READS", default_value_t = 16, value_name = "NUMBER")]
    max_reads: usize,
    /// How many connections are open at once; beyond it they are closed with a 503.
    #[arg(
        long,
        env = "TRACES_MAX_CONNECTIONS",
        default_value_t = 512,
        value_name = "NUMBER"
    )]
    max_connections: usize,
    /// How long the head of a request may take, and how long a connection may idle.
    #[arg(long, env = "TRACES_HEADER_TIMEOUT", default_value = "30s", value_parser = time, value_name = "TIME")]
    header_timeout: Duration,
    /// How long the body of a request may take to arrive, and an answer to be taken off.
    #[arg(long, env = "TRACES_BODY_TIMEOUT", default_value = "10s", value_parser = time, value_name = "TIME")]
    body_timeout: Duration,
    /// How long a request may take in all.
    #[arg(long, env = "TRACES_REQUEST_TIMEOUT", default_value = "30s", value_parser = time, value_name = "TIME")]
    request_timeout: Duration,
    /// After a signal to stop: how long connections are still taken while /readyz says no.
    #[arg(long, env = "TRACES_STOP_DELAY", default_value = "0s", value_parser = time, value_name = "TIME")]
    stop_delay: Duration,
    /// How long requests in flight, and then the kernel's work in hand, may take to end after a signal to stop.
    #[arg(long, env = "TRACES_STOP_BUDGET", default_value = "10s", value_parser = time, value_name = "TIME")]
    stop_budget: Duration,
    /// Where the traces of this service itself go: a collector that takes OTLP over plain HTTP, such as
    /// http://127.0.0.1:4319; without it they go nowhere. The traceparent of a request goes on.
    #[arg(long, env = "TRACES_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
}

impl Args {
    pub(super) fn otlp_endpoint(&self) -> Option<&str> {
        self.otlp_endpoint.as_deref()
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let settings = Settings {
            listen: self.listen,
            default_tenant: self.default_tenant.clone(),
            max_body: self.max_body,
            max_decompressed: self.max_decompressed,
            max_memory: self.max_memory,
            max_exports: self.max_exports,
            max_reads: self.max_reads,
            max_connections: self.max_connections,
            header_timeout: self.header_timeout,
            body_timeout: self.body_timeout,
            request_timeout: self.request_timeout,
            stop_delay: self.stop_delay,
            stop_budget: self.stop_budget,
        };
        let faults = settings.faults();
        if faults.is_empty() {
            return Ok(settings);
        }
        Err(format!("settings that cannot work: {}", faults.join("; ")).into())
    }
}

pub(super) async fn run(args: Args, otlp: Option<Otlp>) -> Result<(), Failure> {
    let settings = args.settings()?;
    let stop_budget = settings.stop_budget;
    // Before anything is opened: a signal during the start stops in order too.
    let mut signals = Signals::listen()?;
    let metrics = telemetry::install()?;
    let store = Store::open(&args.store)?;
    let kernel = store
        .start_with(args.lease, otlp.as_ref().map(Otlp::propagation))
        .await?;
    tracing::debug!("serving\n{}", kernel.describe());
    if !settings.listen.ip().is_loopback() {
        tracing::warn!(address = %settings.listen, "listening beyond the loopback without authentication");
    }
    let address = settings.listen;
    let server = Server::bind(settings, kernel, store.clock(), metrics)
        .await
        .map_err(|error| {
            format!(
                "cannot listen on {address}: {error}; see what holds the port, or name another with --listen"
            )
        })?;
    announce(server.local_addr()?)?;
    let (told, stop) = tokio::sync::oneshot::channel::<()>();
    let serving = async {
        let stopped = server
            .run(async {
                // An error means that nobody is left who could tell.
                let _ = stop.await;
            })
            .await;
        finish(stopped, store, otlp, stop_budget).await
    };
    let signalled = async {
        signals.next().await;
        // An error means that the server has ended by itself.
        let _ = told.send(());
        signals.next().await;
    };
    tokio::select! {
        biased;
        finished = serving => finished,
        () = signalled => {
            tracing::warn!("told twice to stop: requests in flight are cut off, their senders send them again");
            // Returning would wait for what runs on other threads.
            process::exit(STOPPED_AT_ONCE)
        }
    }
}

async fn finish(stopped: Stopped, store: Store, otlp: Option<Otlp>, budget: Duration) -> Result<(), Failure> {
    if stopped.cut_off > 0 {
        tracing::warn!(
            connections = stopped.cut_off,
            "requests did not end in time and were cut off"
        );
    }
    // What is still running when the drain is over is given back, and another run takes it at once.
    match stopped.kernel {
        Some(kernel) => {
            let stop = Shutdown::new(ShutdownBudget::new(budget))
                .then("store", store.close())
                .flush(flush(otlp));
            kernel.shutdown(stop).await?;
        }
        None => store.close().await?,
    }
    Ok(())
}

/// The one line on standard output: where it listens, for people and for scripts that asked for port 0.
fn announce(address: SocketAddr) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "listening on http://{address}").and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
