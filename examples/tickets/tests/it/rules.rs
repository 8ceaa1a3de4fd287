//! Each rule: given what has happened, when a command comes, then this is the answer.
use crate::words::{cancel, cancelled, paid, pay, reserve, reserved};
use foldwright::testing::given;
use foldwright_tickets::{
    rules::{Cancel, Pay, Reserve},
    seats::HOLD,
};
use std::time::Duration;

const INSTANT: Duration = Duration::from_millis(1);

#[test]
fn a_free_seat_is_reserved() {
    given::<Reserve>([])
        .when(reserve("A12", "ada"))
        .then_events([reserved("A12", "ada")]);
    given::<Reserve>([reserved("A12", "ada")])
        .when(reserve("A13", "bob"))
        .then_events([reserved("A13", "bob")]);
}

#[test]
fn a_seat_is_reserved_once() {
    given::<Reserve>([reserved("A12", "ada")])
        .when(reserve("A12", "bob"))
        .then_rejected("taken");
    given::<Reserve>([reserved("A12", "ada"), paid("A12", "ada", "p-1")])
        .after(2 * HOLD)
        .when(reserve("A12", "bob"))
        .then_rejected("taken");
}

#[test]
fn a_reservation_ends_on_the_instant() {
    given::<Reserve>([reserved("A12", "ada")])
        .after(HOLD.saturating_sub(INSTANT))
        .when(reserve("A12", "bob"))
        .then_rejected("taken");
    given::<Reserve>([reserved("A12", "ada")])
        .after(HOLD)
        .when(reserve("A12", "bob"))
        .then_events([reserved("A12", "bob")]);
}

#[test]
fn only_seats_of_the_hall_are_reserved() {
    for good in ["A1", "J20"] {
        given::<Reserve>([])
            .when(reserve(good, "ada"))
            .then_events([reserved(good, "ada")]);
    }
    for bad in ["", "A", "A0", "A21", "K1", "a1", "A01", "A+1", "A1x", "Ä1"] {
        given::<Reserve>([])
            .when(reserve(bad, "ada"))
            .then_rejected("no_such_seat");
    }
}

#[test]
fn a_reserved_seat_is_paid_for_in_time() {
    given::<Pay>([reserved("A12", "ada")])
        .after(HOLD.saturating_sub(INSTANT))
        .when(pay("A12", "ada", "p-1"))
        .then_events([paid("A12", "ada", "p-1")]);
    given::<Pay>([reserved("A12", "ada")])
        .after(HOLD)
        .when(pay("A12", "ada", "p-1"))
        .then_rejected("expired");
}

#[test]
fn only_what_one_has_reserved_is_paid_for() {
    given::<Pay>([])
        .when(pay("A12", "ada", "p-1"))
        .then_rejected("not_reserved");
    given::<Pay>([reserved("A12", "ada")])
        .when(pay("A12", "bob", "p-1"))
        .then_rejected("not_yours");
    given::<Pay>([reserved("A12", "ada")])
        .after(HOLD)
        .and([reserved("A12", "bob")])
        .when(pay("A12", "ada", "p-1"))
        .then_rejected("not_yours");
}

#[test]
fn a_payment_that_is_told_twice_is_one() {
    let sold = || given::<Pay>([reserved("A12", "ada"), paid("A12", "ada", "p-1")]).after(2 * HOLD);
    sold().when(pay("A12", "ada", "p-1")).then_nothing();
    sold()
        .when(pay("A12", "ada", "p-2"))
        .then_rejected("already_paid");
}

#[test]
fn a_cancelled_seat_is_free_again() {
    given::<Cancel>([reserved("A12", "ada"), paid("A12", "ada", "p-1")])
        .when(cancel("A12", "ada"))
        .then_events([cancelled("A12")]);
    given::<Reserve>([reserved("A12", "ada"), cancelled("A12")])
        .when(reserve("A12", "bob"))
        .then_events([reserved("A12", "bob")]);
}

#[test]
fn only_ones_own_seat_is_cancelled() {
    given::<Cancel>([])
        .when(cancel("A12", "ada"))
        .then_rejected("not_reserved");
    given::<Cancel>([reserved("A12", "ada")])
        .when(cancel("A12", "bob"))
        .then_rejected("not_yours");
}
