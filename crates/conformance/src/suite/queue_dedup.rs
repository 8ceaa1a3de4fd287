//! Merging of jobs.
use crate::{
    Fixture,
    kit::{Bed, FOLD, JobExt, SUBSCRIBER, group, group_of, ids, job, millis, retry, secs},
};
use bytes::Bytes;
use foldwright_ports::{Body, Context, GroupId, NewJob, Rest, Staged};
use std::time::Duration;

const TTL: Duration = secs(60);

/// A trigger under the key of its group.
fn trigger(n: u64) -> NewJob {
    job(n, &keyed()).dedup(TTL, false, false)
}

fn keyed() -> GroupId {
    group_of("acme", SUBSCRIBER, "key")
}

async fn stage(bed: &Bed<'_>, job: &NewJob) -> Staged {
    bed.stage(vec![job.clone()]).await[0]
}

fn text(body: &Body) -> &[u8] {
    match body {
        Body::Inline(bytes) => bytes,
        Body::Blob { .. } => panic!("an inline body"),
    }
}

/// D-01
pub async fn without_a_key_each_event_makes_its_job(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let jobs: Vec<_> = (0..5).map(|n| job(n, &group("a")).at(now)).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let expected: Vec<_> = jobs.iter().map(|job| job.id).collect();
    assert_eq!(ids(&bed.claim_one().await), expected);
}

/// D-02: one job, its id, place, depth and first body; the squashed one leaves no id.
pub async fn a_waiting_job_takes_in_the_next(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let first = trigger(1).at(now.minus(secs(5)));
    let neighbour = job(2, &keyed()).at(now.minus(secs(4)));
    assert_eq!(stage(&bed, &first).await, Staged::New);
    assert_eq!(stage(&bed, &neighbour).await, Staged::New);
    for n in 3..10 {
        assert_eq!(stage(&bed, &trigger(n).at(now)).await, Staged::Squashed);
        assert_eq!(bed.waiting().await, 2);
    }
    assert_eq!(stage(&bed, &first).await, Staged::Known);
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [first.id, neighbour.id]);
    assert_eq!(lease.jobs[0].body, first.body);
    assert_eq!(lease.jobs[0].header, first.header);
}

/// D-02: within one call too.
pub async fn triggers_of_one_call_are_merged(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let staged = bed.stage(vec![trigger(1), trigger(2), trigger(3)]).await;
    assert_eq!(staged, [Staged::New, Staged::Squashed, Staged::Squashed]);
    assert_eq!(ids(&bed.claim_one().await), [trigger(1).id]);
}

/// D-02, S-11: header and bodies of the canonically latest, whatever the order of staging; the place stays.
pub async fn the_canonically_latest_body_replaces(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let replacing = |n: u64| job(n, &keyed()).dedup(TTL, false, true);
    let neighbour = job(50, &keyed()).at(now.minus(secs(7)));
    assert_eq!(
        stage(&bed, &replacing(1).at(now.minus(secs(8)))).await,
        Staged::New
    );
    assert_eq!(stage(&bed, &neighbour).await, Staged::New);
    for (n, back) in [(2, 6), (3, 9), (4, 3), (5, 4), (6, 10)] {
        let mut later = replacing(n).at(now.minus(secs(back)));
        later.context = Some(state(n, n));
        assert_eq!(stage(&bed, &later).await, Staged::Squashed);
    }
    assert_eq!(bed.waiting().await, 2);
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [replacing(1).id, neighbour.id]);
    let merged = &lease.jobs[0];
    assert_eq!(
        (text(&merged.body), &*merged.header),
        (b"body 4".as_slice(), b"header 4".as_slice())
    );
    assert_eq!(
        (merged.position, merged.format),
        (replacing(4).at(now.minus(secs(3))).position, 1)
    );
    assert_eq!(
        text(merged.context.as_ref().unwrap()),
        b"state 4",
        "those behind it are states of other things"
    );
}

