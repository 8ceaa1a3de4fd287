//! What the projections keep, whatever arrives in whatever order.
use crate::words::{cancelled, paid, reserved};
use foldwright::testing::{Seeded, fold, fold_laws, map};
use foldwright_tickets::{
    concert::ConcertEvent,
    seats::Seats,
    tickets::{Ticket, Tickets},
};

fold_laws!(seats: Seats, any_event);

/// Few seats and people, so that they get in each other's way.
fn any_event(seeded: &mut Seeded) -> ConcertEvent {
    let seat = seeded.pick(&["A1", "A2", "B1"]);
    let holder = seeded.pick(&["ada", "bob"]);
    match seeded.below(3) {
        0 => reserved(seat, holder),
        1 => paid(seat, holder, seeded.pick(&["p-1", "p-2"])),
        _ => cancelled(seat),
    }
}

#[test]
fn a_seat_belongs_to_the_last_who_reserved_it() {
    let taken = fold::<Seats>()
        .given([
            reserved("A1", "ada"),
            reserved("A2", "bob"),
            paid("A2", "bob", "p-1"),
        ])
        .given([cancelled("A1"), reserved("A1", "eve")])
        .state();
    let holders: Vec<_> = taken
        .iter()
        .map(|(seat, held)| (seat.as_str(), held.holder.as_str()))
        .collect();
    assert_eq!(holders, [("A1", "eve"), ("A2", "bob")]);
    assert_eq!(taken["A2"].payment.as_deref(), Some("p-1"));
}

#[test]
fn a_paid_seat_becomes_a_ticket() {
    let ticket = Ticket {
        concert: "gala".into(),
        seat: "A1".into(),
        holder: "ada".into(),
    };
    map::<Tickets>()
        .on("gala")
        .given([reserved("A1", "ada"), paid("A1", "ada", "p-1"), cancelled("A1")])
        .then_records([Some(ticket)]);
}
