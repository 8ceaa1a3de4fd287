//! Single cases.
use super::*;
/// A job that became due by a clock that was wrong is not due any more when the clock was set back.
#[test]
fn a_clock_that_steps_back_takes_due_jobs_back() {
    let mut state = open();
    let delayed = NewJob {
        delay: Duration::from_secs(10),
        ..job(1, ROUTES[0], group("acme", 1))
    };
    state.stage(Nonce(1), vec![delayed], Room::Sender).unwrap();
    state.at(START.plus(Duration::from_secs(3_600)));
    state.check(&hashes());
    state.at(START.plus(Duration::from_secs(5)));
    state.check(&hashes());
    let want = want(&[(ROUTES[0], 1)], 1);
    assert!(state.claim(Nonce(2), WORKERS[0], &want).unwrap().is_empty());
    state.at(START.plus(Duration::from_secs(10)));
    assert_eq!(state.claim(Nonce(3), WORKERS[0], &want).unwrap().len(), 1);
}

#[test]
fn a_nonce_names_one_kind_of_call() {
    let mut state = open();
    state.stage(Nonce(1), Vec::new(), Room::Sender).unwrap();
    let want = want(&[(ROUTES[0], 1)], 1);
    assert_eq!(
        state.claim(Nonce(1), WORKERS[0], &want).unwrap_err().kind(),
        Kind::Invalid
    );
    assert_eq!(
        state
            .settle(Nonce(1), WORKERS[0], Vec::new(), None)
            .unwrap_err()
            .kind(),
        Kind::Invalid
    );
    state.claim(Nonce(2), WORKERS[0], &want).unwrap();
    assert_eq!(
        state
            .stage(Nonce(2), Vec::new(), Room::Sender)
            .unwrap_err()
            .error
            .kind(),
        Kind::Invalid
    );
}

/// what follows is judged before anything of a settlement takes effect, and a repeat is told the same.
#[test]
fn a_follow_up_that_does_not_fit_is_refused_and_the_lease_lives_on() {
    let mut state = open();
    state
        .stage(Nonce(1), vec![job(1, ROUTES[0], group("acme", 1))], Room::Sender)
        .unwrap();
    let lease = state
        .claim(Nonce(2), WORKERS[0], &want(&[(ROUTES[0], 1)], 1))
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
            .settle(
                Nonce(3),
                WORKERS[0],
                vec![settlement(vec![fits(), too_long.clone()])],
                None,
            )
            .unwrap();
        let verdicts = &settled.verdicts[..];
        assert!(matches!(verdicts, [Verdict::Refused(error)] if error.kind() == Kind::Invalid));
        assert!(state.view(&group("acme", 2)).is_none());
    }
    let settled = state
        .settle(Nonce(4), WORKERS[0], vec![settlement(vec![fits()])], None)
        .unwrap();
    assert!(matches!(&settled.verdicts[..], [Verdict::Applied]));
    assert!(state.view(&group("acme", 2)).is_some());
}

/// Neither a floor nor a clock can use up the tokens.
#[test]
fn an_impossible_floor_is_refused() {
    let mut state = open();
    state
        .stage(Nonce(1), vec![job(1, ROUTES[0], group("acme", 1))], Room::Sender)
        .unwrap();
    let want = want(&[(ROUTES[0], 1)], 1);
    let lease = state.claim(Nonce(2), WORKERS[0], &want).unwrap().remove(0);
    let settlement = Settlement {
        lease: lease.reference(),
        outcome: Outcome::none(Rest::Release {
            floor: Some(Fence(u64::MAX)),
            need: None,
        }),
        answers: Vec::new(),
        then: Vec::new(),
    };
    let verdicts = state
        .settle(Nonce(3), WORKERS[0], vec![settlement], None)
        .unwrap()
        .verdicts;
    assert!(matches!(&verdicts[..], [Verdict::Refused(error)] if error.kind() == Kind::Invalid));
    state.at(Millis(i64::MAX));
    state.reap(1);
    let next = state.claim(Nonce(4), WORKERS[0], &want).unwrap().remove(0).fence;
    assert!(next > lease.fence && next < Fence(u64::MAX));
}
