//! One trace from the send to the effect.
use super::{pipeline, spans::Spans};
use crate::support::{Bench, Heard, Note, Reaction, idle, note, tenant, until};
use foldwright_domain::{Declared, Dispatch, Intent, Origin};
use foldwright_ports::{Limits, Selection};
use foldwright_runtime::{Propagation, Role};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tracing::{Span, level_filters::LevelFilter};
use tracing_subscriber::prelude::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

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
