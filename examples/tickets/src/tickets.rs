//! What else should happen: a ticket for each seat that was paid for.
use crate::concert::{ConcertEvent, SeatPaid};
use foldwright::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A ticket.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ticket {
    /// Of which concert.
    pub concert: String,
    /// For which seat.
    pub seat: String,
    /// For whom.
    pub holder: String,
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ticket: {}, seat {}, {}", self.concert, self.seat, self.holder)
    }
}

/// The one fact that leads to a ticket.
#[derive(Subset)]
#[subset(of = ConcertEvent)]
pub enum Sold {
    /// The seat is paid for.
    SeatPaid(SeatPaid),
}

/// A row for each ticket.
pub enum Tickets {}

impl Map for Tickets {
    type On = Sold;
    type Record = Ticket;
    const NAME: &'static str = "tickets";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<Sold>) -> Option<Ticket> {
        match &event.data {
            Sold::SeatPaid(paid) => Some(Ticket {
                concert: event.meta.stream.id.to_string(),
                seat: paid.seat.clone(),
                holder: paid.holder.clone(),
            }),
        }
    }
}

/// Prints each ticket. After a crash it may come out twice, but never not at all.
pub struct PrintTicket;

impl Subscriber for PrintTicket {
    type On = Sold;
    type State = Ticket;
    const NAME: &'static str = "print_ticket";

    async fn run(&self, _event: &Recorded<Sold>, ticket: &Ticket) -> Result<(), EffectError> {
        println!("{ticket}");
        Ok(())
    }
}
