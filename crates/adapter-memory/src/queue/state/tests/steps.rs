//! What a random walk does.
use super::*;
#[derive(Clone, Debug)]
pub(super) enum Step {
    Stage(Vec<NewJob>, Room),
    Claim(usize, Want),
    Settle {
        nth: usize,
        outcome: Outcome,
        then: Vec<NewJob>,
    },
    Extend(usize),
    Reap(usize),
    Unblock(GroupId),
    Drain(GroupId, usize),
    Requeue(usize),
    Discard(usize),
    Bury(GroupId, usize),
    Hold(usize, Vec<GroupId>),
    LetGo(usize),
    Beat(usize, u64),
    Goodbye(usize),
    Pause(Scope),
    Resume(Scope),
    Limit(&'static str, Option<TenantLimits>),
    Sweep(Verb, GroupFilter),
    RequeueAll(usize),
    Look(GroupId),
    Elapse(i64),
}

fn any_scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        1 => Just(Scope::All),
        1 => Just(Scope::Pipeline("shop".into())),
        1 => Just(Scope::Kind("fold".into())),
        1 => prop::sample::select(ROUTES.to_vec()).prop_map(|r| Scope::Route(Route::parse(r).unwrap())),
        2 => prop::sample::select(TENANTS.to_vec()).prop_map(|t| Scope::Tenant(TenantId::parse(t).unwrap())),
        2 => any_group().prop_map(Scope::Group),
    ]
}

fn any_limits() -> impl Strategy<Value = Option<TenantLimits>> {
    prop::option::of(
        (1..4_u32, prop::option::of(1..3_u32)).prop_map(|(weight, cap)| TenantLimits {
            weight,
            cap,
            ..TenantLimits::default()
        }),
    )
}

fn any_filter() -> impl Strategy<Value = GroupFilter> {
    let states = vec![
        GroupState::Blocked,
        GroupState::Due,
        GroupState::Paused,
        GroupState::Parked,
    ];
    prop::option::of(prop::sample::select(states)).prop_map(|state| GroupFilter {
        state,
        ..GroupFilter::default()
    })
}

fn any_operation() -> impl Strategy<Value = Step> {
    let verbs = vec![Verb::Unblock, Verb::Drain, Verb::Bury];
    prop_oneof![
        (any_group(), 0..5_usize).prop_map(|(group, limit)| Step::Bury(group, limit)),
        any_scope().prop_map(Step::Pause),
        any_scope().prop_map(Step::Resume),
        any_scope().prop_map(Step::Resume),
        (prop::sample::select(TENANTS.to_vec()), any_limits())
            .prop_map(|(tenant, limits)| Step::Limit(tenant, limits)),
        (prop::sample::select(verbs), any_filter()).prop_map(|(verb, filter)| Step::Sweep(verb, filter)),
        (0..3_usize).prop_map(Step::RequeueAll),
        any_group().prop_map(Step::Look),
    ]
}

fn any_group() -> impl Strategy<Value = GroupId> {
    (prop::sample::select(vec!["acme", "globex"]), 0..4_u8).prop_map(|(tenant, key)| group(tenant, key))
}

fn any_body() -> impl Strategy<Value = Body> {
    prop::option::of(prop::sample::select(hashes().to_vec())).prop_map(|hash| match hash {
        Some(hash) => Body::Blob { hash, bytes: 100_000 },
        None => Body::Inline(Bytes::from_static(b"body")),
    })
}

fn any_job() -> impl Strategy<Value = NewJob> {
    let windows = vec![MergeWindow::Fixed, MergeWindow::Sliding, MergeWindow::Throttled];
    let dedup =
        (1..800_u64, prop::sample::select(windows), any::<bool>()).prop_map(|(ttl, window, replace)| Dedup {
            ttl: Duration::from_millis(ttl),
            window,
            replace,
        });
    (
        (0..40_u8, prop::sample::select(ROUTES.to_vec()), any_group()),
        prop::option::of((-500..500_i64, 0..9_u128)),
        prop_oneof![Just(0), 1..900_u64],
        (any::<bool>(), prop::option::of(dedup), 1..3_u8),
        (any_body(), prop::option::of((any_body(), 0..2_u8))),
    )
        .prop_map(
            |((n, route, group), at, delay, (replace, dedup, format), (body, context))| NewJob {
                position: at.map(|(at, id)| Position {
                    occurred_at: Millis(START.0 + at),
                    id: EventId::from_u128(id),
                }),
                delay: Duration::from_millis(delay),
                replace,
                dedup,
                format,
                body,
                context: context.map(|(body, of)| Context { body, of: [of; 16] }),
                ..job(n, route, group)
            },
        )
}

