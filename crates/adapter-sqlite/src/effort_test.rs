//! What the statements cost that run all the time.
//!
//! SQLite counts the steps of each statement. In a store that is full of everything, none of the ordinary calls may
//! walk through a table, and none may take more steps because a group, a line or a stream is long.
use crate::{Sqlite, SqliteSettings};
use bytes::Bytes;
use foldwright_domain::{
    AggregateId, Batch, CommandId, EventId, Identity, Meta, Millis, RawEvent, StreamKey, TenantId,
};
use foldwright_ports::{
    Answer, Append, BlobHash, BlobRef, Body, Capabilities, Capability, EventRef, Expect, GroupId, JobId,
    Limits, NewJob, Nonce, Outcome, Ports, Rest, Room, Route, Scope, Settlement, TenantLimits, Want,
    WorkerId,
};
use rusqlite::{
    Connection, StatementStatus,
    trace::{TraceEvent, TraceEventCodes},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// By connection, which is to say by thread, and by text.
static EFFORTS: Mutex<BTreeMap<(String, String), Effort>> = Mutex::new(BTreeMap::new());

/// What one run of a statement cost at most.
#[derive(Default, Debug)]
struct Effort {
    /// SQLite's counts go on from run to run.
    before: (i32, i32),
    /// Steps of its virtual machine.
    steps: i32,
    /// Rows that it walked through.
    walked: i32,
    /// How often it was run.
    runs: u64,
}

impl Effort {
    fn count(&mut self, now: (i32, i32)) {
        // A statement that was prepared anew counts from zero.
        let before = if now.0 < self.before.0 {
            (0, 0)
        } else {
            self.before
        };
        self.steps = self.steps.max(now.0 - before.0);
        self.walked = self.walked.max(now.1 - before.1);
        self.before = now;
        self.runs += 1;
    }
}

/// Jobs in the longest group, groups in the longest line, tenants in line, events in the longest stream.
const MANY: u64 = 3_000;

/// A statement's fair share of steps: for a batch of a few rows.
const STEPS: i32 = 1_500;

/// How many statements have been run so far.
fn runs() -> u64 {
    let efforts = EFFORTS.lock().unwrap();
    efforts.values().map(|effort| effort.runs).sum()
}

pub(crate) fn watch(db: &Connection) {
    db.trace_v2(
        TraceEventCodes::SQLITE_TRACE_PROFILE,
        Some(|event| {
            if let TraceEvent::Profile(statement, _) = event {
                let steps = statement.get_status(StatementStatus::VmStep);
                let walked = statement.get_status(StatementStatus::FullscanStep);
                let mut efforts = EFFORTS.lock().unwrap_or_else(PoisonError::into_inner);
                let thread = std::thread::current().name().unwrap_or_default().to_owned();
                let key = (thread, statement.sql().into_owned());
                efforts.entry(key).or_default().count((steps, walked));
            }
        }),
    );
}

fn tenant() -> TenantId {
    TenantId::parse("acme").unwrap()
}

fn route(name: &str) -> Route {
    Route::parse(format!("shop/fold/{name}")).unwrap()
}

fn group(key: &str) -> GroupId {
    group_of("acme", key)
}

fn group_of(tenant: &str, key: &str) -> GroupId {
    GroupId {
        tenant: TenantId::parse(tenant).unwrap(),
        path: "fold/totals".into(),
        key: key.into(),
    }
}

fn command(n: u64) -> CommandId {
    CommandId::from_u128(u128::from(n) << 12)
}

fn job(n: u64, route: &Route, key: &str) -> NewJob {
    NewJob {
        id: JobId::of_command(command(n), route),
        route: route.clone(),
        group: group(key),
        position: None,
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: 1,
        header: Bytes::new(),
        body: Body::Blob {
            hash: hash(n),
            bytes: 9,
        },
        context: None,
    }
}

fn hash(n: u64) -> BlobHash {
    BlobHash::of(&n.to_be_bytes())
}

fn stream(id: &str) -> StreamKey {
    StreamKey {
        tenant: tenant(),
        aggregate_type: "order".into(),
        id: AggregateId::parse(id).unwrap(),
    }
}

fn append(n: u64, id: &str, expect: Expect) -> Append {
    let stream = stream(id);
    let event_id = command(n).event(0).unwrap();
    let meta = Meta {
        id: event_id,
        identity: Identity::of_id(event_id),
        stream: stream.clone(),
        event_type: "shop.sales.order.placed".into(),
        version: "2026-03-01".into(),
        occurred_at: Millis(1),
        accepted_at: Millis(1),
        idempotency_key: None,
        correlation_id: command(n),
        causation_id: EventId::from_u128(1),
        trace_context: None,
    };
    let event = RawEvent {
        meta,
        data: Bytes::from_static(b"{}"),
    };
    Append {
        batch: Batch::new(&stream, vec![event]).unwrap(),
        expect,
    }
}

fn want(groups: usize) -> Want {
    want_of("totals", groups)
}

fn want_of(name: &str, groups: usize) -> Want {
    let routes = [(route(name), Capability { version: 1 })].into_iter().collect();
    Want {
        capabilities: Arc::new(Capabilities { routes, format: 1 }),
        max_groups: groups,
        max_jobs_per_group: 3,
        max_bytes: u64::MAX,
        lease: Duration::from_secs(30),
    }
}

/// A store with a long group, long lines of ready, delayed and stranded groups, and a long stream.
async fn fill(ports: &Ports) {
    let (known, strange) = (route("totals"), route("strange"));
    let mut jobs = Vec::new();
    for n in 0..MANY {
        jobs.push(job(n, &known, "hot"));
        jobs.push(job(MANY + n, &known, &format!("ready {n}")));
        jobs.push(job(2 * MANY + n, &strange, &format!("stranded {n}")));
        let delay = Duration::from_secs(3_600);
        jobs.push(NewJob {
            delay,
            ..job(3 * MANY + n, &known, &format!("delayed {n}"))
        });
        // A delayed job behind a due one, in one long group.
        jobs.push(NewJob {
            delay,
            ..job(4 * MANY + n, &known, "hot")
        });
    }
    fill_tenants(ports).await;
    ports.queue.stage(Nonce(1), jobs, Room::Sender).await.unwrap();
    let appends = (0..MANY).map(|n| append(n, "hot", Expect::Any));
    ports.log.append(appends.collect()).await;
    let appends = (MANY..2 * MANY).map(|n| append(n, &format!("cold {n}"), Expect::Any));
    ports.log.append(appends.collect()).await;
}

/// Many tenants that are ready, some of their groups paused, and of those who share the line of the calls one that is
/// parked and one that is paused, each with many groups.
async fn fill_tenants(ports: &Ports) {
    let (queue, admin) = (&ports.queue, &ports.queue_admin);
    let (known, shared) = (route("totals"), route("shared"));
    let of = |n: u64, tenant: &str, route: &Route| NewJob {
        group: group_of(tenant, &format!("{n}")),
        ..job(5 * MANY + n, route, "")
    };
    let parked = group_of("parked", "").tenant;
    let capped = TenantLimits {
        cap: Some(1),
        ..TenantLimits::default()
    };
    admin.limit(&parked, Some(capped)).await.unwrap();
    let mut jobs = Vec::new();
    for n in 0..MANY {
        jobs.push(of(n, "parked", &known));
        jobs.push(of(n, "paused", &known));
        jobs.push(of(n, &format!("ready-{n}"), &shared));
    }
    let paused = Scope::Tenant(group_of("paused", "").tenant);
    admin.pause(&paused, "a test").await.unwrap();
    queue.stage(Nonce(2), jobs, Room::Sender).await.unwrap();
    let leases = queue.claim(Nonce(3), WorkerId(9), &want(9)).await.unwrap();
    assert_eq!(leases.len(), 1);
    assert_eq!(leases[0].group.tenant, parked, "it is at its cap from here on");
    for n in 0..MANY / 10 {
        let group = Scope::Group(group_of(&format!("ready-{n}"), &format!("{n}")));
        admin.pause(&group, "a test").await.unwrap();
    }
}

/// Every ordinary call, a few times.
async fn use_it(ports: &Ports) {
    let queue = &ports.queue;
    let known = route("totals");
    for n in 0..4_u64 {
        let base = 10 * MANY + 10 * n;
        let nonce = |k: u64| Nonce(u128::from(100 * (n + 1) + k));
        let staged = vec![
            job(base, &known, "hot"),
            job(base + 1, &known, "new"),
            job(0, &known, "hot"),
        ];
        queue.stage(nonce(0), staged, Room::Sender).await.unwrap();
        let leases = queue.claim(nonce(1), WorkerId(1), &want(3)).await.unwrap();
        let references: Vec<_> = leases.iter().map(foldwright_ports::Lease::reference).collect();
        queue.extend(&references, Duration::from_secs(60)).await.unwrap();
        let error = || "on purpose".to_owned();
        let rests = [
            Rest::Back,
            Rest::Retry {
                floor: None,
                error: error(),
            },
            Rest::DeadLetter { error: error() },
        ];
        let settlements = leases
            .iter()
            .zip(rests.iter().cycle().skip(usize::try_from(n).unwrap()));
        let settlements = settlements.map(|(lease, rest)| Settlement {
            lease: lease.reference(),
            outcome: Outcome {
                done: lease.jobs.len() / 2,
                rest: rest.clone(),
            },
            answers: vec![Answer {
                job: lease.jobs[0].id,
                answer: Bytes::new(),
            }],
            then: vec![job(base + 2, &known, "follows")],
        });
        let settlements: Vec<_> = settlements.collect();
        let settled = queue
            .settle(nonce(2), WorkerId(1), settlements, Some(&want(2)))
            .await
            .unwrap();
        let quarantine = settled.next.iter().map(|lease| Settlement {
            lease: lease.reference(),
            outcome: Outcome::none(Rest::Quarantine { error: error() }),
            answers: Vec::new(),
            then: Vec::new(),
        });
        queue
            .settle(nonce(3), WorkerId(1), quarantine.collect(), None)
            .await
            .unwrap();
        let worker = WorkerId(u128::from(n));
        let knows = want(1).capabilities;
        queue.beat(worker, &knows, Duration::from_secs(30)).await.unwrap();
        let named = [group("hot"), group(&format!("held {n}"))];
        queue
            .hold(nonce(4), worker, &named, Duration::from_secs(30))
            .await
            .unwrap();
        queue.goodbye(worker).await.unwrap();
        // Of tenants that are each one of many.
        for (groups, most, k) in [(1, 40, 5), (50, 600, 6)] {
            let before = runs();
            let leases = queue
                .claim(nonce(k), worker, &want_of("shared", groups))
                .await
                .unwrap();
            let statements = runs() - before;
            assert_eq!(leases.len(), groups);
            assert!(statements < most, "{statements} statements for {groups} groups");
        }
        queue.reap(100).await.unwrap();
        queue.wait(&want(1).capabilities, Duration::ZERO).await.unwrap();
        queue
            .answer(&tenant(), JobId::of_command(command(n), &known))
            .await
            .unwrap();
        let blob = BlobRef {
            tenant: tenant(),
            hash: hash(n),
        };
        queue.held(std::slice::from_ref(&blob)).await.unwrap();
        queue.forget(&[blob]).await.unwrap();
        look(ports).await;
        let log = &ports.log;
        log.append(vec![
            append(base, "hot", Expect::Any),
            append(0, "hot", Expect::Any),
        ])
        .await;
        log.append(vec![append(base + 1, "hot", Expect::Count(1))]).await;
        log.append(vec![append(base + 2, &format!("new {n}"), Expect::Count(0))])
            .await;
        let event = EventRef {
            stream: stream("hot"),
            id: command(n).event(0).unwrap(),
        };
        assert!(log.find(&[event]).await.unwrap()[0].is_some());
        log.load(&stream("hot"), None, Limits::items(5)).await.unwrap();
        let all = foldwright_ports::Selection::all(tenant());
        log.scan(&all, None, Limits::items(5)).await.unwrap();
        log.aggregates(&all, None, Limits::items(5)).await.unwrap();
        log.tenants(None, Limits::items(5)).await.unwrap();
    }
}

/// The operator's calls.
async fn look(ports: &Ports) {
    let admin = &ports.queue_admin;
    let blocked = admin
        .blocked(Some(&tenant()), None, Limits::items(3))
        .await
        .unwrap();
    admin.blocked(None, None, Limits::items(3)).await.unwrap();
    for group in blocked.items.iter().skip(1) {
        admin.unblock(&group.group).await.unwrap();
    }
    admin.group(&group("follows")).await.unwrap();
    admin.why(&group("follows")).await.unwrap();
    admin.why(&group("hot")).await.unwrap();
    admin.jobs(&group("hot"), None, Limits::items(5)).await.unwrap();
    let one = JobId::of_command(command(MANY), &route("totals"));
    admin.job(&tenant(), one).await.unwrap();
    admin.why_job(&tenant(), one).await.unwrap();
    admin.tenant(&tenant()).await.unwrap();
    admin.workers().await.unwrap();
    for scope in [
        Scope::All,
        Scope::Route(route("other")),
        Scope::Tenant(tenant()),
        Scope::Group(group("hot")),
    ] {
        admin.pause(&scope, "a test").await.unwrap();
        admin.resume(&scope).await.unwrap();
    }
    admin.bury(&group("hot"), "a test", 2).await.unwrap();
    admin.drain(&group("new"), 2).await.unwrap();
    let dead = admin.dead_letters(None, None, Limits::items(3)).await.unwrap();
    admin
        .dead_letters(Some(&tenant()), None, Limits::items(3))
        .await
        .unwrap();
    if let Some(letter) = dead.items.first() {
        admin.requeue(&tenant(), letter.job).await.unwrap();
    }
}

/// Q-04, F-06: the work of a call does not grow with what waits.
#[test]
fn no_ordinary_call_walks_through_a_table() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let sqlite = Sqlite::open(directory.path().join("store.db"), SqliteSettings::default()).unwrap();
        let ports = sqlite.ports();
        fill(&ports).await;
        for effort in EFFORTS.lock().unwrap().values_mut() {
            (effort.steps, effort.walked) = (0, 0);
        }
        use_it(&ports).await;
        sqlite.close().await.unwrap();
    });
    let efforts = EFFORTS.lock().unwrap();
    assert!(efforts.len() > 60, "{} statements were seen", efforts.len());
    // Tables of one row, or of one per route, are walked through by intent; so is the beginning of what is purged.
    let small = [
        "FROM fw_queue",
        "FROM fw_depths",
        "fw_queue SET",
        "fw_outages",
        "fw_pauses",
        "fw_workers",
        "ORDER BY n LIMIT",
        "ORDER BY base LIMIT",
    ];
    let dear: BTreeMap<_, _> = efforts
        .iter()
        .filter(|((_, sql), effort)| {
            effort.steps > STEPS || effort.walked > 0 && !small.iter().any(|small| sql.contains(small))
        })
        .collect();
    assert!(dear.is_empty(), "{dear:#?}");
}
