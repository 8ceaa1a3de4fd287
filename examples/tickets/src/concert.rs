//! What can happen to the seats of a concert.
use foldwright::prelude::*;
use serde::{Deserialize, Serialize};

/// A concert: one stream of facts for each, however many seats it has.
pub enum Concert {}

impl Aggregate for Concert {
    const TYPE: AggregateType = AggregateType::new("concert");
    type Event = ConcertEvent;
}

/// Everything that can happen to a concert.
#[derive(Event)]
#[event(aggregate = Concert, prefix = "tickets.sales.concert")]
pub enum ConcertEvent {
    /// Somebody wants a seat.
    #[event(name = "seat_reserved", version = "2026-11-30")]
    SeatReserved(SeatReserved),
    /// The seat is paid for.
    #[event(name = "seat_paid", version = "2026-11-30")]
    SeatPaid(SeatPaid),
    /// The seat is free again.
    #[event(name = "seat_cancelled", version = "2026-11-30")]
    SeatCancelled(SeatCancelled),
}

/// A seat was reserved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeatReserved {
    /// Which seat.
    pub seat: String,
    /// For whom.
    pub holder: String,
}

/// A seat was paid for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeatPaid {
    /// Which seat.
    pub seat: String,
    /// By whom.
    pub holder: String,
    /// The payment's number.
    pub payment: String,
}

/// A seat was given back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeatCancelled {
    /// Which seat.
    pub seat: String,
}
