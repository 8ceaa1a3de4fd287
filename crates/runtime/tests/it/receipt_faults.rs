//! Receipts while processes die and stores are lost.
use crate::support::{
    Bench, Faults, Finish, Note, Op, Run, Story, Take, Totals, What, at, key, take, tenant,
};
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::Intent;
use foldwright_ports::{Kind, Ports, QueueSettings};
use foldwright_runtime::{Answered, Kernel, Pipeline, ReceiptError, Role, StoredEvents};
use std::{sync::Arc, time::Duration};

const SECOND: Duration = Duration::from_secs(1);

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .decider::<Take>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .build()
        .unwrap()
}

/// C-02: the process died between append and settle: the decision stands, and the receipt finds it before the command runs
/// again.
#[tokio::test(start_paused = true)]
async fn a_decision_whose_process_died_is_found_in_the_log() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::Settle, "command/", What::Hang);
    let first = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    let receipt = first.ask(take("r", 7, 1)).await.unwrap();
    faults.hung(1).await;
    let sent = receipt.key();
    drop(first);
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    let receipt = web.receipt(&tenant("a"), &sent).unwrap();
    let events = Answered::Events(StoredEvents {
        stream: key::<Run>("a", "r").erase(),
        ids: vec![receipt.command.event(0).unwrap()],
    });
    assert_eq!(receipt.decided(SECOND).await.unwrap(), events);
    let error = receipt.applied::<Totals>(SECOND).await.unwrap_err();
    assert!(matches!(error, ReceiptError::TimedOut { .. }), "{error}");
    let (applied, second) = tokio::join!(receipt.applied::<Totals>(Duration::from_secs(120)), async {
        bench.kernel().pipeline(pipeline()).start().unwrap()
    });
    assert_eq!(applied.unwrap(), events);
    assert_eq!(receipt.decided(SECOND).await.unwrap(), events);
    second.close().await;
}

/// A store that is away for a while is waited for; at the end of the time it is named.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_is_waited_for() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.times(Op::Answer, "", 0, 6, What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    let receipt = kernel.ask(take("r", 7, 1)).await.unwrap();
    assert!(matches!(
        receipt.decided(SECOND).await.unwrap(),
        Answered::Events(_)
    ));
    faults.times(Op::LoadRows, "totals", 0, 3, What::Fail(Kind::Timeout));
    assert!(receipt.applied::<Totals>(SECOND).await.is_ok());
    faults.always(Op::Answer, "", What::Fail(Kind::Unavailable));
    let error = receipt.decided(SECOND).await.unwrap_err();
    assert!(
        matches!(&error, ReceiptError::Store(e) if e.kind() == Kind::Unavailable),
        "{error}"
    );
    faults.clear();
    faults.always(Op::Answer, "", What::Fail(Kind::Closed));
    let error = receipt.decided(Duration::MAX).await.unwrap_err();
    assert!(
        matches!(&error, ReceiptError::Store(e) if e.kind() == Kind::Closed),
        "{error}"
    );
}

/// A queue that lost what it held: what is in the log is known, the rest is not.
#[tokio::test(start_paused = true)]
async fn a_queue_that_lost_its_jobs_leaves_what_the_log_says() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let stored = kernel.ask(take("r", 7, 9)).await.unwrap();
    stored.applied::<Story>(SECOND).await.unwrap();
    kernel.close().await;
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    let lost = web.ask(take("r", 8, 9)).await.unwrap();
    let empty = Memory::new(Arc::new(VirtualClock::new(at(0))), QueueSettings::default()).ports();
    let ports = Ports {
        queue: empty.queue,
        queue_admin: empty.queue_admin,
        ..bench.ports.clone()
    };
    let kernel = Kernel::builder(ports, Role::All)
        .pipeline(pipeline())
        .start()
        .unwrap();
    let again = kernel.receipt(&tenant("a"), &stored.key()).unwrap();
    assert!(matches!(
        again.applied::<Story>(SECOND).await.unwrap(),
        Answered::Events(_)
    ));
    let again = kernel.receipt(&tenant("a"), &lost.key()).unwrap();
    let error = again.applied::<Story>(Duration::from_secs(60)).await.unwrap_err();
    assert!(matches!(error, ReceiptError::Unknown), "{error}");
}

/// A queue that is full gives the intent back and says when to come again.
///
/// B-24
#[tokio::test(start_paused = true)]
async fn a_full_queue_says_when_to_come_back() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::Stage, "", What::Fail(Kind::Full));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    let error = kernel.ask(take("r", 7, 1)).await.unwrap_err();
    assert_eq!(error.refused.retry_after(), Some(SECOND));
    assert!(error.refused.is_retryable() && !error.refused.outcome_is_unknown());
    let intent: Intent<Take> = error.intents.into_iter().next().unwrap();
    let receipt = kernel.ask(intent).await.unwrap();
    assert!(matches!(
        receipt.decided(SECOND).await.unwrap(),
        Answered::Events(_)
    ));
}
