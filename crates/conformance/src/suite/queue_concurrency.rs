//! Many workers at once.
use crate::{
    Fixture, Invariants,
    kit::{Bed, Seen, WORKER, all_of, group, job, seen, settlement, want},
};
use foldwright_ports::{
    GroupId, GroupQueue, JobId, Lease, Nonce, Outcome, Rest, Settlement, Staged, Want, WorkerId,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};
use tokio::task::JoinSet;

/// What all tasks know together.
#[derive(Default)]
struct Shared {
    watch: Invariants,
    done: BTreeMap<GroupId, Vec<JobId>>,
    left: usize,
    /// Claims that found nothing since the last that did.
    idle: usize,
}

/// So many claims in a row that find nothing, while jobs are left, are no waiting for others any more.
const STUCK: usize = 500_000;

async fn claim(queue: &dyn GroupQueue, worker: u128, call: u128, want: &Want) -> Vec<Lease> {
    let nonce = Nonce(worker << 64 | call);
    queue.claim(nonce, WorkerId(worker), want).await.unwrap()
}

impl Shared {
    /// Checks what one task was given, and decides what becomes of it; now and then only a part is done.
    fn take(&mut self, leases: &[Lease]) -> Vec<Settlement> {
        self.idle = if leases.is_empty() { self.idle + 1 } else { 0 };
        assert!(
            self.idle < STUCK,
            "{} jobs are left and never handed out",
            self.left
        );
        for lease in leases {
            self.watch.granted(lease).unwrap();
        }
        let settle = |lease: &Lease| {
            let outcome = if lease.fence.0.is_multiple_of(5) {
                Outcome {
                    done: lease.jobs.len() / 2,
                    rest: Rest::Back,
                }
            } else {
                all_of(lease)
            };
            let done: Vec<_> = lease.jobs[..outcome.done].iter().map(|job| job.id).collect();
            self.done.entry(lease.group.clone()).or_default().extend(&done);
            self.left -= done.len();
            self.watch.ended(&lease.reference(), done);
            settlement(lease, outcome)
        };
        leases.iter().map(settle).collect()
    }
}

/// Claims and settles until nothing is left.
async fn work(queue: Arc<dyn GroupQueue>, worker: u128, want: Want, shared: Arc<Mutex<Shared>>) {
    let mut calls = 0;
    while shared.lock().unwrap().left > 0 {
        calls += 2;
        let leases = claim(&*queue, worker, calls, &want).await;
        let settlements = shared.lock().unwrap().take(&leases);
        if settlements.is_empty() {
            tokio::task::yield_now().await;
            continue;
        }
        let nonce = Nonce(worker << 64 | (calls + 1));
        let settled = queue
            .settle(nonce, WorkerId(worker), settlements, None)
            .await
            .unwrap();
        assert!(
            settled
                .verdicts
                .iter()
                .all(|verdict| seen(verdict) == Seen::Applied)
        );
    }
}

/// Q-02, G5: never two live leases of a group, in order inside each, and every job completes once.
pub async fn many_workers_complete_every_job_once_and_in_order(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let second = fixture.reopen(&bed.harness).await;
    let scale = fixture.scale();
    let mut expected = BTreeMap::new();
    let mut n = 0;
    for key in 0..scale.groups {
        let group = group(&format!("g{key}"));
        let jobs: Vec<_> = (0..scale.jobs_per_group as u64)
            .map(|at| job(n + at, &group))
            .collect();
        n += jobs.len() as u64;
        expected.insert(group, jobs.iter().map(|job| job.id).collect::<Vec<_>>());
        let staged = bed.stage(jobs).await;
        assert!(staged.iter().all(|one| *one == Staged::New));
    }
    let shared = Arc::new(Mutex::new(Shared {
        left: usize::try_from(n).unwrap(),
        ..Shared::default()
    }));
    let mut tasks = JoinSet::new();
    for worker in 0..scale.tasks as u128 {
        let ports = if worker % 2 == 0 {
            &bed.harness.ports
        } else {
            &second
        };
        let want = Want {
            max_groups: 8,
            max_jobs_per_group: 7,
            ..want()
        };
        tasks.spawn(work(
            Arc::clone(&ports.queue),
            worker + 1,
            want,
            Arc::clone(&shared),
        ));
    }
    tasks.join_all().await;
    assert!(
        shared.lock().unwrap().done == expected,
        "every job once, in the order of its group"
    );
    assert_eq!(bed.depth().await, foldwright_ports::Depth::default());
    bed.nothing_is_claimable().await;
}

/// when many ask for one group at once, one gets it.
pub async fn one_of_many_claims_gets_a_group(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let second = fixture.reopen(&bed.harness).await;
    for round in 0..10 {
        bed.stage_new(&[&job(round, &group("a"))]).await;
        let mut tasks = JoinSet::new();
        for worker in 0..16_u128 {
            let ports = if worker % 2 == 0 {
                &bed.harness.ports
            } else {
                &second
            };
            let queue = Arc::clone(&ports.queue);
            let call = u128::from(round);
            tasks.spawn(async move { claim(&*queue, worker + 1, call, &want()).await });
        }
        let leases: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
        assert_eq!(leases.len(), 1);
        bed.complete(&leases[0]).await;
    }
}

/// one call sent again while it still runs takes effect once.
pub async fn one_nonce_at_once_takes_effect_once(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let second = fixture.reopen(&bed.harness).await;
    for n in 0..40 {
        bed.stage_new(&[&job(n, &group(&format!("g{n}")))]).await;
    }
    let mut tasks = JoinSet::new();
    for n in 0..8 {
        let ports = if n % 2 == 0 { &bed.harness.ports } else { &second };
        let queue = Arc::clone(&ports.queue);
        let five = Want {
            max_groups: 5,
            ..want()
        };
        tasks.spawn(async move { queue.claim(Nonce(1 << 100), WORKER, &five).await.unwrap() });
    }
    let answers = tasks.join_all().await;
    for answer in &answers {
        let grants = |leases: &[Lease]| leases.iter().map(Lease::reference).collect::<Vec<_>>();
        assert_eq!(grants(answer), grants(&answers[0]));
    }
    assert_eq!((bed.depth().await.leased, bed.waiting().await), (5, 35));
}
