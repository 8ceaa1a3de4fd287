//! What a sender learns of its commands.
use crate::support::{
    Bench, Double, End, Ends, Faults, Finish, Hook, Hooked, Note, Odds, Op, Parity, Run, RunEvent, Story,
    Take, Total, Totals, What, at, double, finish, idle, key, keyed_note, note, take, tenant,
};
use foldwright_domain::{ByOccurrence, Fold, Intent, Recorded};
use foldwright_ports::Kind;
use foldwright_runtime::{Answered, Pipeline, Receipt, ReceiptError, ReceiptKey, Role, StoredEvents};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .command::<Hooked>()
        .decider::<Take>()
        .decider::<Double>()
        .decider::<End>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .fold::<Ends>(|f| f)
        .keyed::<Parity>(|f| f)
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}

fn stored(receipt: &Receipt, run: &str, events: usize) -> StoredEvents {
    StoredEvents {
        stream: key::<Run>("a", run).erase(),
        ids: (0..events).map(|n| receipt.command.event(n).unwrap()).collect(),
    }
}

fn end_times(run: &str, times: usize) -> Intent<Finish> {
    let run = run.into();
    Intent::new(tenant("a"), at(0), Finish { run, times })
}

fn hooked(run: &str, then: Hook) -> Intent<Hooked> {
    let run = run.into();
    Intent::new(tenant("a"), at(0), Hooked { run, then })
}

/// C-01, C-04, C-06: events, nothing, a rejection, a duplicate; of handlers and of deciders.
#[tokio::test(start_paused = true)]
async fn who_asks_is_answered_whatever_it_is() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let two = kernel.ask(end_times("two", 2)).await.unwrap();
    assert_eq!(
        two.decided(SECOND).await.unwrap(),
        Answered::Events(stored(&two, "two", 2))
    );
    let none = kernel.ask(end_times("none", 0)).await.unwrap();
    assert_eq!(none.decided(SECOND).await.unwrap(), Answered::NoEvents);
    let no = kernel.ask(end_times("no", 1)).await.unwrap();
    assert!(matches!(no.decided(SECOND).await.unwrap(), Answered::Rejected(_)));
    let first = kernel.ask(keyed_note("r", 1, 7, "k")).await.unwrap();
    let again = kernel.ask(keyed_note("r", 1, 7, "k")).await.unwrap();
    let of_first = stored(&first, "r", 1);
    assert_eq!(
        first.decided(SECOND).await.unwrap(),
        Answered::Events(of_first.clone())
    );
    assert_eq!(
        again.decided(SECOND).await.unwrap(),
        Answered::Duplicate(of_first)
    );
    let doubled = kernel.ask(double("d", 1, 1)).await.unwrap();
    assert_eq!(
        doubled.decided(SECOND).await.unwrap(),
        Answered::Events(stored(&doubled, "d", 1))
    );
    let enough = kernel.ask(double("d", 2, 1)).await.unwrap();
    assert_eq!(enough.decided(SECOND).await.unwrap(), Answered::NoEvents);
    assert_eq!(kernel.answer(&enough).await.unwrap(), Some(Answered::NoEvents));
    let full = kernel.ask(take("d", 3, 1)).await.unwrap();
    assert!(matches!(
        full.decided(SECOND).await.unwrap(),
        Answered::Rejected(_)
    ));
    // Each of them may be asked again for a minute, and events for as long as the log holds them.
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(kernel.answer(&enough).await.unwrap(), None);
    assert_eq!(
        two.decided(SECOND).await.unwrap(),
        Answered::Events(stored(&two, "two", 2))
    );
    let forgotten = enough.decided(SECOND).await.unwrap_err();
    assert!(matches!(forgotten, ReceiptError::Unknown), "{forgotten}");
}

/// C-04: who only sends finds events and rejections, and of nothing learns nothing.
#[tokio::test(start_paused = true)]
async fn who_sends_finds_events_and_rejections() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let two = kernel.send(end_times("two", 40)).await.unwrap();
    assert_eq!(
        two.decided(SECOND).await.unwrap(),
        Answered::Events(stored(&two, "two", 40))
    );
    assert_eq!(kernel.answer(&two).await.unwrap(), None, "no row was kept for it");
    let no = kernel.send(end_times("no", 1)).await.unwrap();
    assert!(matches!(no.decided(SECOND).await.unwrap(), Answered::Rejected(_)));
    let none = kernel.send(end_times("none", 0)).await.unwrap();
    assert!(none.decided(SECOND).await.is_err());
    let receipts = kernel.ask_all([note("r", 1, 1), note("r", 2, 2)]).await.unwrap();
    for receipt in receipts {
        assert!(matches!(
            receipt.decided(SECOND).await.unwrap(),
            Answered::Events(_)
        ));
    }
}

