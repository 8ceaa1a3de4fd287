//! What a noisy tenant costs the quiet ones.
#![forbid(unsafe_code)]

use clap::Parser;
use foldwright::{
    domain::TenantId,
    ports::{GroupQueue, JobId, Room, WorkerId},
};
use foldwright_tests::{Composition, Nonces, Report, Times, bench_route, complete, small_job, want};
use std::{
    collections::BTreeMap,
    error::Error,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{task::JoinSet, time::Instant};

/// As the example services do: the kernel makes many small values on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Fifty quiet tenants send at a steady rate, once alone and once beside a tenant with a deep backlog; the waits from
/// staging to claim are compared.
#[derive(Parser)]
struct Cli {
    /// Only this scenario: memory, sqlite or sqlite_normal, with `_light` or `_busy` behind it.
    #[arg(long)]
    scenario: Option<String>,
    /// For how many seconds the quiet tenants send.
    #[arg(long, default_value_t = 15)]
    seconds: u64,
}

/// How many groups of the noisy tenant wait before the quiet ones begin.
const NOISY_GROUPS: u64 = 200_000;
const QUIET_TENANTS: u64 = 50;
/// How the quiet tenants load the fleet by themselves.
#[derive(Clone, Copy)]
enum Load {
    /// It idles most of the time: who comes finds a free worker, and beside a noisy tenant waits for one.
    Light,
    /// It is busy most of the time: who comes waits for a worker in either case.
    Busy,
}

impl Load {
    fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Busy => "busy",
        }
    }

    /// One job of each quiet tenant in this time. A store that commits serves fewer.
    fn every(self, composition: Composition) -> Duration {
        Duration::from_millis(match (self, composition) {
            (Self::Light, _) => 100,
            (Self::Busy, Composition::Memory) => 45,
            (Self::Busy, _) => 60,
        })
    }
}
/// Workers, each with one group at a time that takes so long to run.
const WORKERS: u128 = 8;
const RUN: Duration = Duration::from_millis(4);
const STAGED_AT_ONCE: u64 = 1_000;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cli = Cli::parse();
    let scenarios = Composition::ALL
        .into_iter()
        .flat_map(|composition| [Load::Light, Load::Busy].map(|load| (composition, load)));
    for (composition, load) in scenarios {
        let name = format!("{}_{}", composition.name(), load.name());
        if cli.scenario.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let every = load.every(composition);
        let alone = run(composition, 0, every, cli.seconds).await?;
        let beside = run(composition, NOISY_GROUPS, every, cli.seconds).await?;
        let ratio = beside.percentile_ms(99.0) / alone.percentile_ms(99.0).max(0.001);
        Report::new("fairness", &name)
            .figure("every_ms", every.as_secs_f64() * 1_000.0)
            .figure("quiet_tenants_count", QUIET_TENANTS)
            .figure("noisy_groups_count", NOISY_GROUPS)
            .figure("waits_count", beside.count())
            .figure("alone_p50_ms", alone.percentile_ms(50.0))
            .figure("alone_p99_ms", alone.percentile_ms(99.0))
            .figure("beside_p50_ms", beside.percentile_ms(50.0))
            .figure("beside_p99_ms", beside.percentile_ms(99.0))
            .figure("p99_ratio", (ratio * 100.0).round() / 100.0)
            .print();
    }
    Ok(())
}

/// When each quiet job was handed over for staging.
type Sent = Mutex<BTreeMap<JobId, Instant>>;

struct Bench {
    queue: Arc<dyn GroupQueue>,
    nonces: Nonces,
    sent: Sent,
    waits: Mutex<Times>,
    over: AtomicBool,
}

async fn run(composition: Composition, noisy: u64, every: Duration, seconds: u64) -> Result<Times, Failure> {
    let stores = composition.open()?;
    let bench = Arc::new(Bench {
        queue: stores.ports.queue.clone(),
        nonces: Nonces::default(),
        sent: Mutex::default(),
        waits: Mutex::default(),
        over: AtomicBool::new(false),
    });
    let route = bench_route()?;
    let tenant = TenantId::parse("noisy")?;
    for first in (0..noisy).step_by(STAGED_AT_ONCE as usize) {
        let jobs = (first..first + STAGED_AT_ONCE).map(|n| small_job(n, &tenant, n, &route));
        bench
            .queue
            .stage(bench.nonces.next(), jobs.collect(), Room::Sender)
            .await?;
    }
    let mut workers = JoinSet::new();
    for worker in 1..=WORKERS {
        workers.spawn(work(bench.clone(), WorkerId(worker)));
    }
    let mut senders = JoinSet::new();
    for tenant in 0..QUIET_TENANTS {
        senders.spawn(send(bench.clone(), tenant, every, seconds));
    }
    while let Some(ended) = senders.join_next().await {
        ended??;
    }
    while !lock(&bench.sent).is_empty() {
        tokio::time::sleep(RUN).await;
    }
    bench.over.store(true, Ordering::Relaxed);
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    stores.close().await?;
    let times = std::mem::take(&mut *lock(&bench.waits));
    Ok(times)
}

async fn send(bench: Arc<Bench>, number: u64, every: Duration, seconds: u64) -> Result<(), Failure> {
    let (route, tenant) = (bench_route()?, TenantId::parse(format!("quiet-{number}"))?);
    // The tenants begin one after the other, so that they do not send in step.
    let first = Instant::now() + every * u32::try_from(number)? / u32::try_from(QUIET_TENANTS)?;
    let turns = seconds * 1_000 / u64::try_from(every.as_millis())?;
    for turn in 0..turns {
        tokio::time::sleep_until(first + every * u32::try_from(turn)?).await;
        let n = (1 << 40) + number * (1 << 20) + turn;
        let job = small_job(n, &tenant, turn, &route);
        lock(&bench.sent).insert(job.id, Instant::now());
        bench
            .queue
            .stage(bench.nonces.next(), vec![job], Room::Sender)
            .await?;
    }
    Ok(())
}

async fn work(bench: Arc<Bench>, worker: WorkerId) -> Result<(), Failure> {
    let want = want(&bench_route()?, 1);
    let mut leases = Vec::new();
    while !bench.over.load(Ordering::Relaxed) {
        if leases.is_empty() {
            leases = bench.queue.claim(bench.nonces.next(), worker, &want).await?;
        }
        let now = Instant::now();
        for job in leases.iter().flat_map(|lease| &lease.jobs) {
            let sent = lock(&bench.sent).remove(&job.id);
            if let Some(sent) = sent {
                lock(&bench.waits).add(now - sent);
            }
        }
        if leases.is_empty() {
            bench
                .queue
                .wait(&want.capabilities, Duration::from_millis(200))
                .await?;
            continue;
        }
        tokio::time::sleep(RUN).await;
        let settled = bench
            .queue
            .settle(bench.nonces.next(), worker, complete(&leases), Some(&want))
            .await?;
        leases = settled.next;
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
