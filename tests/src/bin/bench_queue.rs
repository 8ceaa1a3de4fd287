//! How many jobs a second a queue takes in and hands out.
#![forbid(unsafe_code)]

use bytes::Bytes;
use clap::Parser;
use foldwright::{
    domain::{EventId, Millis, Position, TenantId},
    ports::{
        Body, Capabilities, Capability, Clock, GroupId, GroupQueue, JobId, NewJob, Nonce, Outcome, Room,
        Route, Settlement, SystemClock, Want, WorkerId,
    },
};
use foldwright_tests::{Composition, Report};
use std::{collections::BTreeMap, error::Error, sync::Arc, time::Duration};
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
    let route = Route::parse("bench/command/work")?;
    let mut nonces = (0..).map(Nonce);
    let mut nonce = move || nonces.next().unwrap_or(Nonce(0));
    let jobs: Vec<_> = (0..scenario.jobs)
        .map(|n| job(scenario, n, &route))
        .collect::<Result<_, _>>()?;
    let started = Instant::now();
    for some in jobs.chunks(STAGED_AT_ONCE) {
        queue.stage(nonce(), some.to_vec(), Room::Sender).await?;
    }
    let staged = started.elapsed();
    let calls = drain(&*queue, &route, scenario.jobs, &mut nonce).await?;
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
    nonce: &mut impl FnMut() -> Nonce,
) -> Result<usize, Box<dyn Error + Send + Sync>> {
    let routes = BTreeMap::from([(route.clone(), Capability { version: 0 })]);
    let want = Want {
        capabilities: Arc::new(Capabilities { routes, format: 1 }),
        max_groups: 64,
        max_jobs_per_group: 100,
        max_bytes: 8 << 20,
        lease: Duration::from_secs(30),
    };
    let worker = WorkerId(1);
    let mut leases = queue.claim(nonce(), worker, &want).await?;
    let (mut done, mut calls) = (0, 0);
    while !leases.is_empty() {
        let settlements: Vec<_> = leases
            .iter()
            .map(|lease| Settlement {
                lease: lease.reference(),
                outcome: Outcome::complete(lease.jobs.len()),
                answers: Vec::new(),
                then: Vec::new(),
            })
            .collect();
        done += leases.iter().map(|lease| lease.jobs.len()).sum::<usize>();
        calls += 1;
        leases = queue
            .settle(nonce(), worker, settlements, Some(&want))
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
    let id = EventId::from_u128((n as u128) << 12);
    let group = GroupId {
        tenant: TenantId::parse(format!("tenant-{}", n % scenario.groups % 4))?,
        path: route.path().into(),
        key: format!("group:{}", n % scenario.groups).into(),
    };
    Ok(NewJob {
        id: JobId::of_event(id, route),
        route: route.clone(),
        group,
        position: Some(Position {
            occurred_at: now(),
            id,
        }),
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: 1,
        header: Bytes::from_static(b"bench"),
        body: Body::Inline(vec![b'x'; scenario.payload_bytes].into()),
        context: None,
    })
}

fn now() -> Millis {
    SystemClock.now()
}
