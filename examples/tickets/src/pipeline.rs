//! Everything by name.
use crate::{
    concert::Concert,
    rules::{Cancel, Pay, Reserve},
    seats::Seats,
    tickets::Tickets,
};
use foldwright::{Faults, prelude::*};

/// The service, with what prints its tickets.
pub fn pipeline<P>(print: P) -> Result<Pipeline<Concert>, Faults>
where
    P: Subscriber<On = <Tickets as Map>::On, State = <Tickets as Map>::Record>,
{
    Pipeline::define("sales")
        .decider::<Reserve>()
        .decider::<Pay>()
        .decider::<Cancel>()
        .fold::<Seats>(|seats| seats)
        .map::<Tickets>(|tickets| tickets.subscriber(print, Dispatch::each()))
        .build()
}
