//! At most one run per window.
use crate::{
    Fixture,
    kit::{Bed, FOLD, JobExt, MAP, group, group_of, ids, job, millis, secs},
};
use foldwright_domain::Millis;
use foldwright_ports::{Body, NewJob, Staged};

/// A trigger of the throttled group; its window is a minute.
fn trigger(n: u64) -> NewJob {
    job(n, &group("key")).throttled(secs(60), true)
}

/// Lets time pass until so many seconds after the beginning of the case.
async fn at(bed: &Bed<'_>, start: Millis, seconds: u64) {
    let now = u64::try_from(bed.now().0 - start.0).unwrap();
    bed.elapse(millis(seconds * 1_000 - now)).await;
}

fn text(body: &Body) -> String {
    match body {
        Body::Inline(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Body::Blob { hash, .. } => format!("{hash:?}"),
    }
}

/// Runs what is due: one job, with the body of this trigger.
async fn one_run(bed: &Bed<'_>, body: u64) {
    let lease = bed.claim_one().await;
    assert_eq!(lease.jobs.len(), 1);
    assert_eq!(text(&lease.jobs[0].body), format!("body {body}"));
    bed.complete(&lease).await;
}

/// D-05: the first runs at once, what follows in the window is one run at its end with the newest body.
pub async fn a_window_has_one_run_at_its_end(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    assert_eq!(bed.stage(vec![trigger(1)]).await, [Staged::New]);
    one_run(&bed, 1).await;
    let mut merged = Vec::new();
    for (second, n) in [(10, 2), (20, 3), (45, 4), (59, 5)] {
        at(&bed, start, second).await;
        merged.extend(bed.stage(vec![trigger(n)]).await);
        bed.nothing_is_claimable().await;
        assert_eq!(bed.waiting().await, 1);
    }
    let expected = [Staged::New, Staged::Squashed, Staged::Squashed, Staged::Squashed];
    assert_eq!(merged, expected);
    at(&bed, start, 61).await;
    one_run(&bed, 5).await;
}

/// D-05: a window ends where its first trigger set it, and the next begins there.
pub async fn windows_follow_each_other_without_sliding(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    let mut runs = Vec::new();
    bed.stage(vec![trigger(0)]).await;
    for second in 0..=300 {
        at(&bed, start, second).await;
        if second % 7 == 3 {
            bed.stage(vec![trigger(second)]).await;
        }
        if second % 60 == 30 || second % 60 == 59 {
            bed.nothing_is_claimable().await;
        }
        if second % 60 == 1 {
            let lease = bed.claim_one().await;
            assert_eq!(lease.jobs.len(), 1);
            bed.complete(&lease).await;
            runs.push(second);
        }
    }
    assert_eq!(runs, [1, 61, 121, 181, 241]);
}

/// D-05: also while the run before it is still being worked on, or waits in a queue.
pub async fn a_run_in_progress_takes_in_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    bed.stage(vec![trigger(1)]).await;
    let lease = bed.claim_one().await;
    at(&bed, start, 5).await;
    assert_eq!(bed.stage(vec![trigger(2)]).await, [Staged::New]);
    assert_eq!(bed.stage(vec![trigger(3)]).await, [Staged::Squashed]);
    bed.complete(&lease).await;
    bed.nothing_is_claimable().await;
    at(&bed, start, 61).await;
    let second = bed.claim_one().await;
    assert_eq!(ids(&second), [trigger(2).id]);
    assert_eq!(text(&second.jobs[0].body), "body 3");
}

/// D-05: a first run that still waits takes in what comes, and stays due when it was.
pub async fn a_waiting_first_run_takes_in_what_follows(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    bed.stage_new(&[&trigger(1).delayed(secs(20))]).await;
    at(&bed, start, 10).await;
    assert_eq!(bed.stage(vec![trigger(2)]).await, [Staged::Squashed]);
    bed.nothing_is_claimable().await;
    at(&bed, start, 21).await;
    let lease = bed.claim_one().await;
    assert_eq!(
        (ids(&lease), text(&lease.jobs[0].body)),
        (vec![trigger(1).id], "body 2".into())
    );
    bed.complete(&lease).await;
    at(&bed, start, 30).await;
    assert_eq!(bed.stage(vec![trigger(3)]).await, [Staged::New]);
    at(&bed, start, 59).await;
    bed.nothing_is_claimable().await;
    at(&bed, start, 61).await;
    one_run(&bed, 3).await;
}

