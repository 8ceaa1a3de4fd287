//! Who may do what: three commands that are decided on the seats as they are.
use crate::{
    concert::{Concert, ConcertEvent, SeatCancelled, SeatPaid, SeatReserved},
    seats::{Seat, Seats, Taken},
};
use foldwright::prelude::*;
use serde::{Deserialize, Serialize};

/// The hall: rows A to J of 20 seats.
fn is_in_the_hall(seat: &str) -> bool {
    let (row, number) = seat.split_at_checked(1).unwrap_or_default();
    let number = number.parse().ok().filter(|n: &u32| n.to_string() == number);
    ("A".."K").contains(&row) && number.is_some_and(|n| (1..=20).contains(&n))
}

/// Reserves a seat that is free.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reserve {
    /// Of which concert.
    pub concert: String,
    /// Which seat, for example `A12`.
    pub seat: String,
    /// For whom.
    pub holder: String,
}

impl Command for Reserve {
    type Of = Concert;
    const NAME: &'static str = "reserve";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.concert.as_str())
    }
}

impl Decider for Reserve {
    type Fold = Seats;

    fn decide(intent: &Intent<Self>, taken: &Taken) -> Result<Vec<ConcertEvent>, Rejected> {
        let Self { seat, holder, .. } = &intent.payload;
        if !is_in_the_hall(seat) {
            return Err(Rejected::new("no_such_seat", format!("there is no seat {seat}")));
        }
        if taken
            .get(seat)
            .is_some_and(|one| one.is_held_at(intent.occurred_at))
        {
            return Err(Rejected::new("taken", format!("seat {seat} is taken")));
        }
        let (seat, holder) = (seat.clone(), holder.clone());
        Ok(vec![SeatReserved { seat, holder }.into()])
    }
}

/// Pays for a seat that one has reserved, before the reservation ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pay {
    /// For which concert.
    pub concert: String,
    /// For which seat.
    pub seat: String,
    /// Who pays.
    pub holder: String,
    /// The payment's number. Told twice, it is one payment.
    pub payment: String,
}

impl Command for Pay {
    type Of = Concert;
    const NAME: &'static str = "pay";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.concert.as_str())
    }
}

impl Decider for Pay {
    type Fold = Seats;

    fn decide(intent: &Intent<Self>, taken: &Taken) -> Result<Vec<ConcertEvent>, Rejected> {
        let Self {
            seat,
            holder,
            payment,
            ..
        } = intent.payload.clone();
        let held = held_by(&holder, &seat, taken)?;
        match &held.payment {
            Some(before) if *before == payment => Ok(Vec::new()),
            Some(_) => Err(Rejected::new("already_paid", format!("seat {seat} is paid for"))),
            None if !held.is_held_at(intent.occurred_at) => Err(Rejected::new(
                "expired",
                format!("the reservation of seat {seat} has ended"),
            )),
            None => Ok(vec![
                SeatPaid {
                    seat,
                    holder,
                    payment,
                }
                .into(),
            ]),
        }
    }
}

/// Gives a seat back, paid or not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cancel {
    /// Of which concert.
    pub concert: String,
    /// Which seat.
    pub seat: String,
    /// Who has it.
    pub holder: String,
}

impl Command for Cancel {
    type Of = Concert;
    const NAME: &'static str = "cancel";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.concert.as_str())
    }
}

impl Decider for Cancel {
    type Fold = Seats;

    fn decide(intent: &Intent<Self>, taken: &Taken) -> Result<Vec<ConcertEvent>, Rejected> {
        let Self { seat, holder, .. } = intent.payload.clone();
        held_by(&holder, &seat, taken)?;
        Ok(vec![SeatCancelled { seat }.into()])
    }
}

/// The seat, if this is who has it.
fn held_by<'a>(holder: &str, seat: &str, taken: &'a Taken) -> Result<&'a Seat, Rejected> {
    match taken.get(seat) {
        Some(held) if held.holder == holder => Ok(held),
        Some(_) => Err(Rejected::new(
            "not_yours",
            format!("seat {seat} is somebody else's"),
        )),
        None => Err(Rejected::new(
            "not_reserved",
            format!("seat {seat} is not reserved"),
        )),
    }
}
