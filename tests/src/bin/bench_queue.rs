//! How many jobs a second a queue takes in and hands out.
#![forbid(unsafe_code)]

use clap::Parser;
use foldwright::{
    domain::TenantId,
    ports::{Body, GroupQueue, NewJob, Room, Route, WorkerId},
};
use foldwright_tests::{Composition, Nonces, Report, bench_route, complete, small_job, want};
use std::error::Error;
use tokio::time::Instant;

/// As the example services do: the kernel makes many small values on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Stages every job of a scenario, then hands all of them out.
#[derive(Parser)]
struct Cli {
    /// Only this scenario: many_groups, few_groups, one_group or large_bodies.
    #[arg(long)]
    scenario: Option<String>,
}

struct Scenario {
    name: &'static str,
    jobs: usize,
    groups: usize,
    payload_bytes: usize,
}

const SCENARIOS: [Scenario; 4] = [
    Scenario {
        name: "many_groups",
        jobs: 20_000,
        groups: 2_000,
        payload_bytes: 64,
    },
    Scenario {
        name: "few_groups",
        jobs: 20_000,
        groups: 20,
        payload_bytes: 64,
    },
    Scenario {
        name: "one_group",
        jobs: 5_000,
        groups: 1,
        payload_bytes: 64,
    },
    Scenario {
        name: "large_bodies",
        jobs: 5_000,
        groups: 500,
        payload_bytes: 32 << 10,
    },
];

/// How many jobs one call stages.
const STAGED_AT_ONCE: usize = 200;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let cli = Cli::parse();
    let wanted = |s: &&Scenario| cli.scenario.as_deref().is_none_or(|name| name == s.name);
    let chosen: Vec<_> = SCENARIOS.iter().filter(wanted).collect();
    if chosen.is_empty() {
        let names = SCENARIOS.map(|scenario| scenario.name);
        return Err(format!("no such scenario, there are {names:?}").into());
    }
    for scenario in chosen {
        for composition in Composition::ALL {
            run(scenario, composition).await?;
        }
    }
    Ok(())
}

async fn run(scenario: &Scenario, composition: Composition) -> Result<(), Box<dyn Error + Send + Sync>> {
    let stores = composition.open()?;
    let queue = stores.ports.queue.clone();
    let route = bench_route()?;
    let nonces = Nonces::default();
    let jobs: Vec<_> = (0..scenario.jobs)
        .map(|n| job(scenario, n, &route))
        .collect::<Result<_, _>>()?;
    let started = Instant::now();
    for some in jobs.chunks(STAGED_AT_ONCE) {
        queue.stage(nonces.next(), some.to_vec(), Room::Sender).await?;
    }
    let staged = started.elapsed();
    let calls = drain(&*queue, &route, scenario.jobs, &nonces).await?;
    let total = started.elapsed();
    stores.close().await?;
    Report::new("queue", &format!("{}_{}", scenario.name, composition.name()))
        .figure("jobs_count", scenario.jobs)
        .figure("groups_count", scenario.groups)
        .figure("payload_bytes", scenario.payload_bytes)
        .figure(
            "stage_jobs_per_second",
            (scenario.jobs as f64 / staged.as_secs_f64()).round(),
        )
        .figure(
            "total_jobs_per_second",
            (scenario.jobs as f64 / total.as_secs_f64()).round(),
        )
        .figure("settle_calls_count", calls)
        .print();
    Ok(())
}

/// Hands out and completes every job; answers how many calls that took.
async fn drain(
    queue: &dyn GroupQueue,
    route: &Route,
    jobs: usize,
    nonces: &Nonces,
) -> Result<usize, Box<dyn Error + Send + Sync>> {
    let want = want(route, 64);
    let worker = WorkerId(1);
    let mut leases = queue.claim(nonces.next(), worker, &want).await?;
    let (mut done, mut calls) = (0, 0);
    while !leases.is_empty() {
        done += leases.iter().map(|lease| lease.jobs.len()).sum::<usize>();
        calls += 1;
        leases = queue
            .settle(nonces.next(), worker, complete(&leases), Some(&want))
            .await?
            .next;
    }
    if done == jobs {
        Ok(calls)
    } else {
        Err(format!("{done} of {jobs} jobs were handed out").into())
    }
}

fn job(scenario: &Scenario, n: usize, route: &Route) -> Result<NewJob, Box<dyn Error + Send + Sync>> {
    let group = n % scenario.groups;
    let tenant = TenantId::parse(format!("tenant-{}", group % 4))?;
    Ok(NewJob {
        body: Body::Inline(vec![b'x'; scenario.payload_bytes].into()),
        ..small_job(n as u64, &tenant, group as u64, route)
    })
}
