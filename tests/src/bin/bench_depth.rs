//! What a claim costs when little and when much waits.
#![forbid(unsafe_code)]

use clap::Parser;
use foldwright::{
    domain::TenantId,
    ports::{GroupQueue, Room, WorkerId},
};
use foldwright_tests::{
    Composition, Nonces, Report, Times, bench_route, complete, resident_mib, small_job, want,
};
use std::error::Error;
use tokio::time::Instant;

/// As the example services do: the kernel makes many small values on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Stages jobs, each in a group of its own, then times claims and their settlements.
#[derive(Parser)]
struct Cli {
    /// Only this scenario: sqlite_10000 or sqlite_1000000, and the same with memory.
    #[arg(long)]
    scenario: Option<String>,
}

/// How many jobs wait.
const DEPTHS: [u64; 2] = [10_000, 1_000_000];

/// Whose they are.
const TENANTS: u64 = 100;

/// How many jobs one call stages.
const STAGED_AT_ONCE: u64 = 1_000;

/// How many claims are timed, and how many groups each takes: less than a tenth of the smaller depth in all.
const CLAIMS: u64 = 500;
const GROUPS: usize = 16;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let cli = Cli::parse();
    for composition in [Composition::Sqlite, Composition::Memory] {
        for depth in DEPTHS {
            let name = format!("{}_{depth}", composition.name());
            if cli.scenario.as_ref().is_none_or(|wanted| *wanted == name) {
                run(composition, depth, &name).await?;
            }
        }
    }
    Ok(())
}

async fn run(composition: Composition, depth: u64, name: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
    let stores = composition.open()?;
    let queue = stores.ports.queue.clone();
    let route = bench_route()?;
    let nonces = Nonces::default();
    let tenants: Vec<TenantId> = (0..TENANTS)
        .map(|n| TenantId::parse(format!("tenant-{n}")))
        .collect::<Result<_, _>>()?;
    let started = Instant::now();
    for first in (0..depth).step_by(STAGED_AT_ONCE as usize) {
        let jobs = (first..(first + STAGED_AT_ONCE).min(depth)).zip(tenants.iter().cycle());
        let jobs = jobs.map(|(n, tenant)| small_job(n, tenant, n, &route)).collect();
        queue.stage(nonces.next(), jobs, Room::Sender).await?;
    }
    let staged = started.elapsed();
    let (claims, settles) = time(&*queue, &nonces, depth).await?;
    Report::new("depth", name)
        .figure("waiting_count", depth)
        .figure("tenants_count", TENANTS)
        .figure("groups_a_claim", GROUPS)
        .figure("claims_count", claims.count())
        .figure(
            "stage_jobs_per_second",
            (depth as f64 / staged.as_secs_f64()).round(),
        )
        .figure("claim_p50_ms", claims.percentile_ms(50.0))
        .figure("claim_p99_ms", claims.percentile_ms(99.0))
        .figure("settle_p99_ms", settles.percentile_ms(99.0))
        .figure("resident_mib", resident_mib().unwrap_or(0))
        .print();
    stores.close().await?;
    Ok(())
}

/// Claims and completes; what is completed is taken from the depth, which it leaves nearly as it was.
async fn time(
    queue: &dyn GroupQueue,
    nonces: &Nonces,
    depth: u64,
) -> Result<(Times, Times), Box<dyn Error + Send + Sync>> {
    let want = want(&bench_route()?, GROUPS);
    let worker = WorkerId(1);
    let (mut claims, mut settles) = (Times::default(), Times::default());
    for _ in 0..CLAIMS.min(depth / GROUPS as u64) {
        let started = Instant::now();
        let leases = queue.claim(nonces.next(), worker, &want).await?;
        claims.add(started.elapsed());
        if leases.len() != GROUPS {
            return Err(format!("{} groups were handed out, {GROUPS} asked for", leases.len()).into());
        }
        let started = Instant::now();
        queue
            .settle(nonces.next(), worker, complete(&leases), None)
            .await?;
        settles.add(started.elapsed());
    }
    Ok((claims, settles))
}
