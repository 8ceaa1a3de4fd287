//! The limits of a claim.
use crate::{
    Fixture,
    kit::{Bed, JobExt, group, ids, job, want},
};
use foldwright_ports::{Body, Context, Lease, NewJob, Want};

/// Jobs of `bytes` stored bytes each, all in one group.
fn sized(first: u64, key: &str, sizes: &[u64]) -> Vec<NewJob> {
    (first..)
        .zip(sizes)
        .map(|(n, bytes)| {
            let mut job = job(n, &group(key));
            job.header = vec![b'h'; 10].into();
            job.in_blob(&format!("{n}"), bytes - 10)
        })
        .collect()
}

async fn stage(bed: &Bed<'_>, jobs: &[NewJob]) {
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
}

fn bytes(leases: &[Lease]) -> u64 {
    let jobs = leases.iter().flat_map(|lease| &lease.jobs);
    jobs.map(|job| {
        let context = job.context.as_ref().map_or(0, Body::stored_bytes);
        job.header.len() as u64 + job.body.stored_bytes() + context
    })
    .sum()
}

/// at most so many groups, and the others for the next.
pub async fn a_claim_takes_at_most_so_many_groups(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..10 {
        stage(&bed, &[job(n, &group(&format!("g{n}")))]).await;
    }
    let mut taken = Vec::new();
    for max_groups in [1, 4, 0, 3, 100] {
        let limited = Want { max_groups, ..want() };
        taken.push(bed.claim_as(&limited).await.len());
    }
    assert_eq!(taken, [1, 4, 0, 3, 2]);
}

/// at most so many jobs of each group, from the first.
pub async fn a_lease_holds_at_most_so_many_jobs(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let a: Vec<_> = (0..9).map(|n| job(n, &group("a"))).collect();
    let b: Vec<_> = (20..22).map(|n| job(n, &group("b"))).collect();
    stage(&bed, &a).await;
    stage(&bed, &b).await;
    let three = Want {
        max_jobs_per_group: 3,
        ..want()
    };
    let mut handed = Vec::new();
    for round in 0..3 {
        let leases = bed.claim_as(&three).await;
        assert_eq!(leases.len(), if round == 0 { 2 } else { 1 });
        for lease in &leases {
            if lease.group == group("a") {
                assert_eq!(lease.jobs.len(), 3);
                handed.extend(ids(lease));
            } else {
                assert_eq!(ids(lease), [b[0].id, b[1].id]);
            }
            bed.complete(lease).await;
        }
    }
    assert_eq!(handed, a.iter().map(|job| job.id).collect::<Vec<_>>());
}

/// header, body and context count, where they lie does not matter.
pub async fn a_claim_holds_at_most_so_many_bytes(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let mut jobs = sized(0, "a", &[100, 100, 100, 100]);
    let body = Body::Inline(vec![0; 50].into());
    jobs[1].context = Some(Context { body, of: [1; 16] });
    let tight = |max_bytes| Want { max_bytes, ..want() };
    stage(&bed, &jobs).await;
    let leases = bed.claim_as(&tight(350)).await;
    assert_eq!(ids(&leases[0]), [jobs[0].id, jobs[1].id, jobs[2].id]);
    assert_eq!(bytes(&leases), 350);
    bed.give_up(&leases[0], foldwright_ports::Rest::Back).await;
    let leases = bed.claim_as(&tight(349)).await;
    assert_eq!(ids(&leases[0]), [jobs[0].id, jobs[1].id]);
}

/// a first job that is larger comes alone, and no other group beside it.
pub async fn a_first_job_that_is_too_large_comes_alone(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs = sized(0, "a", &[1 << 32, 20, 20]);
    stage(&bed, &jobs).await;
    let tight = Want {
        max_bytes: 1_000,
        ..want()
    };
    let leases = bed.claim_as(&tight).await;
    assert_eq!(leases.len(), 1);
    assert_eq!(ids(&leases[0]), [jobs[0].id]);
    bed.complete(&leases[0]).await;
    let leases = bed.claim_as(&tight).await;
    assert_eq!(ids(&leases[0]), [jobs[1].id, jobs[2].id]);
    bed.complete(&leases[0]).await;

    let none = Want {
        max_bytes: 0,
        ..want()
    };
    stage(&bed, &sized(10, "b", &[50, 50])).await;
    let leases = bed.claim_as(&none).await;
    assert_eq!((leases.len(), leases[0].jobs.len()), (1, 1));
}

/// all leases of a claim together stay within its bytes.
pub async fn the_bytes_of_all_leases_count_together(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..10 {
        stage(&bed, &sized(10 * n, &format!("g{n}"), &[100, 40, 2_000, 40])).await;
    }
    let tight = Want {
        max_bytes: 1_000,
        ..want()
    };
    let mut handed = 0;
    for _ in 0..100 {
        let leases = bed.claim_as(&tight).await;
        if leases.is_empty() {
            break;
        }
        let jobs: usize = leases.iter().map(|lease| lease.jobs.len()).sum();
        let total = bytes(&leases);
        assert!(total <= 1_000 || jobs == 1, "{jobs} jobs of {total} bytes");
        for lease in &leases {
            bed.complete(lease).await;
        }
        handed += jobs;
    }
    assert_eq!(handed, 40);
}
