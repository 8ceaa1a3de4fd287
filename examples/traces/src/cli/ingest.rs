//! `traces ingest`.
use super::Failure;
use foldwright::{Shutdown, ShutdownBudget, Signals, prelude::TenantId, run_until_done};
use foldwright_traces::{
    ingest::{Ingested, Input, Tenants, ingest},
    store::Store,
};
use std::{
    io::{self, Write},
    path::PathBuf,
};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The file of requests.
    file: PathBuf,
    /// Whose requests they are.
    #[arg(long, default_value = "default", value_parser = super::tenant, conflicts_with = "requests")]
    tenant: TenantId,
    /// A file that names the tenant of each request, one JSON object a line.
    #[arg(long)]
    requests: Option<PathBuf>,
    /// The store; made if it is not there.
    #[arg(long, env = "TRACES_STORE", default_value = "./foldwright.db")]
    store: PathBuf,
}

pub(super) async fn run(args: Args) -> Result<(), Failure> {
    let tenants = args.requests.map_or(Tenants::One(args.tenant), Tenants::File);
    let input = Input {
        file: args.file,
        tenants,
    };
    input.check()?;
    // Before anything is opened: a signal during the start stops in order too.
    let signals = Signals::listen()?;
    let store = Store::open(&args.store)?;
    let opened = store.clone();
    let (exit, ingested) = run_until_done(
        signals,
        opened.start(),
        async |kernel| ingest(kernel, input).await,
        || Shutdown::new(ShutdownBudget::default()).then("store", store.close()),
    )
    .await;
    exit.result()?;
    // It is open still where the signal came before the start was over.
    opened.close().await?;
    let Some(ingested) = ingested else {
        return Err("interrupted: run it again to finish".into());
    };
    let ingested = ingested?;
    match print(&ingested) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => refused(ingested),
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

/// Everything else is stored, but whoever runs this in a script has to know.
fn refused(ingested: Ingested) -> Result<(), Failure> {
    for error in &ingested.unread_first {
        eprintln!("refused: {}", with_causes(error));
    }
    unnamed(ingested.unread, ingested.unread_first.len(), "requests");
    for span in &ingested.refused_first {
        eprintln!(
            "refused: trace {} span {}: {}",
            span.trace_id, span.span_id, span.reason
        );
    }
    unnamed(ingested.refused, ingested.refused_first.len(), "spans");
    let mut wrong = Vec::new();
    if ingested.unread > 0 {
        wrong.push(format!("{} of {} requests", ingested.unread, ingested.requests));
    }
    if ingested.refused > 0 {
        wrong.push(format!("{} of {} spans", ingested.refused, ingested.spans));
    }
    let wrong = wrong.join(" and ");
    match ingested.broken_off {
        Some(error) => {
            let also = if wrong.is_empty() {
                wrong
            } else {
                format!("; {wrong} were refused")
            };
            let why = with_causes(&error);
            Err(format!("{why}: what came before it is stored{also}; mend the file and run it again").into())
        }
        None if wrong.is_empty() => Ok(()),
        None => {
            Err(format!("{wrong} were refused, all others are stored; mend them and run it again").into())
        }
    }
}

fn unnamed(all: u64, named: usize, what: &str) {
    let unnamed = all.saturating_sub(named as u64);
    if unnamed > 0 {
        eprintln!("refused: and {unnamed} more {what}");
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