/// D-05: which body runs is canonical, or the first one's where nothing is to be replaced.
pub async fn the_canonically_newest_body_runs(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    let placed = |n: u64, back: u64| trigger(n).at(start.minus(secs(back)));
    bed.stage(vec![placed(1, 100)]).await;
    one_run(&bed, 1).await;
    bed.stage(vec![placed(2, 50)]).await;
    bed.stage(vec![placed(3, 10)]).await;
    bed.stage(vec![placed(4, 70)]).await;
    at(&bed, start, 61).await;
    let lease = bed.claim_one().await;
    assert_eq!(
        (ids(&lease), text(&lease.jobs[0].body)),
        (vec![trigger(2).id], "body 3".into())
    );
    bed.complete(&lease).await;

    let keeping = |n| job(n, &group("keeps")).throttled(secs(60), false);
    bed.stage(vec![keeping(10)]).await;
    one_run(&bed, 10).await;
    bed.stage(vec![keeping(11), keeping(12)]).await;
    bed.elapse(secs(61)).await;
    one_run(&bed, 11).await;
}

/// D-05: after a quiet time the next one runs at once.
pub async fn an_idle_key_runs_at_once_again(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    bed.stage(vec![trigger(1)]).await;
    one_run(&bed, 1).await;
    at(&bed, start, 61).await;
    bed.stage(vec![trigger(2)]).await;
    one_run(&bed, 2).await;
    at(&bed, start, 70).await;
    bed.stage(vec![trigger(3)]).await;
    bed.nothing_is_claimable().await;
    at(&bed, start, 122).await;
    one_run(&bed, 3).await;
    at(&bed, start, 170).await;
    bed.stage(vec![trigger(4)]).await;
    bed.nothing_is_claimable().await;
    at(&bed, start, 182).await;
    one_run(&bed, 4).await;
    at(&bed, start, 400).await;
    bed.stage(vec![trigger(5)]).await;
    one_run(&bed, 5).await;
}

/// a window that is open is remembered without a job; none is when it is over.
pub async fn a_window_outlives_its_job_and_no_more(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    bed.stage(vec![trigger(1)]).await;
    one_run(&bed, 1).await;
    assert_eq!(bed.view(&group("key")).await, None, "it holds no job");
    bed.reap().await;
    at(&bed, start, 50).await;
    bed.reap().await;
    bed.stage(vec![trigger(2)]).await;
    bed.nothing_is_claimable().await;
    assert_eq!(bed.admin().drain(&group("key"), 9).await.unwrap(), 1);
    at(&bed, start, 300).await;
    bed.reap().await;
    assert_eq!(bed.view(&group("key")).await, None);
    assert_eq!(bed.why(&group("key")).await, None);
    bed.stage(vec![trigger(3)]).await;
    one_run(&bed, 3).await;
}

/// D-06: a window belongs to its tenant, its key and its route, and holds only what is throttled.
pub async fn a_window_belongs_to_its_key(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage(vec![trigger(1)]).await;
    one_run(&bed, 1).await;
    let others = [
        job(2, &group_of("globex", FOLD, "key")).throttled(secs(60), true),
        job(3, &group("other")).throttled(secs(60), true),
        job(4, &group("key")).on(MAP).throttled(secs(60), true),
        job(5, &group("key")),
    ];
    bed.stage_new(&others.iter().collect::<Vec<_>>()).await;
    bed.stage_new(&[&trigger(6)]).await;
    let leases = bed.claim().await;
    let mut handed: Vec<_> = leases.iter().flat_map(ids).collect();
    let mut expected: Vec<_> = others.iter().map(|job| job.id).collect();
    handed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(handed, expected);
}

/// D-05: a window survives the death of the process where anything does.
pub async fn a_window_outlives_the_process(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    bed.stage(vec![trigger(1)]).await;
    one_run(&bed, 1).await;
    if !fixture.declares().durable {
        return;
    }
    let bed = bed.restart().await;
    bed.stage(vec![trigger(2)]).await;
    bed.nothing_is_claimable().await;
    at(&bed, start, 61).await;
    one_run(&bed, 2).await;
}
