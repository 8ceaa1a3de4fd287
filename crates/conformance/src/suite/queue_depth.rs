//! Counters.
use crate::{
    Fixture,
    kit::{
        Bed, FOLD, JobExt, MAP, Seeded, group, group_of, job, retry, route, secs, settlement, tenant, want,
    },
};
use foldwright_ports::{Depth, JobId, Limits, Outcome, Rest, Staged, Want};
use std::collections::BTreeSet;

fn depth(waiting: u64, leased: u64, blocked: u64, dead: u64) -> Depth {
    Depth {
        waiting,
        leased,
        blocked,
        dead,
    }
}

/// each route's jobs by state, delayed and stranded ones among the waiting.
pub async fn jobs_are_counted_by_route_and_state(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let maps = |key: &str| group_of("acme", MAP, key);
    for n in 0..3 {
        bed.stage_new(&[&job(n, &group("leased")), &job(n + 10, &group("blocked"))])
            .await;
    }
    bed.stage_new(&[
        &job(20, &maps("dead")),
        &job(21, &maps("delayed")).delayed(secs(60)),
    ])
    .await;
    bed.stage_new(&[&job(22, &group("stranded")).on("shop/map/strange")])
        .await;
    for lease in bed.claim().await {
        let error = "bad".to_owned();
        if lease.group == group("blocked") {
            bed.give_up(&lease, Rest::Quarantine { error }).await;
        } else if lease.group == maps("dead") {
            bed.give_up(&lease, Rest::DeadLetter { error }).await;
        }
    }
    let mut depths = bed.admin().depth().await.unwrap();
    depths.retain(|_, depth| *depth != Depth::default());
    let expected = [
        (FOLD, depth(0, 3, 3, 0)),
        (MAP, depth(1, 0, 0, 1)),
        ("shop/map/strange", depth(1, 0, 0, 0)),
    ];
    assert_eq!(depths, expected.map(|(text, depth)| (route(text), depth)).into());
}

/// Where each job is, as its owner remembers it.
#[derive(Default)]
struct Ledger {
    waiting: BTreeSet<JobId>,
    leased: BTreeSet<JobId>,
    dead: BTreeSet<JobId>,
}

/// whatever happens, every job is in one state and the counters equal a recount through the other calls.
pub async fn counters_equal_a_recount_after_any_mix(fixture: &dyn Fixture) {
    for seed in 0..10 {
        let bed = Bed::open(fixture).await;
        let mut random = Seeded::new(seed);
        let groups: Vec<_> = (0..5).map(|n| group(&format!("g{n}"))).collect();
        let mut ledger = Ledger::default();
        let mut leases = Vec::new();
        let mut next = 0;
        for step in 0..80 {
            match random.below(8) {
                0..=2 => {
                    next += 1 + random.below(2);
                    let mut new = job(next, random.pick(&groups));
                    if random.one_in(3) {
                        new = new.dedup(secs(40), random.one_in(2), random.one_in(2));
                    }
                    if bed.stage(vec![new.clone()]).await == [Staged::New] {
                        ledger.waiting.insert(new.id);
                    }
                }
                3 => {
                    let some = Want {
                        max_groups: 2,
                        max_jobs_per_group: 3,
                        ..want()
                    };
                    for lease in bed.claim_as(&some).await {
                        for job in &lease.jobs {
                            assert!(ledger.waiting.remove(&job.id), "{:?} was not waiting", job.id);
                            ledger.leased.insert(job.id);
                        }
                        leases.push(lease);
                    }
                }
                4..=5 if !leases.is_empty() => {
                    let at = usize::try_from(random.below(leases.len() as u64)).unwrap();
                    let lease = leases.swap_remove(at);
                    let done = usize::try_from(random.below(1 + lease.jobs.len() as u64)).unwrap();
                    let error = "bad".to_owned();
                    let rest = match random.below(5) {
                        0 => Rest::Back,
                        1 => retry("boom"),
                        2 => Rest::Quarantine { error },
                        3 => Rest::DeadLetter { error },
                        _ => Rest::Defer { after: secs(1) },
                    };
                    let dead = matches!(rest, Rest::DeadLetter { .. });
                    bed.settle(vec![settlement(&lease, Outcome { done, rest })]).await;
                    for (at, job) in lease.jobs.iter().enumerate() {
                        assert!(ledger.leased.remove(&job.id));
                        if at == done && dead {
                            ledger.dead.insert(job.id);
                        } else if at >= done {
                            ledger.waiting.insert(job.id);
                        }
                    }
                }
                6 => {
                    bed.lapse().await;
                    leases.clear();
                    ledger.waiting.append(&mut ledger.leased);
                }
                _ => operate(&bed, &mut random, &groups, &mut ledger).await,
            }
            recount(&bed, &groups, &ledger, &format!("seed {seed}, step {step}")).await;
        }
    }
}

async fn operate(
    bed: &Bed<'_>,
    random: &mut Seeded,
    groups: &[foldwright_ports::GroupId],
    ledger: &mut Ledger,
) {
    let owner = tenant("acme");
    let letter = ledger.dead.first().copied();
    match (random.below(4), letter) {
        (0, _) => {
            bed.admin().unblock(random.pick(groups)).await.unwrap();
        }
        (1, Some(id)) => {
            assert!(bed.admin().requeue(&owner, id).await.unwrap());
            ledger.dead.remove(&id);
            ledger.waiting.insert(id);
        }
        (2, Some(id)) => {
            assert!(bed.admin().discard(&owner, id).await.unwrap());
            ledger.dead.remove(&id);
        }
        _ => {
            let group = random.pick(groups);
            let view = bed.view(group).await;
            let drained = bed.admin().drain(group, 2).await.unwrap();
            let jobs = view.map_or_else(Vec::new, |view| view.jobs);
            let gone: Vec<_> = jobs
                .into_iter()
                .filter(|id| ledger.waiting.contains(id))
                .take(2)
                .collect();
            assert_eq!(drained, gone.len());
            for id in gone {
                ledger.waiting.remove(&id);
            }
        }
    }
}

async fn recount(bed: &Bed<'_>, groups: &[foldwright_ports::GroupId], ledger: &Ledger, at: &str) {
    let mut counted = Depth::default();
    let mut seen = BTreeSet::new();
    for group in groups {
        if let Some(view) = bed.view(group).await {
            assert_eq!(view.jobs.len() as u64, view.depth, "{at}");
            for id in view.jobs {
                assert!(seen.insert(id), "{at}: {id:?} stands in two groups");
                if ledger.leased.contains(&id) {
                    counted.leased += 1;
                } else if view.blocked_by.is_some() {
                    counted.blocked += 1;
                } else {
                    counted.waiting += 1;
                }
            }
        }
    }
    let letters = bed
        .admin()
        .dead_letters(None, None, Limits::items(1_000))
        .await
        .unwrap();
    counted.dead = letters.items.len() as u64;
    assert_eq!(bed.depth().await, counted, "{at}");
    let mut known: Vec<_> = ledger.waiting.iter().chain(&ledger.leased).copied().collect();
    known.sort_unstable();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), known, "{at}");
    let dead: BTreeSet<_> = letters.items.iter().map(|letter| letter.job).collect();
    assert_eq!(dead, ledger.dead, "{at}");
}