fn any_rest() -> impl Strategy<Value = Rest> {
    let error = || "boom".to_owned();
    prop_oneof![
        Just(Rest::Back),
        Just(Rest::Retry {
            floor: None,
            error: error()
        }),
        Just(Rest::Quarantine { error: error() }),
        Just(Rest::DeadLetter { error: error() }),
        (0..900_u64).prop_map(|after| Rest::Defer {
            after: Duration::from_millis(after)
        }),
        prop::option::of(0..3_u32).prop_map(|need| Rest::Release { floor: None, need }),
    ]
}

pub(super) fn any_step() -> impl Strategy<Value = Step> {
    let routes = prop::sample::subsequence(ROUTES.to_vec(), 1..=3);
    let wants = (routes, 0..3_u32, 1..3_u8).prop_map(|(routes, version, format)| {
        let routes: Vec<_> = routes.into_iter().map(|route| (route, version)).collect();
        want(&routes, format)
    });
    let outcome = (0..5_usize, any_rest()).prop_map(|(done, rest)| Outcome { done, rest });
    prop_oneof![
        4 => (prop::collection::vec(any_job(), 1..5), any::<bool>()).prop_map(|(jobs, sender)| {
            Step::Stage(jobs, if sender { Room::Sender } else { Room::Lease })
        }),
        4 => (0..3_usize, wants).prop_map(|(worker, want)| Step::Claim(worker, want)),
        1 => (0..3_usize, prop::collection::vec(any_group(), 1..4)).prop_map(|(w, groups)| Step::Hold(w, groups)),
        1 => (0..4_usize).prop_map(Step::LetGo),
        1 => (0..3_usize, 50..900_u64).prop_map(|(worker, ttl)| Step::Beat(worker, ttl)),
        1 => (0..3_usize).prop_map(Step::Goodbye),
        3 => any_operation(),
        4 => (0..6_usize, outcome, prop::collection::vec(any_job(), 0..2))
            .prop_map(|(nth, outcome, then)| Step::Settle { nth, outcome, then }),
        1 => (0..6_usize).prop_map(Step::Extend),
        1 => (0..4_usize).prop_map(Step::Reap),
        1 => any_group().prop_map(Step::Unblock),
        1 => (any_group(), 0..5_usize).prop_map(|(group, limit)| Step::Drain(group, limit)),
        1 => (0..6_usize).prop_map(Step::Requeue),
        1 => (0..6_usize).prop_map(Step::Discard),
        3 => prop_oneof![9 => 0..900_i64, 1 => -2_000..0_i64].prop_map(Step::Elapse),
    ]
}

/// The leases that were handed out, and what must hold of each new one.
#[derive(Default)]
pub(super) struct Handed {
    leases: Vec<Lease>,
    holds: Vec<LeaseRef>,
    last: Option<Fence>,
    live: BTreeSet<LeaseRef>,
}

impl Handed {
    pub(super) fn take(&mut self, leases: Vec<Lease>) {
        for lease in leases {
            assert!(Some(lease.fence) > self.last, "tokens strictly increase");
            self.last = Some(lease.fence);
            assert!(!lease.jobs.is_empty());
            self.live.insert(lease.reference());
            self.leases.push(lease);
        }
    }

    fn nth(&self, nth: usize) -> Option<&Lease> {
        self.leases.iter().rev().nth(nth)
    }
}

