//! The order of jobs and of groups.
use crate::{
    Fixture,
    kit::{
        Bed, FOLD, JobExt, MAP, SUBSCRIBER, group, group_of, hash_of, ids, job, millis, retry, secs,
        settlement, want,
    },
};
use bytes::Bytes;
use foldwright_domain::Millis;
use foldwright_ports::{Body, Context, Held, Kind, NewJob, Outcome, QueueSettings, Rest, Room, Staged, Want};
use std::collections::BTreeSet;

///
pub async fn due_jobs_come_by_score_then_by_staging(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let group = group("a");
    let at = |n, back: u64| job(n, &group).at(now.minus(secs(back)));
    let [third, first, second] = [at(1, 1), at(2, 3), at(3, 2)];
    let [equal, later_equal] = [at(5, 2), at(4, 2)];
    bed.stage_new(&[&third, &first, &second]).await;
    bed.stage_new(&[&equal]).await;
    bed.stage_new(&[&later_equal]).await;
    let order = [first.id, second.id, equal.id, later_equal.id, third.id];
    assert_eq!(ids(&bed.claim_one().await), order);
}

/// Q-01, L-16: a job that is staged last and is the oldest comes first; time before 1970 too.
pub async fn the_oldest_job_comes_first_though_it_was_staged_last(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let group = group("a");
    let now = bed.now();
    let jobs: Vec<_> = (0..20)
        .map(|n| job(n, &group).at(now.minus(millis(n * 37))))
        .collect();
    for job in &jobs {
        bed.stage_new(&[job]).await;
    }
    let mut expected: Vec<_> = jobs.iter().map(|job| job.id).collect();
    expected.reverse();
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    let mut handed = Vec::new();
    for _ in &jobs {
        let lease = bed.claim_as(&single).await.pop().unwrap();
        handed.extend(ids(&lease));
        bed.complete(&lease).await;
    }
    assert_eq!(handed, expected);
}

/// due followers pass a delayed head, which keeps its place.
pub async fn a_delay_moves_the_time_and_not_the_place(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let group = group("a");
    let now = bed.now();
    let head = job(1, &group).at(now.minus(secs(9))).delayed(secs(60));
    let [follower, last] = [2, 3].map(|n| job(n, &group).at(now.minus(secs(9 - n))));
    bed.stage_new(&[&head, &follower, &last]).await;
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [follower.id, last.id]);
    bed.give_up(&lease, Rest::Back).await;
    bed.elapse(millis(59_900)).await;
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [follower.id, last.id]);
    bed.give_up(&lease, Rest::Back).await;
    bed.elapse(millis(100)).await;
    assert_eq!(ids(&bed.claim_one().await), [head.id, follower.id, last.id]);
}

/// G-02: whoever counts by the window of scores counts by the one that holds.
pub async fn a_queue_tells_the_settings_it_works_with(fixture: &dyn Fixture) {
    let settings = QueueSettings {
        score_past: secs(3_600),
        score_future: secs(60),
        ..QueueSettings::default()
    };
    let bed = Bed::open_with(fixture, &settings).await;
    assert_eq!(bed.queue().settings(), settings);
}

/// outside of the window a score is clamped to its border, inside it is kept, absent it is the time of staging.
pub async fn scores_are_clamped_to_a_window(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let group = group("a");
    let now = bed.now();
    let at = |n, at| job(n, &group).at(at);
    let (past, future) = (bed.harness.settings.score_past, bed.harness.settings.score_future);
    let far_past = at(1, now.minus(past).minus(secs(60)));
    let zero = at(2, Millis(0));
    let in_seconds = at(3, Millis(now.0 / 1_000));
    let inside = at(4, now.minus(past).plus(secs(60)));
    let absent = job(5, &group);
    let near = at(6, now.plus(future).minus(secs(60)));
    let far_future = at(7, Millis(i64::MAX));
    let future = at(8, now.plus(future).plus(secs(60)));
    let all = [
        &far_future,
        &future,
        &near,
        &absent,
        &inside,
        &far_past,
        &zero,
        &in_seconds,
    ];
    bed.stage_new(&all).await;
    let order = [
        &far_past,
        &zero,
        &in_seconds,
        &inside,
        &absent,
        &near,
        &far_future,
        &future,
    ];
    assert_eq!(ids(&bed.claim_one().await), order.map(|job| job.id));
}

