//! The `traces` command.
use clap::{Args, Parser, Subcommand};
use foldwright::prelude::TenantId;
use foldwright_traces::{
    ingest::{Ingested, Input, Tenants, ingest},
    show::{Query, ShowError, show},
    store::Store,
};
use std::{
    error::Error,
    io::{self, BufWriter, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};
use tracing_subscriber::EnvFilter;

/// A multi-tenant trace service in one file.
#[derive(Parser)]
#[command(name = "traces")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reads OTLP requests (JSON lines or length-prefixed protobuf, plain or gzip) and waits until every projection
    /// has caught up.
    Ingest(IngestArgs),
    /// Shows traces: all of them as a table, or one as a tree.
    Show(ShowArgs),
}

#[derive(Args)]
struct IngestArgs {
    /// The file of requests.
    file: PathBuf,
    /// Whose requests they are.
    #[arg(long, default_value = "default", value_parser = tenant, conflicts_with = "requests")]
    tenant: TenantId,
    /// A file that names the tenant of each request, one JSON object a line.
    #[arg(long)]
    requests: Option<PathBuf>,
    /// The store; made if it is not there.
    #[arg(long, default_value = "./foldwright.db")]
    store: PathBuf,
}

#[derive(Args)]
struct ShowArgs {
    /// Only this tenant.
    #[arg(long, value_parser = tenant)]
    tenant: Option<TenantId>,
    /// Only this trace; as a tree, unless --json is given.
    #[arg(long)]
    trace: Option<String>,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
    /// The store.
    #[arg(long, default_value = "./foldwright.db")]
    store: PathBuf,
}

fn tenant(name: &str) -> Result<TenantId, foldwright::domain::SecurityError> {
    TenantId::parse(name)
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("FOLDWRIGHT_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .init();
    let done = match Cli::parse().command {
        Command::Ingest(args) => run_ingest(args).await,
        Command::Show(args) => run_show(args).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run_ingest(args: IngestArgs) -> Result<(), Box<dyn Error + Send + Sync>> {
    let tenants = args.requests.map_or(Tenants::One(args.tenant), Tenants::File);
    let input = Input {
        file: args.file,
        tenants,
    };
    input.check()?;
    let store = Store::open(&args.store)?;
    let kernel = store.start().await?;
    let ingested = tokio::select! {
        biased;
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            None
        }
        ingested = ingest(&kernel, input) => Some(ingested),
    };
    kernel.close().await;
    store.close().await?;
    let Some(ingested) = ingested else {
        return Err("interrupted: run it again to finish".into());
    };
    match print(&ingested?) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

async fn run_show(args: ShowArgs) -> Result<(), Box<dyn Error + Send + Sync>> {
    let store = Store::open_existing(&args.store)?;
    let mut out = BufWriter::new(io::stdout());
    let query = Query {
        tenant: args.tenant,
        trace: args.trace,
        json: args.json,
    };
    let shown = show(&store.reader(), &query, &mut out).await;
    store.close().await?;
    let written = shown.and_then(|()| Ok(out.flush()?));
    match written {
        // Whoever reads the output may stop early, as `head` does.
        Err(ShowError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

fn print(ingested: &Ingested) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<16} {:>9} {:>8} {:>7} {:>11}",
        "TENANT", "SPANS", "TRACES", "ERRORS", "TOKENS"
    )?;
    for totals in &ingested.tenants {
        writeln!(
            out,
            "{:<16} {:>9} {:>8} {:>7} {:>11}",
            totals.tenant, totals.spans, totals.traces, totals.errors, totals.tokens
        )?;
    }
    let seconds = ingested.elapsed.as_secs_f64();
    let rate = ingested.spans as f64 / seconds.max(f64::EPSILON);
    writeln!(
        out,
        "{} spans of {} requests in {seconds:.2} s: {rate:.0} spans/s",
        ingested.spans, ingested.requests
    )
}

/// The whole chain of causes, on one line.
fn report(error: &dyn Error) {
    let mut text = format!("error: {error}");
    let mut cause = error.source();
    while let Some(one) = cause {
        let one_text = one.to_string();
        if !text.contains(&one_text) {
            text.push_str(": ");
            text.push_str(&one_text);
        }
        cause = one.source();
    }
    eprintln!("{text}");
}