/// C-01: a wait ends at its time, and can be dropped at any.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_in_time() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    let receipt = web.ask(note("r", 1, 1)).await.unwrap();
    let begun = Instant::now();
    let error = receipt.decided(Duration::from_secs(5)).await.unwrap_err();
    assert!(matches!(error, ReceiptError::TimedOut { .. }), "{error}");
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    let error = receipt.applied::<Totals>(SECOND).await.unwrap_err();
    assert!(matches!(error, ReceiptError::TimedOut { .. }), "{error}");
    let dropped = tokio::time::timeout(Duration::from_millis(77), receipt.decided(SECOND)).await;
    assert!(dropped.is_err());
    let (waiting, worker) = tokio::join!(receipt.decided(Duration::from_secs(60)), async {
        tokio::time::sleep(SECOND).await;
        bench
            .with_role(Role::Worker)
            .pipeline(pipeline())
            .start()
            .unwrap()
    });
    assert_eq!(waiting.unwrap(), Answered::Events(stored(&receipt, "r", 1)));
    worker.close().await;
}

/// The looks of a wait of a minute are few.
#[tokio::test(start_paused = true)]
async fn waiting_is_no_flood_of_looks() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let web = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    faults.always(Op::Claim, "", What::Fail(Kind::Unavailable));
    let receipt = web.ask(note("r", 1, 1)).await.unwrap();
    assert!(receipt.decided(Duration::from_secs(60)).await.is_err());
    let looks = faults.count(Op::Answer, "");
    assert!((200..300).contains(&looks), "{looks} looks");
}

/// C-01: a fold has applied it when its row says so, each kind of fold in its own place.
#[tokio::test(start_paused = true)]
async fn applied_waits_for_the_fold_that_is_named() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::StoreRows, "totals/", What::FailItems(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    let receipt = kernel.ask(note("r", 1, 7)).await.unwrap();
    let events = Answered::Events(stored(&receipt, "r", 1));
    assert_eq!(receipt.applied::<Story>(SECOND).await.unwrap(), events);
    assert_eq!(bench.state::<Story>("r").await, Some(vec![7]));
    assert_eq!(receipt.applied::<Parity>(SECOND).await.unwrap(), events);
    assert_eq!(bench.keyed::<Parity>(&1).await, Some(Total { events: 1, sum: 7 }));
    // `ends` reads no number: nothing to wait for.
    assert_eq!(receipt.applied::<Ends>(SECOND).await.unwrap(), events);
    assert_eq!(bench.state::<Ends>("r").await, None);
    let error = receipt
        .applied::<Totals>(Duration::from_secs(10))
        .await
        .unwrap_err();
    assert!(matches!(error, ReceiptError::TimedOut { .. }), "{error}");
    faults.clear();
    assert_eq!(
        receipt.applied::<Totals>(Duration::from_secs(60)).await.unwrap(),
        events
    );
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 1, sum: 7 })
    );
    // Without events there is nothing to wait for either.
    let none = kernel.ask(end_times("none", 0)).await.unwrap();
    assert_eq!(none.applied::<Totals>(SECOND).await.unwrap(), Answered::NoEvents);
    let no = kernel.ask(end_times("no", 1)).await.unwrap();
    assert!(matches!(
        no.applied::<Totals>(SECOND).await.unwrap(),
        Answered::Rejected(_)
    ));
}

/// A row holds other events of its aggregate and not this one: it is not applied.
#[tokio::test(start_paused = true)]
async fn applied_is_about_the_events_themselves() {
    let bench = Bench::new();
    let first = bench.kernel().pipeline(pipeline()).start().unwrap();
    first.send(note("r", 10, 1)).await.unwrap();
    idle(&first).await;
    first.close().await;
    let faults = Arc::new(Faults::new());
    faults.times(Op::StoreRows, "totals/", 0, 3, What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    // Earlier than what the row holds already, in the same aggregate.
    let receipt = kernel.ask(note("r", 5, 2)).await.unwrap();
    receipt.decided(SECOND).await.unwrap();
    let error = receipt.applied::<Totals>(SECOND).await.unwrap_err();
    assert!(matches!(error, ReceiptError::TimedOut { .. }), "{error}");
    assert_eq!(bench.state::<Totals>("r").await.unwrap().events, 1);
    receipt.applied::<Totals>(Duration::from_secs(60)).await.unwrap();
    assert_eq!(bench.state::<Totals>("r").await.unwrap().events, 2);
}

/// Behind so many newer events that the row only keeps a filter of it: the log tells.
#[tokio::test(start_paused = true)]
async fn applied_is_exact_for_what_a_row_holds_in_its_filter() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let receipt = kernel.ask(note("r", 1, 7)).await.unwrap();
    receipt.applied::<Totals>(SECOND).await.unwrap();
    for _ in 0..3 {
        finish(&kernel, "r", 3_000).await;
    }
    idle(&kernel).await;
    let events = Answered::Events(stored(&receipt, "r", 1));
    assert_eq!(receipt.applied::<Totals>(SECOND).await.unwrap(), events);
    assert_eq!(receipt.applied::<Parity>(SECOND).await.unwrap(), events);
    let last = kernel.ask(note("r", 2, 9)).await.unwrap();
    last.applied::<Totals>(SECOND).await.unwrap();
}

