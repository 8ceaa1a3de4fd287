//! `traces ingest`: a file of requests in, summaries out.
use crate::{
    intake::{RefusedSpan, SPANS_PER_SEND, intent, offer},
    otlp::{OtlpError, RequestReader, RequestTenants, RequestsError, Span},
    store::OpenError,
    trace_summary::TraceSummary,
};
use foldwright::{
    Backlog, Kernel, SendRefused,
    domain::SecurityError,
    ports::{Clock as _, Limits, SystemClock},
    prelude::*,
};
use indicatif::{ProgressBar, ProgressStyle};
use std::{path::PathBuf, time::Duration};
use tokio::sync::mpsc;

/// How many requests are read ahead.
const READ_AHEAD: usize = 64;
/// How many refused spans are named.
const NAMED: usize = 20;

/// What to ingest.
#[derive(Debug)]
pub struct Input {
    /// The file of requests.
    pub file: PathBuf,
    /// Whose they are.
    pub tenants: Tenants,
}

impl Input {
    /// Whether the files are there, begin as they should and belong together, before a store is made for them and
    /// before any span is sent.
    pub fn check(&self) -> Result<(), IngestError> {
        if let Some(first) = RequestReader::open(&self.file)?.next() {
            first?;
        }
        let Tenants::File(path) = &self.tenants else {
            return Ok(());
        };
        let lines = RequestTenants::open(path)?.count_requests(|line, tenant| {
            TenantId::parse(tenant)
                .map(drop)
                .map_err(|source| IngestError::Tenant { line, source })
        })?;
        let requests = RequestReader::open(&self.file)?.count_requests()?;
        if lines < requests {
            return Err(RequestsError::TooFewLines { lines }.into());
        }
        if lines > requests {
            return Err(RequestsError::TooManyLines { lines, requests }.into());
        }
        Ok(())
    }
}

/// Whose requests they are.
#[derive(Debug)]
pub enum Tenants {
    /// All of one tenant.
    One(TenantId),
    /// Each as a line of this file says.
    File(PathBuf),
}

