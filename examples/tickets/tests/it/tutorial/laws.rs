//! The laws of the fold.
use foldwright::testing::{Seeded, fold_laws};
use foldwright_tickets::{
    concert::{ConcertEvent, SeatCancelled, SeatReserved},
    seats::Seats,
};

fold_laws!(seats: Seats, any_event);

/// Few seats and people, so that they get in each other's way.
fn any_event(seeded: &mut Seeded) -> ConcertEvent {
    let seat = seeded.pick(&["A1", "A2", "B1"]).to_owned();
    let holder = seeded.pick(&["ada", "bob"]).to_owned();
    if seeded.one_in(3) {
        SeatCancelled { seat }.into()
    } else {
        SeatReserved { seat, holder }.into()
    }
}
