//! The rules, by example.
use foldwright::testing::{fold, given};
use foldwright_tickets::{
    concert::{ConcertEvent, SeatCancelled, SeatPaid, SeatReserved},
    rules::{Pay, Reserve},
    seats::{HOLD, Seats, Taken},
};

fn reserved(seat: &str, holder: &str) -> ConcertEvent {
    SeatReserved {
        seat: seat.into(),
        holder: holder.into(),
    }
    .into()
}

fn paid(seat: &str, holder: &str, payment: &str) -> ConcertEvent {
    SeatPaid {
        seat: seat.into(),
        holder: holder.into(),
        payment: payment.into(),
    }
    .into()
}

fn reserve(seat: &str, holder: &str) -> Reserve {
    Reserve {
        concert: "gala".into(),
        seat: seat.into(),
        holder: holder.into(),
    }
}

fn pay(seat: &str, holder: &str, payment: &str) -> Pay {
    Pay {
        concert: "gala".into(),
        seat: seat.into(),
        holder: holder.into(),
        payment: payment.into(),
    }
}

#[test]
fn a_seat_that_is_given_back_is_nobodys() {
    let given_back = SeatCancelled { seat: "A12".into() };
    fold::<Seats>()
        .given([reserved("A12", "ada"), given_back.into()])
        .then_state(Taken::new());
}

#[test]
fn a_seat_is_reserved_once() {
    given::<Reserve>([])
        .when(reserve("A12", "ada"))
        .then_events([reserved("A12", "ada")]);
    given::<Reserve>([reserved("A12", "ada")])
        .when(reserve("A12", "bob"))
        .then_rejected("taken");
}

#[test]
fn a_reservation_that_is_not_paid_for_ends() {
    given::<Pay>([reserved("A12", "ada")])
        .after(HOLD)
        .when(pay("A12", "ada", "p-1"))
        .then_rejected("expired");
}

#[test]
fn a_payment_that_is_told_twice_is_one() {
    given::<Pay>([reserved("A12", "ada"), paid("A12", "ada", "p-1")])
        .when(pay("A12", "ada", "p-1"))
        .then_nothing();
}