/// Not registered under this name, or of another type.
enum Other {}

impl Fold for Other {
    type On = RunEvent;
    type State = u64;
    type Order = ByOccurrence;
    const NAME: &'static str = "story";
    const VERSION: u32 = 1;

    fn init() -> u64 {
        0
    }

    fn apply(count: u64, _: &Recorded<RunEvent>) -> u64 {
        count + 1
    }
}

#[tokio::test(start_paused = true)]
async fn a_fold_that_nobody_declares_is_an_error_at_once() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let receipt = kernel.ask(note("r", 1, 7)).await.unwrap();
    let error = receipt.applied::<Other>(SECOND).await.unwrap_err();
    assert!(
        matches!(error, ReceiptError::NoSuchFold { fold: "story" }),
        "{error}"
    );
}

/// T-01, G11: another process makes the receipt again, for its own tenant alone.
#[tokio::test(start_paused = true)]
async fn a_receipt_passes_to_another_process_and_to_no_other_tenant() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    let receipt = web.ask(take("r", 1, 5)).await.unwrap();
    let text = serde_json::to_string(&receipt.key()).unwrap();
    drop(receipt);
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let read: ReceiptKey = serde_json::from_str(&text).unwrap();
    let again = kernel.receipt(&tenant("a"), &read).unwrap();
    assert_eq!(
        again.applied::<Totals>(SECOND).await.unwrap(),
        Answered::Events(stored(&again, "r", 1))
    );
    let error = kernel.receipt(&tenant("b"), &read).unwrap_err();
    assert_eq!(error.kind(), Kind::Security);
    // A forged key says it is the other tenant's own: it finds nothing of the first.
    let forged: ReceiptKey =
        serde_json::from_str(&text.replace(r#""tenant":"a""#, r#""tenant":"b""#)).unwrap();
    let forged = kernel.receipt(&tenant("b"), &forged).unwrap();
    let error = forged.decided(SECOND).await.unwrap_err();
    assert!(matches!(error, ReceiptError::Unknown), "{error}");
    assert!(
        serde_json::from_str::<ReceiptKey>(&text.replace(r#""tenant":"a""#, r#""tenant":"a/b""#)).is_err()
    );
    let unknown: ReceiptKey = serde_json::from_str(&text.replace("take", "give")).unwrap();
    assert_eq!(
        kernel.receipt(&tenant("a"), &unknown).unwrap_err().kind(),
        Kind::Invalid
    );
}

/// C-15, R-20: who waits for a command that keeps failing learns so, and of a quarantined one at once.
#[tokio::test(start_paused = true)]
async fn a_command_that_fails_is_answered_as_such() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let receipt = kernel.ask(take("r", 13, 5)).await.unwrap();
    let error = receipt.decided(SECOND).await.unwrap_err();
    assert!(
        matches!(&error, ReceiptError::Failing { error } if error.contains("13 is not decided")),
        "{error}"
    );
    let begun = Instant::now();
    let error = receipt
        .decided(Duration::from_secs(30 * 24 * 60 * 60))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, ReceiptError::Quarantined { error } if error.contains("13")),
        "{error}"
    );
    assert!(begun.elapsed() < Duration::from_secs(3 * 60 * 60));
    let error = receipt.applied::<Totals>(Duration::MAX).await.unwrap_err();
    assert!(matches!(error, ReceiptError::Quarantined { .. }), "{error}");
    // What stands behind it waits.
    let behind = kernel.ask(take("r", 14, 5)).await.unwrap();
    let error = behind.decided(SECOND).await.unwrap_err();
    assert!(
        matches!(error, ReceiptError::TimedOut { why: Some(_) }),
        "{error}"
    );
}

/// C-04: what left the queue without an answer and without events is not known.
#[tokio::test(start_paused = true)]
async fn what_nobody_kept_is_not_known() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let receipt = kernel.send(hooked("r", Hook::Nothing)).await.unwrap();
    let error = receipt.decided(Duration::from_secs(60)).await.unwrap_err();
    assert!(matches!(error, ReceiptError::Unknown), "{error}");
    let asked = kernel.ask(hooked("r", Hook::Nothing)).await.unwrap();
    assert_eq!(asked.decided(SECOND).await.unwrap(), Answered::NoEvents);
    let key = serde_json::to_string(&asked.key())
        .unwrap()
        .replace("\"asked\":true", "\"asked\":false");
    let other = kernel
        .receipt(&tenant("a"), &serde_json::from_str(&key).unwrap())
        .unwrap();
    assert_eq!(other.decided(SECOND).await.unwrap(), Answered::NoEvents);
}
