//! Random walks.
use super::{
    steps::{Handed, any_step, step},
    *,
};
proptest! {
    /// every job is in exactly one state, every counter and index equals a recount, tokens increase.
    #[test]
    fn whatever_happens_the_state_agrees_with_itself(steps in prop::collection::vec(any_step(), 1..80)) {
        let mut state = State::new(&settings());
        let (mut handed, mut now) = (Handed::default(), START);
        for (nonce, one) in (0..).zip(steps) {
            step(&mut state, &mut handed, &mut now, Nonce(nonce), one);
            state.check(&hashes());
        }
        assert_eq!(state.recount(), [], "no figure drifts");
        assert_eq!(state.prove(None, 100).unwrap().violations, []);
        state.check(&hashes());
    }

    /// after any history, once all is opened and all leases have lapsed, every job is handed out.
    #[test]
    fn nothing_is_lost(steps in prop::collection::vec(any_step(), 1..60)) {
        let mut state = State::new(&settings());
        let (mut handed, mut now) = (Handed::default(), START);
        for (nonce, one) in (0..).zip(steps) {
            step(&mut state, &mut handed, &mut now, Nonce(nonce), one);
        }
        state.at(now.plus(Duration::from_secs(3_600)));
        for pause in state.pauses() {
            state.resume(&pause.scope);
        }
        for tenant in TENANTS {
            state.limit(&TenantId::parse(tenant).unwrap(), None).unwrap();
        }
        state.reap(usize::MAX);
        for worker in WORKERS {
            state.goodbye(worker);
        }
        for tenant in ["acme", "globex"] {
            for key in 0..4 {
                state.unblock(&group(tenant, key));
            }
        }
        let left: u64 = state.depth().values().map(|depth| depth.waiting).sum();
        let all = Want { max_groups: 100, max_jobs_per_group: 1_000, max_bytes: u64::MAX, ..want(&ROUTES.map(|route| (route, 9)), 9) };
        // Wary groups come alone, one a claim, and only while their worker has no other one in hand.
        let mut handed = 0;
        for nonce in 0..100 {
            for lease in state.claim(Nonce(u128::MAX - nonce), WORKERS[0], &all).unwrap() {
                handed += lease.jobs.len();
                let end = Settlement {
                    lease: lease.reference(),
                    outcome: Outcome::complete(lease.jobs.len()),
                    answers: Vec::new(),
                    then: Vec::new(),
                };
                let verdicts = state.settle(Nonce(lease.fence.0.into()), WORKERS[0], vec![end], None).unwrap().verdicts;
                prop_assert!(matches!(verdicts.as_slice(), [Verdict::Applied]));
            }
        }
        prop_assert_eq!(handed as u64, left);
        prop_assert!(state.depth().values().all(|depth| depth.waiting + depth.leased + depth.blocked == 0));
    }
}
