use super::*;

const CURRENT: &str = "2026-03-01";

fn check(pairs: &[(&'static str, &'static str)]) -> Result<Vec<Route<'static>>, Vec<(usize, Fault)>> {
    let steps: Vec<_> = pairs.iter().map(|&(from, to)| Step { from, to }).collect();
    routes(CURRENT, &steps)
}

/// L-12
#[test]
fn every_version_has_its_route_oldest_first() {
    let found = check(&[
        ("2025-06-01", CURRENT),
        ("2024-01-01", "2025-06-01"),
        ("2025-01-01", CURRENT),
    ])
    .unwrap();
    assert_eq!(
        found,
        [
            Route {
                from: "2024-01-01",
                steps: vec![1, 0]
            },
            Route {
                from: "2025-01-01",
                steps: vec![2]
            },
            Route {
                from: "2025-06-01",
                steps: vec![0]
            },
        ]
    );
    assert_eq!(check(&[]), Ok(vec![]));
}

/// C-12
#[test]
fn a_hole_is_found_at_the_step_before_it() {
    let chain = [("2024-01-01", "2024-06-01"), ("2025-01-01", CURRENT)];
    assert_eq!(check(&chain), Err(vec![(0, Fault::Hole)]));
    assert_eq!(
        check(&[("2025-01-01", "2027-01-01")]),
        Err(vec![(0, Fault::Hole)])
    );
}

/// C-12
#[test]
fn a_fork_is_found_at_the_second_step() {
    let chain = [
        ("2025-01-01", "2025-06-01"),
        ("2025-06-01", CURRENT),
        ("2025-01-01", CURRENT),
    ];
    assert_eq!(check(&chain), Err(vec![(2, Fault::Fork)]));
}

/// C-12
#[test]
fn a_circle_is_found_where_it_closes() {
    let chain = [
        ("2025-01-01", "2025-03-01"),
        ("2025-03-01", "2025-06-01"),
        ("2025-06-01", "2025-01-01"),
    ];
    assert_eq!(check(&chain), Err(vec![(2, Fault::Cycle)]));
    let through_current = [("2025-01-01", CURRENT), (CURRENT, "2025-01-01")];
    assert_eq!(check(&through_current), Err(vec![(1, Fault::Cycle)]));
}

/// C-12
#[test]
fn a_step_goes_forward_in_time() {
    assert_eq!(
        check(&[("2026-06-01", CURRENT)]),
        Err(vec![(0, Fault::Backwards)])
    );
    assert_eq!(
        check(&[("2025-01-01", "2025-01-01")]),
        Err(vec![(0, Fault::Backwards)])
    );
    assert_eq!(check(&[(CURRENT, CURRENT)]), Err(vec![(0, Fault::Backwards)]));
}

/// A circle that a backward step only leads into is no reason to run for ever.
#[test]
fn a_walk_into_a_circle_ends() {
    let chain = [
        ("2025-09-01", "2025-01-01"),
        ("2025-01-01", "2025-03-01"),
        ("2025-03-01", "2025-01-01"),
    ];
    assert_eq!(check(&chain), Err(vec![(0, Fault::Backwards), (2, Fault::Cycle)]));
}

/// C-12
#[test]
fn nothing_leads_away_from_the_current_version() {
    assert_eq!(
        check(&[(CURRENT, "2026-06-01")]),
        Err(vec![(0, Fault::FromCurrent)])
    );
}