pub(super) fn step(state: &mut State, handed: &mut Handed, now: &mut Millis, nonce: Nonce, step: Step) {
    if let Step::Elapse(by) = step {
        now.0 += by;
    }
    state.at(*now);
    state.take_spent();
    match step {
        Step::Elapse(_) => {}
        Step::Stage(jobs, room) => {
            let count = jobs.len();
            if let Err(refused) = state.stage(nonce, jobs, room) {
                assert_eq!((room, refused.error.kind()), (Room::Sender, Kind::Full));
                assert_eq!(refused.jobs.len(), count, "the jobs come back");
            }
        }
        Step::Claim(worker, want) => {
            let worker = WORKERS[worker];
            let caps = TENANTS.map(|tenant| state.tenant(&TenantId::parse(tenant).unwrap()));
            let leases = state.claim(nonce, worker, &want).unwrap();
            let again = state.claim(nonce, worker, &want).unwrap();
            for before in caps {
                let after = state.tenant(&before.tenant).in_flight;
                let cap = before.limits.cap.map_or(u64::MAX, u64::from);
                assert!(after <= cap.max(before.in_flight), "a cap is never exceeded");
            }
            assert_eq!(leases, again, "a repeated claim grants the same");
            handed.take(leases);
        }
        Step::Settle { nth, outcome, then } => {
            let Some(lease) = handed.nth(nth) else { return };
            let settlement = Settlement {
                lease: lease.reference(),
                outcome,
                answers: Vec::new(),
                then,
            };
            let live = handed.live.clone();
            let verdict = state
                .settle(nonce, WORKERS[0], vec![settlement.clone()], None)
                .unwrap()
                .verdicts
                .remove(0);
            match verdict {
                Verdict::Applied => assert!(handed.live.remove(&settlement.lease), "settled once"),
                Verdict::Already => assert!(!live.contains(&settlement.lease)),
                Verdict::Refused(error) => assert_eq!(error.kind(), Kind::Invalid),
                Verdict::Lost => {}
            }
        }
        Step::Extend(nth) => {
            let Some(lease) = handed.nth(nth) else { return };
            state.extend(&[lease.reference()], Duration::from_millis(700));
        }
        Step::Reap(limit) => assert!(state.reap(limit).lapsed <= limit),
        Step::Bury(group, limit) => assert!(state.bury_group(&group, "hopeless", limit) <= limit),
        Step::Hold(worker, groups) => {
            let lease = Duration::from_millis(600);
            let held = state.hold(nonce, WORKERS[worker], &groups, lease).unwrap();
            let again = state.hold(nonce, WORKERS[worker], &groups, lease).unwrap();
            assert_eq!(held, again, "a repeated hold is answered the same");
            for hold in held {
                if let Hold::Granted { lease, .. } = hold {
                    handed.last = handed.last.max(Some(lease.fence));
                    handed.holds.push(lease);
                }
            }
        }
        Step::LetGo(nth) => {
            if let Some(lease) = handed.holds.iter().rev().nth(nth) {
                let settlement = Settlement {
                    lease: lease.clone(),
                    outcome: Outcome::none(Rest::Back),
                    answers: Vec::new(),
                    then: Vec::new(),
                };
                let settled = state.settle(nonce, WORKERS[0], vec![settlement], None).unwrap();
                assert!(!matches!(&settled.verdicts[..], [Verdict::Refused(_)]));
            }
        }
        Step::Beat(worker, ttl) => {
            let knows = want(&ROUTES.map(|route| (route, 1)), 1).capabilities;
            state.beat(WORKERS[worker], &knows, Duration::from_millis(ttl));
        }
        Step::Goodbye(worker) => state.goodbye(WORKERS[worker]),
        Step::Pause(scope) => {
            let was = state.pauses().iter().any(|pause| pause.scope == scope);
            assert_eq!(state.pause(&scope, "why not"), !was);
        }
        Step::Resume(scope) => {
            let was = state.pauses().iter().any(|pause| pause.scope == scope);
            assert_eq!(state.resume(&scope), was);
        }
        Step::Limit(tenant, limits) => state.limit(&TenantId::parse(tenant).unwrap(), limits).unwrap(),
        Step::Sweep(verb, filter) => {
            let would = state.sweep(verb, &filter, true, None, 100).unwrap();
            assert_eq!(state.sweep(verb, &filter, false, None, 100).unwrap(), would);
        }
        Step::RequeueAll(letters) => assert!(state.requeue_all(None, letters).jobs <= letters as u64),
        Step::Look(group) => look(state, &group),
        Step::Unblock(group) => drop(state.unblock(&group)),
        Step::Drain(group, limit) => assert!(state.drain(&group, limit) <= limit),
        Step::Requeue(nth) | Step::Discard(nth) => {
            let limits = foldwright_ports::Limits::items(100);
            let letters = state.dead_letters(None, None, limits).unwrap().items;
            if let Some(letter) = letters.get(nth) {
                let tenant = &letter.group.tenant;
                assert!(match step {
                    Step::Requeue(_) => state.requeue(tenant, letter.job),
                    _ => state.discard(tenant, letter.job),
                });
            }
        }
    }
}

/// Looking agrees with itself.
fn look(state: &State, group: &GroupId) {
    let limits = foldwright_ports::Limits::items(100);
    let why = state.why(group);
    let view = state.view(group);
    let lines = state.groups(&GroupFilter::default(), None, limits).unwrap().items;
    let line = lines.iter().find(|line| line.group == *group);
    let jobs = state.jobs(group, None, limits).unwrap().items;
    assert_eq!(
        view.as_ref().map_or(Vec::new(), |view| view.jobs.clone()),
        jobs.iter().map(|job| job.id).collect::<Vec<_>>()
    );
    if let Some(line) = line {
        let why = why.unwrap();
        assert_eq!((line.state, line.jobs), (why.state, view.unwrap().depth));
        let free = [GroupState::Due, GroupState::Scheduled].contains(&why.state);
        assert!(free || !why.reasons.is_empty(), "{why:?}");
        assert!(why.state != GroupState::Due || why.reasons.is_empty(), "{why:?}");
    } else {
        assert!(jobs.is_empty());
    }
    for job in jobs {
        let why = state.why_job(&group.tenant, job.id).unwrap();
        assert_eq!(why.group, *group);
    }
}
