//! Dead letters.
use crate::{
    Fixture,
    kit::{Bed, FOLD, JobExt, MAP, all_pages, group, group_of, ids, job, retry, secs, tenant},
};
use foldwright_ports::{LeaseEnd, Limits, Outcome, Rest};

fn dead(error: &str) -> Rest {
    Rest::DeadLetter { error: error.into() }
}

/// the first one goes, the others are due again at once, with a fresh ladder.
pub async fn a_dead_letter_frees_its_group(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs: Vec<_> = (0..4).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    for _ in 0..2 {
        let lease = bed.claim_one().await;
        bed.give_up(&lease, retry("boom")).await;
        bed.elapse(secs(2)).await;
    }
    let lease = bed.claim_one().await;
    assert_eq!(lease.attempt, 3);
    bed.end(
        &lease,
        Outcome {
            done: 1,
            rest: dead("bad"),
        },
    )
    .await;
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.dead, depth.blocked), (2, 1, 0));
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [jobs[2].id, jobs[3].id]);
    assert_eq!((lease.attempt, lease.previous), (1, LeaseEnd::Completed));
    bed.give_up(&lease, retry("boom")).await;
    bed.elapse(secs(1)).await;
    let lease = bed.claim_one().await;
    bed.give_up(&lease, dead("bad")).await;
    let lease = bed.claim_one().await;
    assert_eq!(
        (lease.attempt, lease.previous, ids(&lease)),
        (1, LeaseEnd::Retried, vec![jobs[3].id])
    );
    bed.complete(&lease).await;
    assert_eq!(
        bed.view(&group("a")).await,
        None,
        "a dead letter is no job of its group"
    );
    bed.elapse(secs(30 * 24 * 60 * 60)).await;
    bed.reap().await;
    assert_eq!(bed.depth().await.dead, 2, "it is kept until an operator decides");
}

/// K-06, T-05: by the time of death, of one tenant or of all, in pages of any size.
pub async fn dead_letters_are_listed(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let groups = [
        group_of("acme", FOLD, "z"),
        group_of("globex", FOLD, "b"),
        group_of("acme", MAP, "a"),
        group_of("acme", FOLD, "z"),
        group_of("globex", MAP, "a"),
    ];
    for (n, group) in (0..).zip(&groups) {
        bed.stage_new(&[&job(n, group)]).await;
        let lease = bed.claim_one().await;
        bed.give_up(&lease, dead(&format!("bad {n}"))).await;
        bed.elapse(secs(1)).await;
    }
    for owner in [None, Some("acme"), Some("globex"), Some("nobody")] {
        let owner = owner.map(tenant);
        let expected: Vec<_> = (0..5)
            .filter(|n| owner.as_ref().is_none_or(|o| *o == groups[*n].tenant))
            .collect();
        for items in [1, 2, 10] {
            let listed = all_pages(Limits::items(items), |from, limits| {
                bed.admin().dead_letters(owner.as_ref(), from, limits)
            })
            .await;
            assert_eq!(listed.len(), expected.len());
            for (letter, n) in listed.iter().zip(&expected) {
                let staged = job(*n as u64, &groups[*n]);
                assert_eq!((letter.job, &letter.group), (staged.id, &groups[*n]));
                assert_eq!((&letter.route, &letter.header), (&staged.route, &staged.header));
                assert_eq!(letter.error, format!("bad {n}"));
                assert!(letter.since <= bed.now());
            }
        }
    }
}

/// the same id and bytes, a fresh ladder, its old place by score.
pub async fn a_requeued_job_takes_its_old_place(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let at = |n, back| job(n, &group("a")).at(now.minus(secs(back)));
    let [older, job, newer] = [at(1, 9), at(2, 8).in_blob("body", 5_000), at(3, 7)];
    bed.stage_new(&[&job]).await;
    for _ in 0..3 {
        let lease = bed.claim_one().await;
        bed.give_up(&lease, retry("boom")).await;
        bed.elapse(secs(5)).await;
    }
    let lease = bed.claim_one().await;
    bed.give_up(&lease, dead("bad")).await;
    bed.stage_new(&[&older, &newer]).await;
    let owner = tenant("acme");
    assert!(bed.admin().requeue(&owner, job.id).await.unwrap());
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.dead), (3, 0));
    assert!(
        !bed.admin().requeue(&owner, job.id).await.unwrap(),
        "it is no dead letter any more"
    );
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [older.id, job.id, newer.id]);
    assert_eq!(lease.attempt, 1);
    let handed = &lease.jobs[1];
    assert_eq!(
        (&handed.route, &handed.header, &handed.body),
        (&job.route, &job.header, &job.body)
    );
    assert_eq!((handed.position, handed.format), (job.position, job.format));
}