/// the group stays as it is, and the older job runs in its place when the group opens.
pub async fn an_older_job_waits_until_its_group_opens(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let older = |n, key: &str| job(n, &group(key)).at(now.minus(secs(n)));
    let keys = ["leased", "retrying", "blocked", "deferred"];
    for (n, key) in (0..).zip(keys) {
        bed.stage_new(&[&job(n, &group(key)).at(now)]).await;
    }
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 4);
    let of = |key: &str| leases.iter().find(|lease| lease.group == group(key)).unwrap();
    bed.give_up(of("retrying"), retry("boom")).await;
    bed.give_up(of("blocked"), Rest::Quarantine { error: "bad".into() })
        .await;
    bed.give_up(of("deferred"), Rest::Defer { after: secs(60) }).await;
    for (n, key) in (10..).zip(keys) {
        bed.stage_new(&[&older(n, key)]).await;
    }
    bed.nothing_is_claimable().await;
    bed.end(of("leased"), Outcome::none(Rest::Back)).await;
    assert!(bed.admin().unblock(&group("blocked")).await.unwrap());
    bed.elapse(secs(61)).await;
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 4);
    for (n, key) in (10..).zip(keys) {
        let lease = leases.iter().find(|lease| lease.group == group(key)).unwrap();
        let expected = [older(n, key).id, job(n - 10, &group(key)).at(now).id];
        assert_eq!(ids(lease), expected, "{key}");
    }
}

/// Q-01, F-08: among groups, the one whose first due job has been due the longest comes first.
pub async fn the_group_that_was_due_first_comes_first(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for (n, key) in (0..).zip(["d", "b", "a", "c"]) {
        bed.stage_new(&[&job(n, &group(key))]).await;
        bed.elapse(millis(20)).await;
    }
    let single = Want {
        max_groups: 1,
        ..want()
    };
    let mut handed = Vec::new();
    for _ in 0..4 {
        let leases = bed.claim_as(&single).await;
        handed.extend(leases.into_iter().map(|lease| lease.group));
    }
    assert_eq!(handed, ["d", "b", "a", "c"].map(group));
}

/// D-06, Q-24: jobs that were staged while the clock was ahead wait until it has caught up, at the longest, and whatever
/// was called meanwhile.
pub async fn a_clock_that_steps_back_strands_nothing(fixture: &dyn Fixture) {
    for (ahead, busy) in [(5, false), (5, true), (3_600_000, false), (3_600_000, true)] {
        let bed = Bed::open(fixture).await;
        let start = bed.now();
        let early = job(1, &group("a"));
        bed.stage_new(&[&early]).await;
        let lease = if busy { Some(bed.claim_one().await) } else { None };
        bed.elapse(millis(ahead)).await;
        bed.stage_new(&[&job(2, &group("a")), &job(3, &group("a")), &job(4, &group("b"))])
            .await;
        bed.harness.clock.set(start);
        bed.stage_new(&[&job(5, &group("a")), &job(6, &group("b"))]).await;
        let mut done = 0;
        if let Some(lease) = lease {
            bed.complete(&lease).await;
            done += lease.jobs.len();
        }
        for now in [start, start.plus(millis(ahead))] {
            bed.harness.clock.set(now);
            loop {
                let leases = bed.claim().await;
                if leases.is_empty() {
                    break;
                }
                for lease in leases {
                    bed.complete(&lease).await;
                    done += lease.jobs.len();
                }
            }
        }
        assert_eq!(done, 6, "{ahead} ms back, {busy}");
        assert_eq!(bed.waiting().await, 0);
    }
}

/// Q-06, B-08: what was staged is handed out, byte for byte.
pub async fn a_job_is_handed_out_as_it_was_staged(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let group = group_of("acme", SUBSCRIBER, "o/1 ☃");
    let mut whole = job(1, &group).at(bed.now().minus(secs(5)));
    whole.header = Bytes::from((0..=255).collect::<Vec<u8>>());
    whole.body = Body::Inline(Bytes::from_static(b"\0\xff"));
    let state = Body::Blob {
        hash: hash_of("state"),
        bytes: 70_000,
    };
    whole.context = Some(Context {
        body: state,
        of: [1; 16],
    });
    let mut bare = job(2, &group).in_blob("event", u64::from(u32::MAX) + 1);
    bare.header = Bytes::new();
    bare.format = 0;
    let staged_at = bed.now();
    bed.stage_new(&[&whole, &bare]).await;
    let lease = bed.claim_one().await;
    assert_eq!((lease.group, lease.attempt), (group, 1));
    for (handed, staged) in lease.jobs.iter().zip([&whole, &bare]) {
        assert_eq!(
            (handed.id, &handed.route, handed.position),
            (staged.id, &staged.route, staged.position)
        );
        assert_eq!((handed.format, &handed.header), (staged.format, &staged.header));
        let context = staged.context.as_ref().map(|context| &context.body);
        assert_eq!((&handed.body, handed.context.as_ref()), (&staged.body, context));
        assert!(handed.staged_at >= staged_at && handed.staged_at <= bed.now());
    }
    assert!(lease.until > bed.now());
}

