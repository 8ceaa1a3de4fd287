//! `traces ingest`: a file of requests in, summaries out.
use crate::{
    intake::{RefusedSpan, SPANS_PER_SEND, intent, offer},
    otlp::{Decoded, OtlpError, RequestReader, RequestTenants, RequestsError},
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
        match RequestReader::open(&self.file)?.next_request() {
            // A request that is spoilt is named with the others, and the file may be right all the same.
            None | Some(Ok(_) | Err(OtlpError::Decode { .. })) => {}
            Some(Err(error)) => return Err(error.into()),
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
    /// How many of the requests cannot be read.
    pub unread: u64,
    /// Why, of the first of those.
    pub unread_first: Vec<OtlpError>,
    /// Why the input could not be read to its end.
    pub broken_off: Option<IngestError>,
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

/// What is read, on its way to the kernel.
enum Read {
    Request(TenantId, Decoded),
    Unreadable(OtlpError),
}

/// What was not taken.
#[derive(Default)]
struct Refusals {
    spans: u64,
    first_spans: Vec<RefusedSpan>,
    requests: u64,
    first_requests: Vec<OtlpError>,
}

impl Refusals {
    fn spans(&mut self, refused: impl ExactSizeIterator<Item = RefusedSpan>) {
        self.spans += refused.len() as u64;
        let unnamed = NAMED.saturating_sub(self.first_spans.len());
        self.first_spans.extend(refused.take(unnamed));
    }

    fn request(&mut self, error: OtlpError) {
        self.requests += 1;
        if self.first_requests.len() < NAMED {
            self.first_requests.push(error);
        }
    }
}

/// Drains what an earlier run left, sends every span of the input, and waits until commands, folds and maps have
/// caught up.
pub async fn ingest(kernel: &Kernel, input: Input) -> Result<Ingested, IngestError> {
    let progress = Progress::new();
    drain(kernel, &progress).await?;
    let started = tokio::time::Instant::now();
    let (sender, mut receiver) = mpsc::channel(READ_AHEAD);
    let reading = tokio::task::spawn_blocking(move || read(&input, &sender));
    let (mut spans, mut requests, mut refusals) = (0, 0, Refusals::default());
    let mut batch = Vec::with_capacity(SPANS_PER_SEND);
    while let Some(request) = receiver.recv().await {
        let mut next = Some(request);
        while let Some(request) = next.take() {
            requests += 1;
            match request {
                Read::Request(tenant, decoded) => {
                    spans += (decoded.spans.len() + decoded.faulty.len()) as u64;
                    refusals.spans(decoded.faulty.into_iter().map(RefusedSpan::from));
                    batch.extend(decoded.spans.into_iter().map(|span| intent(&tenant, span)));
                }
                Read::Unreadable(error) => refusals.request(error),
            }
            if batch.len() < SPANS_PER_SEND {
                next = receiver.try_recv().ok();
            }
        }
        let no = offer(kernel, SystemClock.now(), std::mem::take(&mut batch)).await?;
        refusals.spans(no.into_iter());
        progress.sent(spans, &kernel.backlog().await?);
    }
    // What was read before is worked off all the same.
    let broken_off = reading
        .await
        .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
        .err();
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
        refused: refusals.spans,
        refused_first: refusals.first_spans,
        unread: refusals.requests,
        unread_first: refusals.first_requests,
        broken_off,
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
fn read(input: &Input, sender: &mpsc::Sender<Read>) -> Result<(), IngestError> {
    let mut tenants = match &input.tenants {
        Tenants::One(tenant) => TenantSource::One(tenant),
        Tenants::File(path) => TenantSource::File(RequestTenants::open(path)?),
    };
    let mut requests = RequestReader::open(&input.file)?;
    while let Some(request) = requests.next_request() {
        let tenant = match &mut tenants {
            TenantSource::One(tenant) => (*tenant).clone(),
            TenantSource::File(lines) => {
                let tenant = lines.next_tenant()?;
                let line = lines.line();
                TenantId::parse(tenant).map_err(|source| IngestError::Tenant { line, source })?
            }
        };
        let read = match request {
            Ok(decoded) => Read::Request(tenant, decoded),
            Err(error @ (OtlpError::Decode { .. } | OtlpError::NotTraces { .. })) => Read::Unreadable(error),
            Err(error) => return Err(error.into()),
        };
        if sender.blocking_send(read).is_err() {
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
