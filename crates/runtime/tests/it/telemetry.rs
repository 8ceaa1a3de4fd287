//! What a kernel shows of itself: traces and metrics.
use crate::support::{
    All, Bench, Ear, Faults, Finish, Heard, Note, Noted, Odds, Op, Reaction, Run, Total, Totals, What, at,
    finish, idle, note, tenant, until,
};
use foldwright_domain::{Declared, Dispatch, Intent, Origin};
use foldwright_ports::{Capabilities, Capability, Kind, Limits, Nonce, Route, Selection, Want, WorkerId};
use foldwright_runtime::{Pipeline, Propagation, Role, TARGET};
use metrics::{Key, SharedString, Unit, set_default_local_recorder};
use metrics_util::{
    CompositeKey,
    debugging::{DebugValue, DebuggingRecorder},
};
use std::{
    collections::BTreeSet,
    fmt::Debug,
    sync::{Arc, Mutex},
    time::Duration,
};
use tracing::{
    Span, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span,
};
use tracing_subscriber::{Layer, layer::Context, prelude::*, registry::LookupSpan};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A span of the kernel: its name and its trace.
#[derive(Clone, Default)]
struct Seen {
    name: &'static str,
    trace_id: String,
}

/// Keeps the kernel's spans.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Seen>>>);

struct Place(usize);

struct TraceId<'a>(&'a mut String);

impl Visit for TraceId<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "trace_id" {
            *self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        if attributes.metadata().target() == TARGET {
            let mut spans = self.0.lock().unwrap();
            context
                .span(id)
                .unwrap()
                .extensions_mut()
                .insert(Place(spans.len()));
            spans.push(Seen {
                name: attributes.metadata().name(),
                trace_id: String::new(),
            });
        }
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        if let Some(Place(at)) = span.extensions().get() {
            values.record(&mut TraceId(&mut self.0.lock().unwrap()[*at].trace_id));
        }
    }
}

impl Spans {
    fn listen(&self) -> tracing::subscriber::DefaultGuard {
        tracing_subscriber::registry().with(self.clone()).set_default()
    }

    fn names(&self) -> BTreeSet<&'static str> {
        self.0.lock().unwrap().iter().map(|span| span.name).collect()
    }

    fn count(&self, name: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|span| span.name == name)
            .count()
    }

    fn traces(&self) -> BTreeSet<String> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .map(|span| span.trace_id.clone())
            .collect()
    }
}

fn pipeline(heard: &Arc<Heard<Total>>, dispatch: Dispatch) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(heard), dispatch))
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}

fn traced(n: u64) -> Intent<Declared<Note>> {
    let context = format!("00-{TRACE}-00f067aa0ba902b7-01");
    Intent {
        origin: Origin {
            trace_context: Some(context.into()),
            ..Origin::default()
        },
        ..note("r", 1, n)
    }
}

/// G-01: from the send to the effect, over a retry and three kernels.
#[tokio::test(start_paused = true)]
async fn what_follows_from_a_command_is_one_trace() {
    let spans = Spans::default();
    let _listening = spans.listen();
    let (bench, heard) = (Bench::new(), Heard::new());
    heard.react([Reaction::RetryAfter(Duration::from_secs(60))]);
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    web.send(note("r", 1, 1)).await.unwrap();
    let first = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    until(async || heard.calls() == 1).await;
    first.close().await;
    let second = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    idle(&second).await;
    assert_eq!(heard.numbers(), [1]);
    assert_eq!(spans.names(), ["append", "effect", "job", "send"].into());
    // The command, the fold, the map, and the subscriber twice.
    assert_eq!((spans.count("job"), spans.count("effect")), (5, 2));
    let traces = spans.traces();
    assert!(
        traces.len() == 1 && traces.iter().all(|id| id.len() == 32),
        "{traces:?}"
    );
    web.send(note("s", 2, 2)).await.unwrap();
    idle(&second).await;
    assert_eq!(spans.traces().len(), 2, "another command has another trace");
}

/// G-01: the sender's own trace goes on.
#[tokio::test(start_paused = true)]
async fn a_trace_that_came_with_a_command_goes_on() {
    let spans = Spans::default();
    let _listening = spans.listen();
    let (bench, heard) = (Bench::new(), Heard::new());
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(traced(1)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(spans.count("effect"), 1);
    assert_eq!(spans.traces(), [TRACE.to_owned()].into());
}

/// Nobody listens, so no trace is begun; one that came goes on with what follows.
#[tokio::test(start_paused = true)]
async fn without_a_listener_no_trace_is_begun() {
    let deaf = tracing_subscriber::registry().with(LevelFilter::OFF);
    let _nobody = deaf.set_default();
    let (bench, heard) = (Bench::new(), Heard::new());
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("q", 0, 1)).await.unwrap();
    kernel.send(traced(2)).await.unwrap();
    idle(&kernel).await;
    let all = Selection::all(tenant("a"));
    let log = bench.ports.log.scan(&all, None, Limits::items(10)).await.unwrap();
    let contexts: Vec<_> = log
        .items
        .iter()
        .map(|event| event.meta.trace_context.as_deref())
        .collect();
    assert_eq!(contexts.len(), 2);
    assert_eq!(contexts[0], None);
    assert!(
        contexts[1].is_some_and(|context| context.contains(TRACE)),
        "{contexts:?}"
    );
}