/// D-02, S-05, S-11: an earlier event may lead to a newer state; it gives that alone, and only of the same thing.
pub async fn an_earlier_trigger_gives_a_newer_state_alone(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let with_state = |n: u64, back, of, replace| {
        let mut trigger = job(n, &keyed())
            .dedup(TTL, false, replace)
            .at(now.minus(secs(back)));
        trigger.context = Some(state(n, of));
        trigger
    };
    let run = || async {
        let lease = bed.claim_one().await;
        let handed = lease.jobs[0].clone();
        bed.complete(&lease).await;
        (
            text(&handed.body).to_vec(),
            text(handed.context.as_ref().unwrap()).to_vec(),
        )
    };
    stage(&bed, &with_state(1, 5, 1, true)).await;
    let mut stateless = with_state(2, 9, 1, true);
    stateless.context = None;
    for ignored in [with_state(3, 9, 2, true), with_state(4, 9, 1, false), stateless] {
        assert_eq!(stage(&bed, &ignored).await, Staged::Squashed);
    }
    assert_eq!(run().await, (b"body 1".to_vec(), b"state 1".to_vec()));

    stage(&bed, &with_state(1, 5, 1, true)).await;
    assert_eq!(stage(&bed, &with_state(5, 9, 1, true)).await, Staged::Squashed);
    assert_eq!(run().await, (b"body 1".to_vec(), b"state 5".to_vec()));

    stage(&bed, &with_state(1, 5, 1, true)).await;
    assert_eq!(stage(&bed, &with_state(6, 4, 2, true)).await, Staged::Squashed);
    assert_eq!(
        run().await,
        (b"body 6".to_vec(), b"state 6".to_vec()),
        "a later one gives all it has"
    );
}

/// The state `n` of thing `of`.
fn state(n: u64, of: u64) -> Context {
    let mut name = [0; 16];
    name[8..].copy_from_slice(&of.to_be_bytes());
    Context {
        body: Body::Inline(Bytes::from(format!("state {n}"))),
        of: name,
    }
}

/// D-02: at one business time the id decides.
pub async fn at_one_time_the_later_id_replaces(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    for n in [5, 9, 7] {
        stage(&bed, &job(n, &keyed()).dedup(TTL, false, true).at(now)).await;
    }
    assert_eq!(text(&bed.claim_one().await.jobs[0].body), b"body 9");
}

/// D-03
pub async fn extending_moves_the_time_and_not_the_place(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let debounced = |n: u64| {
        job(n, &keyed())
            .dedup(millis(200), true, true)
            .delayed(millis(200))
    };
    let neighbour = job(50, &keyed()).delayed(millis(440));
    assert_eq!(stage(&bed, &debounced(1)).await, Staged::New);
    assert_eq!(stage(&bed, &neighbour).await, Staged::New);
    bed.elapse(millis(100)).await;
    assert_eq!(stage(&bed, &debounced(2)).await, Staged::Squashed);
    bed.elapse(millis(150)).await;
    bed.nothing_is_claimable().await;
    assert_eq!(stage(&bed, &debounced(3)).await, Staged::Squashed);
    bed.elapse(millis(185)).await;
    bed.nothing_is_claimable().await;
    bed.elapse(millis(15)).await;
    let lease = bed.claim_one().await;
    assert_eq!(
        ids(&lease),
        [debounced(1).id, neighbour.id],
        "due at 450 ms, in its old place"
    );
    assert_eq!(text(&lease.jobs[0].body), b"body 3");
}

/// D-03: extending starts the window anew as well.
pub async fn extending_moves_the_window(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let extending = |n: u64| job(n, &keyed()).dedup(secs(10), true, false).delayed(secs(600));
    assert_eq!(stage(&bed, &extending(1)).await, Staged::New);
    for n in 2..6 {
        bed.elapse(secs(9)).await;
        assert_eq!(stage(&bed, &extending(n)).await, Staged::Squashed);
    }
    bed.elapse(secs(11)).await;
    assert_eq!(stage(&bed, &extending(6)).await, Staged::New);
}

/// D-02, D-05: without `extend` the window stays where its first job set it, and so does the time.
pub async fn a_window_does_not_slide_by_itself(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let delayed = |n: u64| trigger(n).delayed(TTL + secs(30));
    assert_eq!(stage(&bed, &delayed(1)).await, Staged::New);
    for n in 2..7 {
        bed.elapse(secs(10)).await;
        assert_eq!(stage(&bed, &delayed(n)).await, Staged::Squashed);
    }
    bed.elapse(secs(11)).await;
    assert_eq!(stage(&bed, &delayed(7)).await, Staged::New, "the window is over");
    assert_eq!(
        stage(&bed, &delayed(8)).await,
        Staged::Squashed,
        "the new job has its own"
    );
    assert_eq!(bed.waiting().await, 2);
    bed.elapse(secs(30)).await;
    assert_eq!(ids(&bed.claim_one().await), [delayed(1).id]);
}

