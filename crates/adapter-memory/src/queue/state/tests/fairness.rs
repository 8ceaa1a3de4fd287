//! Whose turn it is, and what is left when all is done.
use super::*;
use foldwright_ports::Drift;

fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

/// A queue in which each tenant has so many groups of one job, all due at once, the first tenant's for the longest.
fn with_groups(tenants: &[(&str, u8)]) -> State {
    let settings = QueueSettings {
        bounds: QueueBounds::NONE,
        ..settings()
    };
    let mut state = State::new(&settings);
    state.at(START);
    let mut nonce = 0;
    for (tenant, groups) in tenants {
        for n in 0..*groups {
            nonce += 1;
            let jobs = vec![job(n, ROUTES[0], group(tenant, n))];
            state.stage(Nonce(nonce), jobs, Room::Sender).unwrap();
        }
    }
    state
}

fn up_to(groups: usize) -> Want {
    Want {
        max_groups: groups,
        ..want(&[(ROUTES[0], 1)], 1)
    }
}

fn owners(leases: &[Lease]) -> String {
    let initial = |lease: &Lease| lease.group.tenant.as_str().chars().next().unwrap();
    leases.iter().map(initial).collect()
}

fn complete(state: &mut State, nonce: u128, lease: &Lease, next: Option<&Want>) -> Vec<Lease> {
    let settlement = Settlement {
        lease: lease.reference(),
        outcome: Outcome::complete(lease.jobs.len()),
        answers: Vec::new(),
        then: Vec::new(),
    };
    let settled = state
        .settle(Nonce(nonce), WORKERS[0], vec![settlement], next)
        .unwrap();
    assert!(matches!(&settled.verdicts[..], [Verdict::Applied]));
    settled.next
}

/// F-02, F-04: slots alternate between equals, and go by weight between others, in the order of age where all is equal.
#[test]
fn slots_are_filled_by_share() {
    let mut state = with_groups(&[("acme", 9), ("globex", 9)]);
    let leases = state.claim(Nonce(900), WORKERS[0], &up_to(6)).unwrap();
    assert_eq!(owners(&leases), "agagag");
    let keys: Vec<_> = leases.iter().map(|lease| lease.group.key.to_string()).collect();
    assert_eq!(
        keys,
        ["0", "0", "1", "1", "2", "2"],
        "inside a tenant age decides"
    );

    let mut state = with_groups(&[("acme", 20), ("globex", 20)]);
    let heavy = TenantLimits {
        weight: 3,
        ..TenantLimits::default()
    };
    state.limit(&tenant("acme"), Some(heavy)).unwrap();
    let leases = state.claim(Nonce(900), WORKERS[0], &up_to(16)).unwrap();
    let of_acme = owners(&leases).matches('a').count();
    assert_eq!((of_acme, leases.len()), (12, 16));
    state.check(&hashes());
}

/// F-05: what is freed goes to the newcomer until it has its share; a chain claim is no exception.
#[test]
fn a_newcomer_gets_what_is_freed_next() {
    let mut state = with_groups(&[("acme", 8)]);
    let busy = state.claim(Nonce(900), WORKERS[0], &up_to(4)).unwrap();
    assert_eq!(owners(&busy), "aaaa");
    for n in 0..4 {
        let jobs = vec![job(n, ROUTES[0], group("globex", n))];
        state
            .stage(Nonce(910 + u128::from(n)), jobs, Room::Sender)
            .unwrap();
    }
    let mut served = String::new();
    for (nonce, lease) in (920..).zip(&busy) {
        served += &owners(&complete(&mut state, nonce, lease, Some(&up_to(1))));
    }
    assert_eq!(served, "ggaa");
}

