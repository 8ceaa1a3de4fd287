//! Events whose large values are thinned before dispatch.
use crate::support::{
    Bench, Copies, Faults, KEPT, Lengths, Op, Page, PageEvent, Scribe, SuppleTexts, Texts, What, Write,
    Written, at, idle, noise, tenant, until,
};
use foldwright_domain::{AggregateId, Declared, Dispatch, EventSet, Intent, RawEvent, StreamKey, lean_text};
use foldwright_ports::{GroupId, Kind, Limits, Selection};
use foldwright_runtime::{Global, Pipeline};
use std::sync::{Arc, Mutex};

const MEGABYTE: usize = 1 << 20;

fn pipeline(scribe: &Arc<Mutex<Vec<String>>>) -> Pipeline<Page> {
    Pipeline::define("pages")
        .declares::<Write>()
        .fold::<Texts>(|f| f.subscriber(Scribe(scribe.clone()), Dispatch::each()))
        .fold::<SuppleTexts>(|f| f)
        .map::<Copies>(|m| m)
        .build()
        .unwrap()
}

fn globals() -> Global {
    Global::define("all").keyed::<Lengths>(|f| f).build().unwrap()
}

fn write(page: &str, ms: i64, text: String, key: Option<&str>) -> Intent<Declared<Write>> {
    let written = Written {
        page: page.into(),
        text,
        key: key.map(Into::into),
    };
    Intent::new(tenant("a"), at(ms), Declared(written))
}

/// What projections see of a text.
fn seen(text: &str) -> String {
    lean_text(text.into(), KEPT)
}

async fn logged(bench: &Bench, page: &str) -> Vec<RawEvent> {
    let stream = StreamKey {
        tenant: tenant("a"),
        aggregate_type: "page".into(),
        id: AggregateId::parse(page).unwrap(),
    };
    let limits = Limits::items(100);
    bench.ports.log.load(&stream, None, limits).await.unwrap().items
}

fn whole(event: &RawEvent) -> String {
    let PageEvent::Written(written) =
        PageEvent::decode(&event.meta.event_type, &event.meta.version, &event.data).unwrap();
    written.text
}

/// X-21: of all jobs only the command's has a body outside of it; every reader sees the same.
#[tokio::test(start_paused = true)]
async fn jobs_carry_the_thinned_event_and_the_log_holds_every_byte() {
    let bench = Bench::new();
    let heard = Arc::default();
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard))
        .global(globals())
        .start()
        .unwrap();
    let text = noise(MEGABYTE, 7);
    kernel.send(write("p", 0, text.clone(), None)).await.unwrap();
    idle(&kernel).await;
    let [hot, cold] = bench.bodies().await;
    assert_eq!((hot.len(), cold.len()), (0, 1), "the command's alone");
    assert_eq!(
        logged(&bench, "p").await.iter().map(whole).collect::<Vec<_>>(),
        [text.as_str()]
    );
    let thinned = seen(&text);
    assert!(thinned.ends_with("… [cut from 1048576 bytes]") && thinned.len() < 2 * KEPT);
    let state = serde_json::to_vec(&[&thinned]).unwrap();
    assert_eq!(bench.stored::<Texts>("p").await.unwrap().state, state);
    assert_eq!(bench.stored::<SuppleTexts>("p").await.unwrap().state, state);
    assert_eq!(bench.keyed::<Lengths>(&thinned.len()).await, Some(1));
    let records = bench
        .reader()
        .records::<Copies>(&tenant("a"), None, None, Limits::items(10))
        .await
        .unwrap();
    let records: Vec<_> = records.items.into_iter().map(|row| row.record).collect();
    assert_eq!(records, [thinned.as_str()]);
    assert_eq!(*heard.lock().unwrap(), [thinned]);
}

/// X-21, X-05: three events in order, and the same three each before the one that came last.
#[tokio::test(start_paused = true)]
async fn a_refold_makes_the_state_that_live_events_make_byte_for_byte() {
    let mut made = Vec::new();
    for order in [[1_i64, 2, 3], [3, 2, 1]] {
        let bench = Bench::new();
        let heard = Arc::default();
        let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
        for n in order {
            let text = noise(MEGABYTE, n.unsigned_abs());
            kernel.send(write("p", n * 10, text, None)).await.unwrap();
            idle(&kernel).await;
        }
        let refolds = kernel.counters().refolds.get();
        assert_eq!(refolds, if order[0] == 1 { 0 } else { 2 });
        let [hot, cold] = bench.bodies().await;
        assert_eq!((hot.len(), cold.len()), (0, 3), "the commands' alone");
        let mut heard = heard.lock().unwrap().clone();
        heard.sort_unstable();
        let texts = bench.stored::<Texts>("p").await.unwrap();
        let supple = bench.stored::<SuppleTexts>("p").await.unwrap();
        assert_eq!((texts.events, supple.events), (3, 3));
        assert_eq!(texts.state, supple.state);
        made.push((
            texts.state,
            texts.last_applied.map(|last| last.occurred_at),
            heard,
        ));
    }
    assert_eq!(made[0], made[1]);
    let all: Vec<_> = (1..=3).map(|n| seen(&noise(MEGABYTE, n))).collect();
    assert_eq!(made[0].0, serde_json::to_vec(&all).unwrap());
}

