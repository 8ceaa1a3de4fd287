//! How long it takes from handing over a span until its trace's summary is stored.
#![forbid(unsafe_code)]

use async_trait::async_trait;
use clap::Parser;
use foldwright::{
    Kernel, Role,
    domain::TenantId,
    ports::{Cursor, FoldStore, Limits, Page, Result as PortResult, StateKey, StateRow, Stored},
    prelude::{Declared, Intent},
};
use foldwright_tests::{Composition, Ignore, Report, Times, corpus_file};
use foldwright_traces::{
    otlp::RequestReader,
    pipeline::pipeline,
    span_recorded::{RecordSpan, occurred_at},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// As the example services do: the kernel makes many small values on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sends distinct spans of the corpus at a steady rate.
#[derive(Parser)]
struct Cli {
    /// Only this composition: memory, sqlite or sqlite_normal.
    #[arg(long)]
    scenario: Option<String>,
    /// Spans a second.
    #[arg(long, default_value_t = 500)]
    rate: u32,
    /// How many spans in all.
    #[arg(long, default_value_t = 10_000)]
    spans: usize,
}

/// How many spans one call sends.
const SPANS_PER_SEND: usize = 5;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cli = Cli::parse();
    for composition in Composition::ALL {
        if cli
            .scenario
            .as_deref()
            .is_none_or(|name| name == composition.name())
        {
            run(composition, &cli).await?;
        }
    }
    Ok(())
}

async fn run(composition: Composition, cli: &Cli) -> Result<(), Failure> {
    let stores = composition.open()?;
    let stored = Arc::new(StoreTimes::default());
    let mut ports = stores.ports.clone();
    ports.folds = Arc::new(Watched {
        inner: ports.folds,
        times: stored.clone(),
    });
    let kernel = Kernel::builder(ports, Role::All)
        .pipeline(pipeline(Ignore)?)
        .start()?;
    let tenant = TenantId::parse("bench")?;
    let mut intents = distinct(&tenant, cli.spans)?.into_iter().peekable();
    let mut sent: BTreeMap<String, Vec<Instant>> = BTreeMap::new();
    let every = Duration::from_secs(1) * u32::try_from(SPANS_PER_SEND)? / cli.rate;
    let first = Instant::now();
    let mut turn = 0;
    while intents.peek().is_some() {
        tokio::time::sleep_until(first + every * turn).await;
        turn += 1;
        let some: Vec<_> = intents.by_ref().take(SPANS_PER_SEND).collect();
        let now = Instant::now();
        for intent in &some {
            sent.entry(intent.payload.0.trace_id.clone())
                .or_default()
                .push(now);
        }
        kernel.send_all(some).await?;
    }
    kernel.caught_up(|_| {}).await?;
    let elapsed = first.elapsed();
    kernel.close().await;
    stores.close().await?;
    let times = stored.waits(&sent)?;
    Report::new("latency", composition.name())
        .figure("spans_count", times.count())
        .figure(
            "spans_per_second",
            (times.count() as f64 / elapsed.as_secs_f64()).round(),
        )
        .figure("applied_p50_ms", times.percentile_ms(50.0))
        .figure("applied_p99_ms", times.percentile_ms(99.0))
        .figure("applied_max_ms", times.percentile_ms(100.0))
        .print();
    Ok(())
}

/// The first distinct spans of the corpus.
fn distinct(tenant: &TenantId, spans: usize) -> Result<Vec<Intent<Declared<RecordSpan>>>, Failure> {
    let mut seen = BTreeSet::new();
    let mut intents = Vec::with_capacity(spans);
    for request in RequestReader::open(corpus_file("traces.otlp.jsonl.gz"))? {
        for span in request? {
            if intents.len() < spans && seen.insert((span.trace_id.clone(), span.span_id.clone())) {
                intents.push(Intent::new(tenant.clone(), occurred_at(&span), Declared(span)));
            }
        }
    }
    Ok(intents)
}

/// When each trace's row was first stored with so many events.
#[derive(Default)]
struct StoreTimes(Mutex<BTreeMap<String, Vec<(u64, Instant)>>>);

impl StoreTimes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<(u64, Instant)>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The n-th span that was sent of a trace is in as soon as its row holds n events: no row holds events that were not
    /// sent, so if another one of the trace came first, the sum of the waits is the same.
    fn waits(&self, sent: &BTreeMap<String, Vec<Instant>>) -> Result<Times, Failure> {
        let stored = self.lock();
        let mut times = Times::default();
        for (trace, sent) in sent {
            let rows = stored.get(trace).map(Vec::as_slice).unwrap_or_default();
            for (n, sent) in (1..).zip(sent) {
                let row = rows.iter().find(|(events, _)| *events >= n);
                let (_, at) = row.ok_or_else(|| format!("span {n} of trace {trace} was never applied"))?;
                times.add(at.saturating_duration_since(*sent));
            }
        }
        Ok(times)
    }
}

/// A fold store that notes when rows of the trace summary are stored.
struct Watched {
    inner: Arc<dyn FoldStore>,
    times: Arc<StoreTimes>,
}

#[async_trait]
impl FoldStore for Watched {
    async fn load(&self, keys: &[StateKey]) -> PortResult<Vec<Option<StateRow>>> {
        self.inner.load(keys).await
    }

    async fn store(&self, rows: Vec<StateRow>) -> Vec<PortResult<Stored>> {
        let noted: Vec<_> = rows
            .iter()
            .map(|row| (&*row.key.projection == "trace_summary").then(|| (row.key.key.clone(), row.events)))
            .collect();
        let answers = self.inner.store(rows).await;
        let now = Instant::now();
        let mut times = self.times.lock();
        for (noted, answer) in noted.into_iter().zip(&answers) {
            if let (Some((key, events)), Ok(Stored::Yes)) = (noted, answer) {
                times
                    .entry(trace_of(&key).to_owned())
                    .or_default()
                    .push((events, now));
            }
        }
        answers
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        from: Option<Cursor>,
        limits: Limits,
    ) -> PortResult<Page<StateRow>> {
        self.inner.list(tenant, projection, from, limits).await
    }
}

/// The id of the trace that a row's key names.
fn trace_of(key: &str) -> &str {
    key.rsplit_once(':').map_or(key, |(_, id)| id)
}