/// Says which trace every span is of.
struct Own {
    asked: Mutex<Vec<String>>,
}

const OWN: &str = "00-0000000000000000000000000000000a-000000000000000b-01";

impl Propagation for Own {
    fn go_on(&self, _span: &Span, context: &str) {
        self.asked.lock().unwrap().push(context.to_owned());
    }

    fn context_of(&self, _span: &Span) -> Option<Arc<str>> {
        Some(OWN.into())
    }
}

/// G-01: a tracing system of the user's own is asked.
#[tokio::test(start_paused = true)]
async fn a_propagation_of_ones_own_is_asked() {
    let spans = Spans::default();
    let _listening = spans.listen();
    let (bench, heard) = (Bench::new(), Heard::new());
    let own = Arc::new(Own {
        asked: Mutex::default(),
    });
    let kernel = bench
        .kernel()
        .propagation(own.clone())
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(traced(1)).await.unwrap();
    idle(&kernel).await;
    let asked = own.asked.lock().unwrap();
    assert!(
        asked[0].contains(TRACE),
        "the send goes on the sender's: {asked:?}"
    );
    assert!(
        asked.len() > 4 && asked[1..].iter().all(|context| context == OWN),
        "{asked:?}"
    );
}

struct Broken;

impl Propagation for Broken {
    fn go_on(&self, _span: &Span, _context: &str) {
        panic!("the tracing system is broken");
    }

    fn context_of(&self, _span: &Span) -> Option<Arc<str>> {
        panic!("the tracing system is broken");
    }
}

/// G-09: a tracing system that panics stops no work.
#[tokio::test(start_paused = true)]
async fn a_broken_propagation_stops_no_work() {
    let spans = Spans::default();
    let _listening = spans.listen();
    let (bench, heard) = (Bench::new(), Heard::new());
    let kernel = bench
        .kernel()
        .propagation(Arc::new(Broken))
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(traced(1)).await.unwrap();
    idle(&kernel).await;
    assert_eq!((heard.runs().len(), heard.calls()), (1, 1));
}

/// What a recorder was told, by metric and labels. It forgets what it has shown.
struct Shown(Vec<(CompositeKey, Option<Unit>, Option<SharedString>, DebugValue)>);

impl Shown {
    fn take(recorder: &DebuggingRecorder) -> Self {
        Self(recorder.snapshotter().snapshot().into_vec())
    }

    /// The gauge of a metric whose labels contain these.
    fn gauge(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let is_it = |key: &Key| {
            let has = |(name, value): &(&str, &str)| {
                key.labels()
                    .any(|label| label.key() == *name && label.value() == *value)
            };
            key.name() == name && labels.iter().all(has)
        };
        let found = self.0.iter().find(|(key, ..)| is_it(key.key()));
        found.and_then(|(.., value)| match value {
            DebugValue::Gauge(gauge) => Some(gauge.into_inner()),
            _ => None,
        })
    }
}

/// G-02: refused for want of room; out of the window of scores.
#[tokio::test(start_paused = true)]
async fn what_is_refused_or_out_of_its_time_is_counted() {
    let (bench, heard, faults) = (Bench::new(), Heard::new(), Arc::new(Faults::new()));
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    let counters = kernel.counters();
    faults.once(Op::Stage, "", What::Fail(Kind::Full));
    kernel.send(note("r", 0, 0)).await.unwrap_err();
    assert_eq!(counters.full.get(), 1);
    let day = 24 * 60 * 60 * 1_000;
    kernel.send(note("r", 1, 2)).await.unwrap();
    assert_eq!(counters.wild_scores.get(), 0);
    for ms in [6 * 60 * 1_000, -2 * day] {
        let then = bench.ports.clock.now().0 - at(0).0;
        kernel.send(note("r", then + ms, 4)).await.unwrap();
    }
    assert_eq!(counters.wild_scores.get(), 2);
    kernel.close().await;
}

/// G-02: a lease that lapses under its worker.
#[tokio::test(start_paused = true)]
async fn a_lease_that_is_lost_is_counted() {
    let (bench, heard, faults) = (Bench::new(), Heard::new(), Arc::new(Faults::new()));
    heard.react([Reaction::Slow(Duration::from_secs(100))]);
    faults.always(Op::Extend, "", What::Fail(Kind::Unavailable));
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    until(async || kernel.counters().leases_lost.get() >= 1).await;
    assert!(kernel.counters().leases_lapsed.get() >= 1);
}