/// X-21, X-03: the write takes effect, its reply is lost, and the command comes twice.
#[tokio::test(start_paused = true)]
async fn a_thinned_event_that_comes_again_counts_once() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.times(Op::StoreRows, "texts", 0, 2, What::LoseReply(Kind::Timeout));
    let heard = Arc::default();
    let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
    let text = noise(MEGABYTE, 7);
    for _ in 0..2 {
        kernel
            .send(write("p", 0, text.clone(), Some("once")))
            .await
            .unwrap();
        idle(&kernel).await;
    }
    let row = bench.stored::<Texts>("p").await.unwrap();
    assert_eq!(
        (row.events, &row.state[..]),
        (1, &*serde_json::to_vec(&[seen(&text)]).unwrap())
    );
    assert_eq!(logged(&bench, "p").await.len(), 1);
}

/// X-21: two events that look alike when they are thinned are two facts, or one fact that was sent with other data.
#[tokio::test(start_paused = true)]
async fn identity_and_conflicts_go_by_the_whole_event() {
    let bench = Bench::new();
    let heard = Arc::default();
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    let text = "x".repeat(MEGABYTE);
    let mut other = text.clone();
    other.replace_range(MEGABYTE - 1.., "y");
    assert_eq!(seen(&text), seen(&other));
    for (key, text) in [("one", &text), ("two", &other), ("one", &other)] {
        kernel.send(write("p", 0, text.clone(), Some(key))).await.unwrap();
        idle(&kernel).await;
    }
    assert_eq!(bench.stored::<Texts>("p").await.unwrap().events, 2);
    let mut found: Vec<_> = logged(&bench, "p").await.iter().map(whole).collect();
    found.sort_unstable();
    assert_eq!(found, [text, other]);
}

/// X-21, R-20: the command is not held up, and the log has the event.
#[tokio::test(start_paused = true)]
async fn a_panic_in_thinning_makes_an_event_that_cannot_be_read() {
    let bench = Bench::new();
    let heard = Arc::default();
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    kernel.send(write("bad", 0, "boom".into(), None)).await.unwrap();
    kernel.send(write("good", 0, "fine".into(), None)).await.unwrap();
    let failures = async |page: &str| {
        let group = GroupId {
            tenant: tenant("a"),
            path: "fold/texts".into(),
            key: format!("page:{page}").into(),
        };
        let view = bench.ports.queue_admin.group(&group).await.unwrap();
        view.map_or(0, |view| view.failures)
    };
    until(async || failures("bad").await >= 3).await;
    until(async || bench.stored::<Texts>("good").await.is_some()).await;
    assert_eq!(failures("good").await, 0);
    assert_eq!(logged(&bench, "bad").await.len(), 1);
    assert!(bench.stored::<Texts>("bad").await.is_none());
    assert_eq!(bench.stored::<Texts>("good").await.unwrap().state, r#"["fine"]"#);
}

/// X-21: a whole selection of the log is what was written, whatever projections see.
#[tokio::test(start_paused = true)]
async fn a_restaged_event_is_thinned_again() {
    let bench = Bench::new();
    let heard = Arc::default();
    let text = noise(MEGABYTE, 7);
    let plain = Pipeline::<Page>::define("pages")
        .declares::<Write>()
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(plain).start().unwrap();
    kernel.send(write("p", 0, text.clone(), None)).await.unwrap();
    idle(&kernel).await;
    kernel.close().await;
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    let all = Selection::all(tenant("a"));
    kernel.operator().restage(&all, at(-1), None, 100).await.unwrap();
    idle(&kernel).await;
    let [hot, cold] = bench.bodies().await;
    assert_eq!((hot.len(), cold.len()), (0, 1), "the command's alone");
    let state = serde_json::to_vec(&[seen(&text)]).unwrap();
    assert_eq!(bench.stored::<Texts>("p").await.unwrap().state, state);
}
