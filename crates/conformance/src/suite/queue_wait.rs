//! Waiting for work.
use crate::{
    Fixture,
    kit::{Bed, JobExt, group, job, millis, secs, want},
};
use foldwright_ports::{GroupQueue, Ports, Rest};
use std::{sync::Arc, task::Poll, time::Duration};
use tokio::task::JoinSet;

/// When a case gives up on a wait that should have ended. No wait of these cases takes part of it.
const GIVE_UP: Duration = secs(60);

/// Longer than [`GIVE_UP`], so that only a wake-up ends the wait in time.
const LONG: Duration = secs(3_600);

/// Starts to wait; answers whether the wait is still going on.
async fn begin(ports: &Ports, at_most: Duration, tasks: &mut JoinSet<()>) -> bool {
    let queue: Arc<dyn GroupQueue> = Arc::clone(&ports.queue);
    let capabilities = want().capabilities;
    let mut waiting = Box::pin(async move { queue.wait(&capabilities, at_most).await.unwrap() });
    let going_on =
        std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_pending())).await;
    if going_on {
        tasks.spawn(waiting);
    }
    going_on
}

async fn ends(mut tasks: JoinSet<()>) {
    let ended = tokio::time::timeout(GIVE_UP, async {
        while let Some(one) = tasks.join_next().await {
            one.unwrap();
        }
    });
    ended.await.expect("the wait should have ended by now");
}

/// A wait may return early now and then, but one that never waits keeps a worker spinning.
async fn waits(bed: &Bed<'_>, tasks: &mut JoinSet<()>) {
    for _ in 0..5 {
        if begin(&bed.harness.ports, LONG, tasks).await {
            return;
        }
    }
    panic!("a wait on an empty queue waits");
}

/// a push wakes it, staged through its own or another handle.
pub async fn staging_wakes_a_waiting_worker(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let mut tasks = JoinSet::new();
    waits(&bed, &mut tasks).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    ends(tasks).await;
    bed.claim_one().await;
}

/// what waits already is reported at once.
pub async fn waiting_for_what_is_there_returns(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let mut tasks = JoinSet::new();
    waits(&bed, &mut tasks).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    ends(tasks).await;
    let mut tasks = JoinSet::new();
    begin(&bed.harness.ports, LONG, &mut tasks).await;
    ends(tasks).await;
    bed.claim_one().await;
}

/// Q-13, C-14: what it could not claim ends no wait: a worker must not spin on it.
pub async fn what_is_not_claimable_ends_no_wait(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for (n, key) in (0..).zip(["leased", "blocked", "retrying"]) {
        bed.stage_new(&[&job(n, &group(key)), &job(n + 10, &group(key))])
            .await;
    }
    for lease in bed.claim().await {
        let error = "bad".to_owned();
        let floor = Some(LONG);
        if lease.group == group("blocked") {
            bed.give_up(&lease, Rest::Quarantine { error }).await;
        } else if lease.group == group("retrying") {
            bed.give_up(&lease, Rest::Retry { floor, error }).await;
        }
    }
    bed.stage_new(&[&job(20, &group("stranded")).on("shop/map/strange")])
        .await;
    bed.stage_new(&[&job(21, &group("delayed")).delayed(LONG)]).await;
    let mut tasks = JoinSet::new();
    waits(&bed, &mut tasks).await;
    bed.stage_new(&[&job(22, &group("due"))]).await;
    ends(tasks).await;
    assert_eq!(bed.claim_one().await.group, group("due"));
}

/// a lost push is covered by the bound.
pub async fn a_wait_ends_by_its_bound(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let mut tasks = JoinSet::new();
    waits(&bed, &mut tasks).await;
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}
    begin(&bed.harness.ports, millis(50), &mut tasks).await;
    bed.elapse(millis(51)).await;
    ends(tasks).await;
}

/// a delayed job wakes it when it becomes due.
pub async fn a_delayed_job_wakes_at_its_time(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a")).delayed(millis(100))]).await;
    let mut tasks = JoinSet::new();
    begin(&bed.harness.ports, LONG, &mut tasks).await;
    bed.elapse(millis(100)).await;
    ends(tasks).await;
    bed.claim_one().await;
}

/// a group that opens again wakes it too.
pub async fn a_group_that_opens_wakes_a_worker(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for (n, end) in (0..).zip(["settle", "unblock", "requeue"]) {
        bed.stage_new(&[&job(10 * n, &group("a"))]).await;
        let lease = bed.claim_one().await;
        bed.stage_new(&[&job(10 * n + 1, &group("a"))]).await;
        let error = "bad".to_owned();
        match end {
            "unblock" => {
                let rest = Rest::Quarantine { error };
                bed.give_up(&lease, rest).await;
            }
            "requeue" => {
                let rest = Rest::DeadLetter { error };
                bed.give_up(&lease, rest).await;
                let lease = bed.claim_one().await;
                bed.complete(&lease).await;
            }
            _ => {}
        }
        let mut tasks = JoinSet::new();
        waits(&bed, &mut tasks).await;
        match end {
            "unblock" => assert!(bed.admin().unblock(&group("a")).await.unwrap()),
            "requeue" => {
                let id = job(10 * n, &group("a")).id;
                assert!(bed.admin().requeue(&group("a").tenant, id).await.unwrap());
            }
            _ => bed.complete(&lease).await,
        }
        ends(tasks).await;
        let lease = bed.claim_one().await;
        bed.complete(&lease).await;
    }
}