/// T-02: odd keys, and lanes and keys that read alike when they are joined, are groups of their own.
pub async fn odd_group_keys_never_meet(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let longest = "k".repeat(1_024);
    let keys = [
        "a/b", "a%2Fb", "a%2fb", "a:b", "a", "A", "a ", "a\0", "a\0b", "{a}", "a'b", "a_b", "a%b", "日本",
        "", "0", &longest,
    ];
    let mut groups: Vec<_> = keys.map(group).into();
    groups.push(group_of("acme", MAP, "a"));
    groups.push(group_of("acme2", FOLD, "a"));
    groups.push(group_of("acme", SUBSCRIBER, "k"));
    groups.push(group("subscriber/mail/k"));
    let jobs: Vec<NewJob> = (0..)
        .zip(&groups)
        .flat_map(|(n, group)| [job(2 * n, group), job(2 * n + 1, group)])
        .collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let leases = bed.claim().await;
    let handed: BTreeSet<_> = leases.iter().map(|lease| lease.group.clone()).collect();
    assert_eq!(handed, groups.iter().cloned().collect());
    assert_eq!(leases.len(), groups.len());
    assert!(leases.iter().all(|lease| lease.jobs.len() == 2));
    for lease in &leases {
        let view = bed.view(&lease.group).await.unwrap();
        assert_eq!((view.jobs, view.depth, view.leased), (ids(lease), 2, true));
    }
}

/// one call stages them all, over any number of groups.
pub async fn many_jobs_of_many_groups_are_staged_at_once(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs: Vec<_> = (0..2_000)
        .map(|n| job(n, &group(&format!("g{}", n % 100))))
        .collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    assert_eq!(bed.waiting().await, 2_000);
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 100);
    assert!(leases.iter().all(|lease| lease.jobs.len() == 20));
    assert_eq!(bed.stage(Vec::new()).await, []);
    let again = bed.stage(jobs).await;
    assert_eq!(
        again,
        vec![Staged::Known; 2_000],
        "a repeat stages only what is missing"
    );
}

/// a job that cannot be stored refuses its whole call, and the jobs come back.
pub async fn a_refused_call_stages_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let mut header = job(9, &group("header"));
    header.header = vec![b'h'; 4_096].into();
    bed.stage_new(&[&header]).await;
    assert_eq!(bed.admin().drain(&group("header"), 1).await.unwrap(), 1);
    header.header = vec![b'h'; 4_097].into();
    let refused = bed.queue().stage(bed.nonce(), vec![header], Room::Sender).await;
    let refused = refused.expect_err("a header has at most 4 KiB");
    assert_eq!((refused.error.kind(), refused.jobs.len()), (Kind::Invalid, 1));
    let too_long = group(&"k".repeat(1_025));
    let jobs = vec![
        job(1, &group("a")).in_blob("held", 10),
        job(2, &too_long),
        job(3, &group("b")),
    ];
    let refused = bed
        .queue()
        .stage(bed.nonce(), jobs.clone(), Room::Sender)
        .await
        .expect_err("a key of more than 1,024 bytes is no group's");
    assert_eq!(refused.error.kind(), Kind::Invalid);
    assert_eq!(refused.jobs, jobs);
    assert_eq!(bed.waiting().await, 0);
    assert_ne!(bed.held(crate::kit::blob("held")).await, Held::Yes);
    bed.nothing_is_claimable().await;
}

/// a group without jobs leaves no trace.
pub async fn an_empty_group_is_never_handed_out(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..3 {
        bed.stage_new(&[&job(n, &group("a"))]).await;
        match n {
            0 => {
                let lease = bed.claim_one().await;
                bed.complete(&lease).await;
            }
            1 => assert_eq!(bed.admin().drain(&group("a"), 10).await.unwrap(), 1),
            _ => {
                let lease = bed.claim_one().await;
                let dead = Rest::DeadLetter { error: "bad".into() };
                let gone = settlement(&lease, Outcome::none(dead));
                assert_eq!(bed.settle(vec![gone]).await.len(), 1);
                let id = job(n, &group("a")).id;
                assert!(bed.admin().discard(&group("a").tenant, id).await.unwrap());
            }
        }
        bed.nothing_is_claimable().await;
        assert_eq!(bed.view(&group("a")).await, None);
        assert_eq!(bed.depth().await, foldwright_ports::Depth::default());
    }
}
