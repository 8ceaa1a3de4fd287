//! Workers as the queue knows them.
use crate::{
    Fixture,
    kit::{Bed, FOLD, MAP, WORKER, group, job, route, secs, want},
};
use foldwright_ports::{Capabilities, Capability, Want, WorkerId, WorkerView};
use std::sync::Arc;

fn knowing(of: &str, version: u32) -> Want {
    Want {
        capabilities: Arc::new(Capabilities {
            routes: [(route(of), Capability { version })].into(),
            format: 3,
        }),
        ..want()
    }
}

async fn listed(bed: &Bed<'_>) -> Vec<WorkerView> {
    bed.admin().workers().await.unwrap()
}

/// Each worker that said it lives, by id, with what it knows and until when.
pub async fn workers_are_listed_by_id(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    assert_eq!(listed(&bed).await, []);
    let start = bed.now();
    for (id, knows, ttl) in [(9, knowing(FOLD, 2), 10), (2, knowing(MAP, 1), 30)] {
        bed.beat_as(WorkerId(id), &knows, secs(ttl)).await;
    }
    let view = |id, knows: Want, ttl, silent| WorkerView {
        worker: WorkerId(id),
        capabilities: (*knows.capabilities).clone(),
        until: start.plus(secs(ttl)),
        silent,
    };
    let (nine, two) = (knowing(FOLD, 2), knowing(MAP, 1));
    assert_eq!(
        listed(&bed).await,
        [view(2, two.clone(), 30, false), view(9, nine.clone(), 10, false)]
    );
    bed.elapse(secs(11)).await;
    assert_eq!(
        listed(&bed).await,
        [view(2, two, 30, false), view(9, nine, 10, true)],
        "one fell silent"
    );
}

/// A beat renews the record and what the worker knows.
pub async fn a_beat_renews_the_record(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    bed.beat_as(WORKER, &knowing(FOLD, 1), secs(10)).await;
    bed.elapse(secs(8)).await;
    bed.beat_as(WORKER, &knowing(MAP, 2), secs(10)).await;
    bed.beat_as(WORKER, &knowing(MAP, 2), secs(10)).await;
    bed.elapse(secs(8)).await;
    let views = listed(&bed).await;
    assert_eq!(views.len(), 1);
    assert_eq!((views[0].silent, views[0].until), (false, start.plus(secs(18))));
    assert_eq!(views[0].capabilities, *knowing(MAP, 2).capabilities);
    bed.elapse(secs(60)).await;
    bed.beat_as(WORKER, &knowing(MAP, 2), secs(10)).await;
    assert!(!listed(&bed).await[0].silent, "it is heard of again");
}

/// A goodbye ends the record; what the worker still holds lives on until it lapses.
pub async fn a_goodbye_ends_the_record(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    bed.live().await;
    let lease = bed.claim_one().await;
    for _ in 0..2 {
        bed.queue().goodbye(WORKER).await.unwrap();
        assert_eq!(listed(&bed).await, []);
    }
    bed.complete(&lease).await;
    bed.live().await;
    assert_eq!(listed(&bed).await.len(), 1);
}

/// Records that are past their time are forgotten in the end.
pub async fn a_silent_worker_is_forgotten_in_the_end(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.beat(WorkerId(1), secs(10)).await;
    bed.beat(WorkerId(2), secs(60 * 24 * 60 * 60)).await;
    for _ in 0..4 {
        bed.elapse(secs(7 * 24 * 60 * 60)).await;
        bed.reap().await;
    }
    let left: Vec<_> = listed(&bed).await.iter().map(|view| view.worker).collect();
    assert_eq!(left, [WorkerId(2)]);
}
