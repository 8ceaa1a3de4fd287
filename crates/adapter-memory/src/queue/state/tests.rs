//! Random walks through the state machine, each step checked, and what no suite can see from outside.
use super::State;
use bytes::Bytes;
use foldwright_domain::{CommandId, EventId, Millis, Position, TenantId};
use foldwright_ports::{
    BlobHash, Body, Capabilities, Capability, Context, Dedup, Fence, GroupId, JobId, Kind, Ladder, Lease,
    LeaseRef, MergeWindow, NewJob, Nonce, Outcome, QueueSettings, Rest, Route, Settlement, Verdict, Want,
};
use proptest::prelude::*;
use std::{collections::BTreeSet, sync::Arc, time::Duration};

const START: Millis = Millis(1_764_500_000_000);
const ROUTES: [&str; 3] = ["shop/fold/totals", "shop2/fold/totals", "shop/map/rows"];

fn hashes() -> [BlobHash; 4] {
    [1, 2, 3, 4].map(|n| BlobHash([n; 32]))
}

fn settings() -> QueueSettings {
    QueueSettings {
        ladder: Ladder {
            base: Duration::from_millis(100),
            cap: Duration::from_secs(1),
            attempts: 3,
        },
        nonce_ttl: Duration::from_secs(20),
        ..QueueSettings::default()
    }
}

fn group(tenant: &str, key: u8) -> GroupId {
    GroupId {
        tenant: TenantId::parse(tenant).unwrap(),
        path: "fold/totals".into(),
        key: key.to_string().into(),
    }
}

fn job(n: u8, route: &str, group: GroupId) -> NewJob {
    let route = Route::parse(route).unwrap();
    NewJob {
        id: JobId::of_command(CommandId::from_u128(u128::from(n) << 12), &route),
        route,
        group,
        position: None,
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: 1,
        header: Bytes::from_static(b"header"),
        body: Body::Inline(Bytes::from_static(b"body")),
        context: None,
    }
}

fn want(routes: &[(&str, u32)], format: u8) -> Want {
    let routes = routes
        .iter()
        .map(|(route, version)| (Route::parse(*route).unwrap(), Capability { version: *version }));
    Want {
        capabilities: Arc::new(Capabilities {
            routes: routes.collect(),
            format,
        }),
        max_groups: 3,
        max_jobs_per_group: 3,
        max_bytes: 1 << 20,
        lease: Duration::from_millis(700),
    }
}

