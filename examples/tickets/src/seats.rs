//! What follows from the facts: who holds which seat.
use crate::concert::ConcertEvent;
use foldwright::prelude::*;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// How long a reservation holds without a payment.
pub const HOLD: Duration = Duration::from_secs(15 * 60);

/// The seats that are taken, by name.
pub type Taken = BTreeMap<String, Seat>;

/// A seat that somebody has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seat {
    /// Who has it.
    pub holder: String,
    /// When the reservation ends, unless it is paid by then.
    pub until: Millis,
    /// The payment's number, once it is paid.
    pub payment: Option<String>,
}

impl Seat {
    /// Whether nobody else can have it at this time.
    #[must_use]
    pub fn is_held_at(&self, now: Millis) -> bool {
        self.payment.is_some() || now < self.until
    }
}

/// Folds the facts of a concert, in the order in which they happened.
pub enum Seats {}

impl Fold for Seats {
    type On = ConcertEvent;
    type State = Taken;
    type Order = ByOccurrence;
    const NAME: &'static str = "seats";
    const VERSION: u32 = 1;

    fn init() -> Taken {
        Taken::new()
    }

    fn apply(mut taken: Taken, event: &Recorded<ConcertEvent>) -> Taken {
        match &event.data {
            ConcertEvent::SeatReserved(reserved) => {
                let seat = Seat {
                    holder: reserved.holder.clone(),
                    until: event.meta.occurred_at.plus(HOLD),
                    payment: None,
                };
                taken.insert(reserved.seat.clone(), seat);
            }
            ConcertEvent::SeatPaid(paid) => {
                if let Some(seat) = taken.get_mut(&paid.seat) {
                    seat.payment = Some(paid.payment.clone());
                }
            }
            ConcertEvent::SeatCancelled(cancelled) => {
                taken.remove(&cancelled.seat);
            }
        }
        taken
    }
}