/// G-02: workers that die of a group.
#[tokio::test(start_paused = true)]
async fn deaths_and_poison_are_counted() {
    let bench = Bench::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&Heard::new(), Dispatch::each()))
        .start()
        .unwrap();
    let other = Pipeline::<Run>::define("others")
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let kernel = bench.with_role(Role::Worker).pipeline(other).start().unwrap();
    finish(&web, "r", 1).await;
    let route = Route::parse("runs/command/finish").unwrap();
    let capabilities = Capabilities {
        routes: [(route, Capability { version: 1 })].into(),
        format: 1,
    };
    let want = Want {
        capabilities: Arc::new(capabilities.clone()),
        max_groups: 1,
        max_jobs_per_group: 1,
        max_bytes: u64::MAX,
        lease: Duration::from_secs(30),
    };
    for n in 1..=3 {
        let (queue, worker) = (&bench.ports.queue, WorkerId(1_000 + n));
        let ttl = Duration::from_secs(15);
        queue.beat(worker, &capabilities, ttl).await.unwrap();
        let leases = queue.claim(Nonce(n), worker, &want).await.unwrap();
        assert_eq!(leases.len(), 1, "life {n}");
        until(async || kernel.counters().deaths_confirmed.get() == n as u64).await;
    }
    assert_eq!(kernel.counters().poisoned.get(), 1);
    let blocked = bench.blocked().await;
    assert!(blocked[0].error.contains('3'), "{}", blocked[0].error);
}

/// G-03: what is quarantined or stranded is not completed, and says of which route it is and why.
#[tokio::test(start_paused = true)]
async fn what_does_not_run_is_not_completed() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    heard.react([Reaction::Fatal]);
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    let part = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), Dispatch::each()))
        .build()
        .unwrap();
    let worker = bench.with_role(Role::Worker).pipeline(part).start().unwrap();
    web.send(note("r", 0, 1)).await.unwrap();
    finish(&web, "r", 1).await;
    until(async || !bench.blocked().await.is_empty()).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let blocked = bench.blocked().await;
    let route = blocked[0].route.clone();
    let shown = Shown::take(&recorder);
    let labels = [
        ("pipeline", "runs"),
        ("kind", route.kind()),
        ("name", route.name()),
        ("state", "blocked"),
    ];
    assert_eq!(shown.gauge("foldwright_queue_jobs", &labels), Some(1.0));
    assert_eq!(shown.gauge("foldwright_queue_stranded_jobs", &[]), Some(1.0));
    worker.close().await;
}

/// G-03, the counters of the same: a look takes them with it, so it is the only one.
#[tokio::test(start_paused = true)]
async fn a_quarantined_job_counts_by_its_reason() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    heard.react([Reaction::Fatal]);
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    until(async || !bench.blocked().await.is_empty()).await;
    let route = bench.blocked().await[0].route.clone();
    kernel.close().await;
    let (mut completed, mut reasons) = (0, BTreeSet::new());
    for (key, _, _, value) in recorder.snapshotter().snapshot().into_vec() {
        let label = |name: &str| {
            let mut labels = key.key().labels();
            labels
                .find(|label| label.key() == name)
                .map(|label| label.value().to_owned())
        };
        let DebugValue::Counter(count) = value else {
            continue;
        };
        if label("kind").as_deref() != Some(route.kind()) || label("name").as_deref() != Some(route.name()) {
            continue;
        }
        assert_eq!(label("pipeline").as_deref(), Some("runs"));
        match key.key().name() {
            "foldwright_jobs_completed_total" => completed += count,
            "foldwright_leases_not_completed_total" if count > 0 => {
                reasons.insert((label("reason").unwrap(), count));
            }
            _ => {}
        }
    }
    assert_eq!((completed, reasons), (0, [("quarantined".to_owned(), 1)].into()));
}

/// G-05: however many aggregates and tenants, there are as many series as routes make.
#[tokio::test(start_paused = true)]
async fn series_do_not_grow_with_aggregates_and_tenants() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let bench = Bench::new();
    let totals = || {
        Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .fold::<Totals>(|f| f)
            .build()
            .unwrap()
    };
    let kernel = bench.kernel().pipeline(totals()).start().unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    idle(&kernel).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let before = Shown::take(&recorder).0.len();
    let of = |n: u64| {
        let noted = Noted {
            run: format!("r{n}"),
            n: 1,
            key: None,
        };
        Intent::new(tenant(&format!("t{}", n % 1_000)), at(0), Declared::<Note>(noted))
    };
    kernel.send_all((0..10_000).map(of)).await.unwrap();
    idle(&kernel).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(Shown::take(&recorder).0.len(), before);
    kernel.close().await;
}