#[derive(Clone, Debug)]
enum Step {
    Stage(Vec<NewJob>),
    Claim(Want),
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
    Elapse(i64),
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
    let dedup = (1..800_u64, any::<bool>(), any::<bool>()).prop_map(|(ttl, extend, replace)| Dedup {
        ttl: Duration::from_millis(ttl),
        window: if extend {
            MergeWindow::Sliding
        } else {
            MergeWindow::Fixed
        },
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

fn any_step() -> impl Strategy<Value = Step> {
    let routes = prop::sample::subsequence(ROUTES.to_vec(), 1..=3);
    let wants = (routes, 0..3_u32, 1..3_u8).prop_map(|(routes, version, format)| {
        let routes: Vec<_> = routes.into_iter().map(|route| (route, version)).collect();
        want(&routes, format)
    });
    let outcome = (0..5_usize, any_rest()).prop_map(|(done, rest)| Outcome { done, rest });
    prop_oneof![
        4 => prop::collection::vec(any_job(), 1..5).prop_map(Step::Stage),
        4 => wants.prop_map(Step::Claim),
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
struct Handed {
    leases: Vec<Lease>,
    last: Option<Fence>,
    live: BTreeSet<LeaseRef>,
}

impl Handed {
    fn take(&mut self, leases: Vec<Lease>) {
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

fn step(state: &mut State, handed: &mut Handed, now: &mut Millis, nonce: Nonce, step: Step) {
    if let Step::Elapse(by) = step {
        now.0 += by;
    }
    state.at(*now);
    match step {
        Step::Elapse(_) => {}
        Step::Stage(jobs) => drop(state.stage(nonce, jobs).unwrap()),
        Step::Claim(want) => {
            let leases = state.claim(nonce, &want).unwrap();
            let again = state.claim(nonce, &want).unwrap();
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
                .settle(nonce, vec![settlement.clone()], None)
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

proptest! {
    /// every job is in exactly one state, every counter and index equals a recount, tokens increase.
    #[test]
    fn whatever_happens_the_state_agrees_with_itself(steps in prop::collection::vec(any_step(), 1..80)) {
        let mut state = State::new(settings());
        let (mut handed, mut now) = (Handed::default(), START);
        for (nonce, one) in (0..).zip(steps) {
            step(&mut state, &mut handed, &mut now, Nonce(nonce), one);
            state.check(&hashes());
        }
    }

    /// after any history, once all is opened and all leases have lapsed, every job is handed out.
    #[test]
    fn nothing_is_lost(steps in prop::collection::vec(any_step(), 1..60)) {
        let mut state = State::new(settings());
        let (mut handed, mut now) = (Handed::default(), START);
        for (nonce, one) in (0..).zip(steps) {
            step(&mut state, &mut handed, &mut now, Nonce(nonce), one);
        }
        state.at(now.plus(Duration::from_secs(3_600)));
        state.reap(usize::MAX);
        for tenant in ["acme", "globex"] {
            for key in 0..4 {
                state.unblock(&group(tenant, key));
            }
        }
        let left: u64 = state.depth().values().map(|depth| depth.waiting).sum();
        let all = Want { max_groups: 100, max_jobs_per_group: 1_000, max_bytes: u64::MAX, ..want(&ROUTES.map(|route| (route, 9)), 9) };
        let leases = state.claim(Nonce(u128::MAX), &all).unwrap();
        let handed: usize = leases.iter().map(|lease| lease.jobs.len()).sum();
        prop_assert_eq!(handed as u64, left);
        for lease in leases {
            let end = Settlement {
                lease: lease.reference(),
                outcome: Outcome::complete(lease.jobs.len()),
                answers: Vec::new(),
                then: Vec::new(),
            };
            let verdicts = state.settle(Nonce(lease.fence.0.into()), vec![end], None).unwrap().verdicts;
            prop_assert!(matches!(verdicts.as_slice(), [Verdict::Applied]));
        }
        prop_assert!(state.depth().values().all(|depth| depth.waiting + depth.leased + depth.blocked == 0));
    }
}

fn open() -> State {
    let mut state = State::new(settings());
    state.at(START);
    state
}

/// A job that became due by a clock that was wrong is not due any more when the clock was set back.
#[test]
fn a_clock_that_steps_back_takes_due_jobs_back() {
    let mut state = open();
    let delayed = NewJob {
        delay: Duration::from_secs(10),
        ..job(1, ROUTES[0], group("acme", 1))
    };
    state.stage(Nonce(1), vec![delayed]).unwrap();
    state.at(START.plus(Duration::from_secs(3_600)));
    state.check(&hashes());
    state.at(START.plus(Duration::from_secs(5)));
    state.check(&hashes());
    let want = want(&[(ROUTES[0], 1)], 1);
    assert!(state.claim(Nonce(2), &want).unwrap().is_empty());
    state.at(START.plus(Duration::from_secs(10)));
    assert_eq!(state.claim(Nonce(3), &want).unwrap().len(), 1);
}

#[test]
fn a_nonce_names_one_kind_of_call() {
    let mut state = open();
    state.stage(Nonce(1), Vec::new()).unwrap();
    let want = want(&[(ROUTES[0], 1)], 1);
    assert_eq!(state.claim(Nonce(1), &want).unwrap_err().kind(), Kind::Invalid);
    assert_eq!(
        state.settle(Nonce(1), Vec::new(), None).unwrap_err().kind(),
        Kind::Invalid
    );
    state.claim(Nonce(2), &want).unwrap();
    assert_eq!(
        state.stage(Nonce(2), Vec::new()).unwrap_err().error.kind(),
        Kind::Invalid
    );
}

/// what follows is judged before anything of a settlement takes effect, and a repeat is told the same.
#[test]
fn a_follow_up_that_does_not_fit_is_refused_and_the_lease_lives_on() {
    let mut state = open();
    state
        .stage(Nonce(1), vec![job(1, ROUTES[0], group("acme", 1))])
        .unwrap();
    let lease = state
        .claim(Nonce(2), &want(&[(ROUTES[0], 1)], 1))
        .unwrap()
        .remove(0);
    let mut too_long = job(3, ROUTES[0], group("acme", 3));
    too_long.header = vec![0; 4_097].into();
    let settlement = |then| Settlement {
        lease: lease.reference(),
        outcome: Outcome::complete(1),
        answers: Vec::new(),
        then,
    };
    let fits = || job(2, ROUTES[0], group("acme", 2));
    for _ in 0..2 {
        let settled = state
            .settle(Nonce(3), vec![settlement(vec![fits(), too_long.clone()])], None)
            .unwrap();
        let verdicts = &settled.verdicts[..];
        assert!(matches!(verdicts, [Verdict::Refused(error)] if error.kind() == Kind::Invalid));
        assert!(state.view(&group("acme", 2)).is_none());
    }
    let settled = state
        .settle(Nonce(4), vec![settlement(vec![fits()])], None)
        .unwrap();
    assert!(matches!(&settled.verdicts[..], [Verdict::Applied]));
    assert!(state.view(&group("acme", 2)).is_some());
}

/// Neither a floor nor a clock can use up the tokens.
#[test]
fn an_impossible_floor_is_refused() {
    let mut state = open();
    state
        .stage(Nonce(1), vec![job(1, ROUTES[0], group("acme", 1))])
        .unwrap();
    let want = want(&[(ROUTES[0], 1)], 1);
    let lease = state.claim(Nonce(2), &want).unwrap().remove(0);
    let settlement = Settlement {
        lease: lease.reference(),
        outcome: Outcome::none(Rest::Release {
            floor: Some(Fence(u64::MAX)),
            need: None,
        }),
        answers: Vec::new(),
        then: Vec::new(),
    };
    let verdicts = state.settle(Nonce(3), vec![settlement], None).unwrap().verdicts;
    assert!(matches!(&verdicts[..], [Verdict::Refused(error)] if error.kind() == Kind::Invalid));
    state.at(Millis(i64::MAX));
    state.reap(1);
    let next = state.claim(Nonce(4), &want).unwrap().remove(0).fence;
    assert!(next > lease.fence && next < Fence(u64::MAX));
}