/// a requeued job of a group that holds other work waits in it like any other.
pub async fn a_requeued_job_respects_its_group(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let letter = job(1, &group("a")).at(now.minus(secs(9)));
    let other = job(2, &group("a")).at(now);
    bed.stage_new(&[&letter, &other]).await;
    let lease = bed.claim_one().await;
    bed.give_up(&lease, dead("bad")).await;
    let lease = bed.claim_one().await;
    assert!(bed.admin().requeue(&tenant("acme"), letter.id).await.unwrap());
    bed.nothing_is_claimable().await;
    assert_eq!((bed.waiting().await, bed.depth().await.leased), (1, 1));
    let blocked = Rest::Quarantine { error: "bad".into() };
    bed.give_up(&lease, blocked).await;
    assert_eq!(bed.depth().await.blocked, 2);
    assert!(bed.admin().unblock(&group("a")).await.unwrap());
    assert_eq!(ids(&bed.claim_one().await), [letter.id, other.id]);
}

/// K-07: gone for good, and its id is free.
pub async fn a_discarded_letter_is_gone(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let lease = bed.claim_one().await;
    bed.give_up(&lease, dead("bad")).await;
    let (owner, id) = (tenant("acme"), job(1, &group("a")).id);
    assert!(bed.admin().discard(&owner, id).await.unwrap());
    assert!(!bed.admin().discard(&owner, id).await.unwrap());
    assert!(!bed.admin().requeue(&owner, id).await.unwrap());
    assert_eq!(bed.depth().await, foldwright_ports::Depth::default());
    let listed = bed
        .admin()
        .dead_letters(None, None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(listed.items, []);
    bed.stage_new(&[&job(1, &group("a"))]).await;
    assert_eq!(bed.claim_one().await.attempt, 1);
}

/// K-05: draining a group leaves its dead letters alone.
pub async fn draining_leaves_dead_letters(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("a"))]).await;
    let lease = bed.claim_one().await;
    bed.give_up(&lease, dead("bad")).await;
    assert_eq!(bed.admin().drain(&group("a"), 10).await.unwrap(), 1);
    assert_eq!((bed.waiting().await, bed.depth().await.dead), (0, 1));
    assert!(
        bed.admin()
            .requeue(&tenant("acme"), job(1, &group("a")).id)
            .await
            .unwrap()
    );
    assert_eq!(ids(&bed.claim_one().await), [job(1, &group("a")).id]);
}

/// one id through its whole life.
pub async fn an_id_stays_the_same_for_life(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let job = job(1, &group("a"));
    bed.stage_new(&[&job]).await;
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [job.id]);
    bed.give_up(&lease, retry("boom")).await;
    bed.elapse(secs(1)).await;
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [job.id]);
    let blocked = Rest::Quarantine { error: "bad".into() };
    bed.give_up(&lease, blocked).await;
    let listed = bed.admin().blocked(None, None, Limits::items(1)).await.unwrap();
    assert_eq!(listed.items[0].job, job.id);
    assert!(bed.admin().unblock(&group("a")).await.unwrap());
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [job.id]);
    bed.give_up(&lease, dead("bad")).await;
    let listed = bed
        .admin()
        .dead_letters(None, None, Limits::items(1))
        .await
        .unwrap();
    assert_eq!(listed.items[0].job, job.id);
    assert!(bed.admin().requeue(&tenant("acme"), job.id).await.unwrap());
    assert_eq!(ids(&bed.claim_one().await), [job.id]);
}