/// D-04: never merged into a job that was handed out, and it runs after it.
pub async fn a_handed_out_job_takes_in_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    assert_eq!(stage(&bed, &trigger(1)).await, Staged::New);
    let lease = bed.claim_one().await;
    assert_eq!(stage(&bed, &trigger(2)).await, Staged::New);
    assert_eq!(
        stage(&bed, &trigger(3)).await,
        Staged::Squashed,
        "into the fresh one"
    );
    bed.nothing_is_claimable().await;
    bed.complete(&lease).await;
    assert_eq!(ids(&bed.claim_one().await), [trigger(2).id]);
}

/// D-04: nor into one that was handed out and waits again.
pub async fn a_job_that_came_back_takes_in_nothing(fixture: &dyn Fixture) {
    for rest in [Rest::Back, retry("boom")] {
        let bed = Bed::open(fixture).await;
        assert_eq!(stage(&bed, &trigger(1)).await, Staged::New);
        let lease = bed.claim_one().await;
        bed.give_up(&lease, rest).await;
        assert_eq!(stage(&bed, &trigger(2)).await, Staged::New);
        bed.elapse(secs(1)).await;
        assert_eq!(ids(&bed.claim_one().await), [trigger(1).id, trigger(2).id]);
    }
}

/// D-04
pub async fn a_blocked_job_takes_in_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let head = job(1, &keyed());
    bed.stage_new(&[&head]).await;
    let lease = bed.claim_one().await;
    assert_eq!(stage(&bed, &trigger(2)).await, Staged::New);
    bed.give_up(&lease, Rest::Quarantine { error: "bad".into() })
        .await;
    assert_eq!(
        stage(&bed, &trigger(3)).await,
        Staged::New,
        "job 2 is blocked with its group"
    );
    assert_eq!(bed.depth().await.blocked, 3);
}

/// D-04: a key whose job was drained or completed is free.
pub async fn a_gone_job_takes_in_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    assert_eq!(stage(&bed, &trigger(1)).await, Staged::New);
    assert_eq!(bed.admin().drain(&keyed(), 10).await.unwrap(), 1);
    assert_eq!(stage(&bed, &trigger(2)).await, Staged::New);
    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    assert_eq!(stage(&bed, &trigger(3)).await, Staged::New);
    assert_eq!(ids(&bed.claim_one().await), [trigger(3).id]);
}

/// D-02: while its group is closed the job waits, so it takes in the next; the group stays closed.
pub async fn a_job_in_a_closed_group_takes_in_the_next(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &keyed())]).await;
    let lease = bed.claim_one().await;
    assert_eq!(stage(&bed, &trigger(2)).await, Staged::New);
    bed.give_up(&lease, Rest::Defer { after: secs(20) }).await;
    assert_eq!(stage(&bed, &trigger(3)).await, Staged::Squashed);
    bed.nothing_is_claimable().await;
    bed.elapse(secs(20)).await;
    assert_eq!(ids(&bed.claim_one().await), [job(1, &keyed()).id, trigger(2).id]);
}

/// D-06: other tenants, routes and pipelines have keys of their own.
pub async fn a_key_belongs_to_its_tenant_and_route(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let other_tenant = job(2, &group_of("globex", SUBSCRIBER, "key")).dedup(TTL, false, false);
    let other_route = job(3, &group_of("acme", FOLD, "key")).dedup(TTL, false, false);
    let other_pipeline = trigger(4).on("shop2/fold/totals/subscriber/mail");
    for fresh in [&trigger(1), &other_tenant, &other_route, &other_pipeline] {
        assert_eq!(stage(&bed, fresh).await, Staged::New, "{:?}", fresh.route);
    }
    assert_eq!(
        stage(&bed, &trigger(5)).await,
        Staged::Squashed,
        "each keeps its own window"
    );
    let again = trigger(6).on("shop2/fold/totals/subscriber/mail");
    assert_eq!(stage(&bed, &again).await, Staged::Squashed);
    assert_eq!(bed.waiting().await, 4);
}
