//! Waiting for work, in virtual time.
use bytes::Bytes;
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::{CommandId, Millis, TenantId};
use foldwright_ports::{
    Body, BreakerSettings, Capabilities, Capability, GroupId, GroupQueue, Hold, JobId, NewJob, Nonce,
    Outcome, Ports, QueueSettings, Rest, Room, Route, Scope, Settlement, TenantLimits, Want, WorkerId,
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

const KNOWN: &str = "shop/fold/totals";
const FOREIGN: &str = "shop/fold/other";
const ORIGIN: Millis = Millis(1_764_500_000_000);
const WORKER: WorkerId = WorkerId(1);

fn open() -> Ports {
    Memory::new(Arc::new(VirtualClock::new(ORIGIN)), QueueSettings::default()).ports()
}

fn known() -> Capabilities {
    Capabilities {
        routes: [(Route::parse(KNOWN).unwrap(), Capability { version: 1 })].into(),
        format: 1,
    }
}

fn want() -> Want {
    Want {
        capabilities: Arc::new(known()),
        max_groups: 10,
        max_jobs_per_group: 10,
        max_bytes: 1 << 20,
        lease: secs(30),
    }
}

fn job(n: u128, route: &str, delay: Duration) -> NewJob {
    let route = Route::parse(route).unwrap();
    NewJob {
        id: JobId::of_command(CommandId::from_u128(n << 12), &route),
        group: GroupId {
            tenant: TenantId::parse("acme").unwrap(),
            path: route.path().into(),
            key: "a".into(),
        },
        route,
        position: None,
        delay,
        replace: false,
        dedup: None,
        format: 1,
        header: Bytes::new(),
        body: Body::Inline(Bytes::new()),
        context: None,
    }
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

async fn stage(ports: &Ports, nonce: u128, job: NewJob) {
    ports
        .queue
        .stage(Nonce(nonce), vec![job], Room::Sender)
        .await
        .unwrap();
}

/// How long a wait of at most a minute takes.
async fn waited(queue: &dyn GroupQueue) -> Duration {
    let began = Instant::now();
    queue.wait(&known(), secs(60)).await.unwrap();
    began.elapsed()
}

#[tokio::test(start_paused = true)]
async fn work_that_is_there_is_not_waited_for() {
    let ports = open();
    stage(&ports, 1, job(1, KNOWN, Duration::ZERO)).await;
    assert_eq!(waited(&*ports.queue).await, Duration::ZERO);
}

/// a staged job wakes whoever waits, at once.
#[tokio::test(start_paused = true)]
async fn a_staged_job_wakes() {
    let ports = open();
    let late = async {
        tokio::time::sleep(secs(7)).await;
        stage(&ports, 1, job(1, KNOWN, Duration::ZERO)).await;
    };
    let (waited, ()) = tokio::join!(waited(&*ports.queue), late);
    assert_eq!(waited, secs(7));
}

/// a delayed job wakes at its time, also when it was staged while someone waits.
#[tokio::test(start_paused = true)]
async fn a_delayed_job_wakes_at_its_time() {
    let ports = open();
    stage(&ports, 1, job(1, KNOWN, secs(20))).await;
    let sooner = async {
        tokio::time::sleep(secs(3)).await;
        stage(&ports, 2, job(2, KNOWN, secs(4))).await;
    };
    let (first, ()) = tokio::join!(waited(&*ports.queue), sooner);
    assert_eq!(first, secs(7));
    assert_eq!(ports.clock.now(), ORIGIN.plus(secs(7)));
    let leases = ports.queue.claim(Nonce(3), WORKER, &want()).await.unwrap();
    assert_eq!(leases[0].jobs[0].id, job(2, KNOWN, secs(4)).id);
}

/// Q-13, C-14: jobs of routes that the worker does not know do not end its wait, due or delayed.
#[tokio::test(start_paused = true)]
async fn stranded_jobs_do_not_wake() {
    let ports = open();
    stage(&ports, 1, job(1, FOREIGN, Duration::ZERO)).await;
    stage(&ports, 2, job(2, FOREIGN, secs(10))).await;
    let later = async {
        tokio::time::sleep(secs(5)).await;
        stage(&ports, 3, job(3, FOREIGN, Duration::ZERO)).await;
    };
    let (waited, ()) = tokio::join!(waited(&*ports.queue), later);
    assert_eq!(waited, secs(60));
}

/// the end of a group's wait wakes, and so do a lease that is given back and one that was reaped.
#[tokio::test(start_paused = true)]
async fn a_group_that_opens_wakes() {
    let ports = open();
    stage(&ports, 1, job(1, KNOWN, Duration::ZERO)).await;
    for (nonce, rest, wait) in [
        (10, Rest::Defer { after: secs(9) }, secs(9)),
        (20, Rest::Back, secs(2)),
    ] {
        let leases = ports.queue.claim(Nonce(nonce), WORKER, &want()).await.unwrap();
        let settle = async {
            if wait == secs(2) {
                tokio::time::sleep(wait).await;
            }
            let settlement = Settlement {
                lease: leases[0].reference(),
                outcome: Outcome::none(rest),
                answers: Vec::new(),
                then: Vec::new(),
            };
            ports
                .queue
                .settle(Nonce(nonce + 1), WORKER, vec![settlement], None)
                .await
                .unwrap();
        };
        let (waited, ()) = tokio::join!(waited(&*ports.queue), settle);
        assert_eq!(waited, wait);
    }
    ports.queue.claim(Nonce(30), WORKER, &want()).await.unwrap();
    let reap = async {
        tokio::time::sleep(secs(31)).await;
        assert_eq!(ports.queue.reap(10).await.unwrap().lapsed, 1);
    };
    let (waited, ()) = tokio::join!(waited(&*ports.queue), reap);
    assert_eq!(waited, secs(31));
}

/// Q-13, F-13: the end of a pause wakes, and what is paused does not.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_pause_wakes() {
    for scope in [
        Scope::All,
        Scope::Route(Route::parse(KNOWN).unwrap()),
        Scope::Tenant(TenantId::parse("acme").unwrap()),
        Scope::Group(job(1, KNOWN, Duration::ZERO).group),
    ] {
        let ports = open();
        ports.queue_admin.pause(&scope, "upgrade").await.unwrap();
        stage(&ports, 1, job(1, KNOWN, Duration::ZERO)).await;
        let resume = async {
            tokio::time::sleep(secs(8)).await;
            ports.queue_admin.resume(&scope).await.unwrap();
        };
        let (waited, ()) = tokio::join!(waited(&*ports.queue), resume);
        assert_eq!(waited, secs(8), "{scope}");
    }
}

/// Q-13, F-08: what is parked wakes when a slot comes free, although nothing else changes with it.
#[tokio::test(start_paused = true)]
async fn a_free_slot_wakes_for_what_is_parked() {
    let ports = open();
    let acme = TenantId::parse("acme").unwrap();
    let limits = TenantLimits {
        cap: Some(1),
        ..TenantLimits::default()
    };
    ports.queue_admin.limit(&acme, Some(limits)).await.unwrap();
    stage(&ports, 1, job(1, KNOWN, Duration::ZERO)).await;
    let mut other = job(2, KNOWN, Duration::ZERO);
    other.group.key = "b".into();
    stage(&ports, 2, other).await;
    let leases = ports.queue.claim(Nonce(3), WORKER, &want()).await.unwrap();
    assert_eq!(leases.len(), 1);
    let settle = async {
        tokio::time::sleep(secs(6)).await;
        let settlement = Settlement {
            lease: leases[0].reference(),
            outcome: Outcome::complete(1),
            answers: Vec::new(),
            then: Vec::new(),
        };
        let settled = ports.queue.settle(Nonce(4), WORKER, vec![settlement], None);
        settled.await.unwrap();
    };
    let (waited, ()) = tokio::join!(waited(&*ports.queue), settle);
    assert_eq!(waited, secs(6));
}

/// a route that was closed for its failures wakes when it is tried again, and not before.
#[tokio::test(start_paused = true)]
async fn the_end_of_an_outage_wakes() {
    let settings = QueueSettings {
        breaker: BreakerSettings {
            groups: 1,
            tenants: 1,
            first: secs(9),
            ..BreakerSettings::default()
        },
        ..QueueSettings::default()
    };
    let ports = Memory::new(Arc::new(VirtualClock::new(ORIGIN)), settings).ports();
    stage(&ports, 1, job(1, KNOWN, Duration::ZERO)).await;
    let leases = ports.queue.claim(Nonce(2), WORKER, &want()).await.unwrap();
    let mut other = job(2, KNOWN, Duration::ZERO);
    other.group.key = "b".into();
    stage(&ports, 3, other).await;
    let settlement = Settlement {
        lease: leases[0].reference(),
        outcome: Outcome::none(Rest::Quarantine {
            error: "the database is down".to_owned(),
        }),
        answers: Vec::new(),
        then: Vec::new(),
    };
    let next = want();
    let settled = ports
        .queue
        .settle(Nonce(4), WORKER, vec![settlement], Some(&next))
        .await;
    assert_eq!(settled.unwrap().next, []);
    assert_eq!(waited(&*ports.queue).await, secs(9));
    let leases = ports.queue.claim(Nonce(5), WORKER, &want()).await.unwrap();
    assert_eq!(&*leases[0].group.key, "b");
}

/// a reservation that runs out gives the group back to all, and wakes.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_reservation_wakes() {
    let ports = open();
    stage(&ports, 1, job(1, KNOWN, Duration::ZERO)).await;
    let leases = ports.queue.claim(Nonce(2), WORKER, &want()).await.unwrap();
    let group = [leases[0].group.clone()];
    let held = ports
        .queue
        .hold(Nonce(3), WorkerId(2), &group, secs(7))
        .await
        .unwrap();
    assert!(matches!(held[0], Hold::Reserved { .. }));
    let settlement = Settlement {
        lease: leases[0].reference(),
        outcome: Outcome::none(Rest::Back),
        answers: Vec::new(),
        then: Vec::new(),
    };
    let next = want();
    let settled = ports
        .queue
        .settle(Nonce(4), WORKER, vec![settlement], Some(&next))
        .await;
    assert_eq!(settled.unwrap().next, []);
    assert_eq!(waited(&*ports.queue).await, secs(7));
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_nothing_ends_at_its_limit() {
    assert_eq!(waited(&*open().queue).await, secs(60));
}