/// F-07, F-08, F-09: a tenant at its cap is in nobody's way, gets one group back for each that ends, and all when the
/// cap goes.
#[test]
fn a_capped_tenant_leaves_the_lanes() {
    let mut state = with_groups(&[("acme", 9), ("globex", 3)]);
    let cap = TenantLimits {
        cap: Some(2),
        ..TenantLimits::default()
    };
    state.limit(&tenant("acme"), Some(cap)).unwrap();
    let leases = state.claim(Nonce(900), WORKERS[0], &up_to(9)).unwrap();
    assert_eq!(owners(&leases), "agagg");
    state.check(&hashes());
    assert!(matches!(
        state.outlook(&up_to(1).capabilities),
        super::super::Outlook::Nothing
    ));
    let next = complete(&mut state, 901, &leases[0], Some(&up_to(9)));
    assert_eq!(owners(&next), "a");
    assert_eq!(&*next[0].group.key, "2", "the oldest");
    state.limit(&tenant("acme"), None).unwrap();
    let rest = state.claim(Nonce(902), WORKERS[0], &up_to(9)).unwrap();
    assert_eq!(owners(&rest), "aaaaaa");
}

/// nothing is kept of finished work but a small record per tenant, and what is kept for a time goes in its time.
#[test]
fn an_idle_queue_keeps_nothing() {
    let mut state = with_groups(&[("acme", 9), ("globex", 9)]);
    state.beat(WORKERS[0], &up_to(1).capabilities, Duration::from_secs(5));
    let throttled = NewJob {
        dedup: Some(Dedup {
            ttl: Duration::from_secs(3),
            window: MergeWindow::Throttled,
            replace: true,
        }),
        ..job(50, ROUTES[0], group("acme", 50))
    };
    state.stage(Nonce(800), vec![throttled], Room::Sender).unwrap();
    for round in 0..19 {
        let leases = state.claim(Nonce(900 + round), WORKERS[0], &up_to(1)).unwrap();
        let rest = if round == 3 {
            Rest::DeadLetter {
                error: "no".to_owned(),
            }
        } else {
            Rest::Back
        };
        let done = usize::from(round != 3);
        let settlement = Settlement {
            lease: leases[0].reference(),
            outcome: Outcome { done, rest },
            answers: Vec::new(),
            then: Vec::new(),
        };
        state
            .settle(Nonce(1_000 + round), WORKERS[0], vec![settlement], None)
            .unwrap();
    }
    assert_eq!(
        state.groups.all().len(),
        2,
        "the throttled one and the one that ended badly"
    );
    let letter = state
        .dead_letters(None, None, foldwright_ports::Limits::items(9))
        .unwrap();
    let letter = &letter.items[0];
    assert!(state.discard(&letter.group.tenant, letter.job));
    state.at(START.plus(Duration::from_secs(60)));
    state.reap(10);
    assert_eq!(
        state.groups.all().len(),
        1,
        "how its last lease ended is remembered"
    );
    assert_eq!(state.jobs.all().count(), 0);
    assert_eq!(state.workers(), []);
    assert!(state.timers.is_empty() && state.leases.is_empty() && state.deadlines.is_empty());
    assert_eq!(state.ready.all(state.tenants.numbers()).0, []);
    state.check(&hashes());
}

/// K-16: a figure that is off, and an index that lost a group, are found and put right.
#[test]
fn what_is_stray_is_put_right() {
    let mut state = with_groups(&[("acme", 3)]);
    let acme = state.tenants.number(&tenant("acme")).unwrap();
    let row = state.tenants.get_mut(acme).unwrap();
    row.jobs += 95;
    row.in_flight += 4;
    let drifts = state.recount();
    let off: Vec<_> = drifts.iter().map(|Drift { was, is, .. }| (*was, *is)).collect();
    assert_eq!(off, [(4, 0), (98, 3)]);
    state.check(&hashes());

    let no = state.groups.number(&group("acme", 0)).unwrap();
    let (lane, turn) = state.groups.get(no).unwrap().listing.ready.unwrap();
    state.ready.remove(lane, acme, turn);
    state.groups.get_mut(no).unwrap().bytes += 7;
    let checked = state.prove(None, 2).unwrap();
    assert_eq!((checked.groups, checked.violations.len()), (2, 2));
    assert!(checked.violations.iter().all(|found| found.repaired));
    let rest = state.prove(checked.next.as_ref(), 2).unwrap();
    assert_eq!((rest.groups, rest.violations, rest.next), (1, Vec::new(), None));
    state.check(&hashes());
    let leases = state.claim(Nonce(900), WORKERS[0], &up_to(9)).unwrap();
    assert_eq!(leases.len(), 3);
}
