//! Facts and commands in as few words as a test needs.
use foldwright_tickets::{
    concert::{ConcertEvent, SeatCancelled, SeatPaid, SeatReserved},
    rules::{Cancel, Pay, Reserve},
};

pub(crate) fn reserved(seat: &str, holder: &str) -> ConcertEvent {
    SeatReserved {
        seat: seat.into(),
        holder: holder.into(),
    }
    .into()
}

pub(crate) fn paid(seat: &str, holder: &str, payment: &str) -> ConcertEvent {
    SeatPaid {
        seat: seat.into(),
        holder: holder.into(),
        payment: payment.into(),
    }
    .into()
}

pub(crate) fn cancelled(seat: &str) -> ConcertEvent {
    SeatCancelled { seat: seat.into() }.into()
}

pub(crate) const CONCERT: &str = "opening-night";

pub(crate) fn reserve(seat: &str, holder: &str) -> Reserve {
    Reserve {
        concert: CONCERT.into(),
        seat: seat.into(),
        holder: holder.into(),
    }
}

pub(crate) fn pay(seat: &str, holder: &str, payment: &str) -> Pay {
    Pay {
        concert: CONCERT.into(),
        seat: seat.into(),
        holder: holder.into(),
        payment: payment.into(),
    }
}

pub(crate) fn cancel(seat: &str, holder: &str) -> Cancel {
    Cancel {
        concert: CONCERT.into(),
        seat: seat.into(),
        holder: holder.into(),
    }
}