/// Why ingesting stopped. What was sent before stays.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The file of requests.
    #[error("the file of requests")]
    Otlp(#[from] OtlpError),
    /// The file of tenants.
    #[error("the file of tenants")]
    Requests(#[from] RequestsError),
    /// A line of it names no tenant.
    #[error("line {line} of the requests file")]
    Tenant {
        /// The line, counted from 1.
        line: usize,
        /// Why.
        source: SecurityError,
    },
    /// The kernel refused a command.
    #[error("sending spans")]
    Send(#[from] SendRefused),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] foldwright::ports::Error),
    /// The service could not be opened or closed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Some groups are blocked.
    #[error("{jobs} jobs are stuck in quarantined groups: see the log above for their errors")]
    Stuck {
        /// How many jobs wait for a person.
        jobs: u64,
    },
}

/// What was ingested.
#[derive(Debug)]
pub struct Ingested {
    /// Spans as they arrived, repeats included.
    pub spans: u64,
    /// Requests.
    pub requests: u64,
    /// How many of the spans were refused.
    pub refused: u64,
    /// The first of those.
    pub refused_first: Vec<RefusedSpan>,
    /// From the first request read to the last projection written.
    pub elapsed: Duration,
    /// What each tenant has in the store now.
    pub tenants: Vec<TenantTotals>,
}

/// What a tenant has in the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TenantTotals {
    /// Who.
    pub tenant: TenantId,
    /// Distinct spans.
    pub spans: u64,
    /// Traces.
    pub traces: u64,
    /// Spans that ended in an error.
    pub errors: u64,
    /// Tokens in and out of models.
    pub tokens: u64,
}

/// A request on its way to the kernel.
type Request = (TenantId, Vec<Span>);

/// Drains what an earlier run left, sends every span of the input, and waits until commands, folds and maps have
/// caught up.
pub async fn ingest(kernel: &Kernel, input: Input) -> Result<Ingested, IngestError> {
    let progress = Progress::new();
    drain(kernel, &progress).await?;
    let started = tokio::time::Instant::now();
    let (sender, mut receiver) = mpsc::channel(READ_AHEAD);
    let reading = tokio::task::spawn_blocking(move || read(&input, &sender));
    let (mut spans, mut requests, mut refused) = (0, 0, 0);
    let mut refused_first = Vec::new();
    let mut batch = Vec::with_capacity(SPANS_PER_SEND);
    while let Some(request) = receiver.recv().await {
        let mut next = Some(request);
        while let Some((tenant, request)) = next.take() {
            requests += 1;
            batch.extend(request.into_iter().map(|span| intent(&tenant, span)));
            if batch.len() < SPANS_PER_SEND {
                next = receiver.try_recv().ok();
            }
        }
        spans += batch.len() as u64;
        let no = offer(kernel, SystemClock.now(), std::mem::take(&mut batch)).await?;
        refused += no.len() as u64;
        let unnamed = NAMED.saturating_sub(refused_first.len());
        refused_first.extend(no.into_iter().take(unnamed));
        progress.sent(spans, &kernel.backlog().await?);
    }
    reading
        .await
        .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
    let backlog = kernel.caught_up(|backlog| progress.sent(spans, backlog)).await?;
    let elapsed = started.elapsed();
    progress.end();
    if backlog.stuck() > 0 {
        return Err(IngestError::Stuck {
            jobs: backlog.stuck(),
        });
    }
    Ok(Ingested {
        spans,
        requests,
        refused,
        refused_first,
        elapsed,
        tenants: totals(kernel).await?,
    })
}

async fn drain(kernel: &Kernel, progress: &Progress) -> Result<(), IngestError> {
    let left = kernel.backlog().await?.open();
    if left > 0 {
        progress.say(&format!("finishing {left} jobs that an earlier run left"));
        kernel.caught_up(|backlog| progress.sent(0, backlog)).await?;
    }
    Ok(())
}

/// Reads requests until the input ends or nobody listens any more.
fn read(input: &Input, sender: &mpsc::Sender<Request>) -> Result<(), IngestError> {
    let mut tenants = match &input.tenants {
        Tenants::One(tenant) => TenantSource::One(tenant),
        Tenants::File(path) => TenantSource::File(RequestTenants::open(path)?),
    };
    for spans in RequestReader::open(&input.file)? {
        let spans = spans?;
        let tenant = match &mut tenants {
            TenantSource::One(tenant) => (*tenant).clone(),
            TenantSource::File(lines) => {
                let tenant = lines.next_tenant()?;
                let line = lines.line();
                TenantId::parse(tenant).map_err(|source| IngestError::Tenant { line, source })?
            }
        };
        if sender.blocking_send((tenant, spans)).is_err() {
            return Ok(());
        }
    }
    match tenants {
        TenantSource::One(_) => Ok(()),
        TenantSource::File(lines) => Ok(lines.finish()?),
    }
}

enum TenantSource<'a> {
    One(&'a TenantId),
    File(RequestTenants),
}

async fn totals(kernel: &Kernel) -> Result<Vec<TenantTotals>, IngestError> {
    let reader = kernel.reader();
    let mut all = Vec::new();
    for tenant in reader.tenants().await? {
        let mut totals = TenantTotals {
            tenant,
            spans: 0,
            traces: 0,
            errors: 0,
            tokens: 0,
        };
        let mut from = None;
        loop {
            let page = reader
                .states::<TraceSummary>(&totals.tenant, from, Limits::items(1_000))
                .await?;
            for row in page.items {
                let row = row.map_err(foldwright::ports::Error::from)?;
                totals.traces += 1;
                totals.spans += row.state.span_ids.len() as u64;
                totals.errors += row.state.errors;
                totals.tokens += row.state.input_tokens + row.state.output_tokens;
            }
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        all.push(totals);
    }
    Ok(all)
}

/// A line on a terminal, silent elsewhere.
struct Progress(ProgressBar);

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    fn say(&self, text: &str) {
        self.0.println(text);
    }

    fn sent(&self, spans: u64, backlog: &Backlog) {
        self.0
            .set_message(format!("{spans} spans sent, {} jobs to do", backlog.open()));
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}
