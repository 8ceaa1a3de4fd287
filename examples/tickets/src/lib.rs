//! Seats of a concert: reserve one, pay for it in time, or give it back.
//!
//! Read [`concert`] first (what can happen), then [`seats`] (what follows from it), then [`rules`] (who may do what), and
//! [`tickets`] (what else should happen). [`pipeline`] names them all.

pub mod concert;
pub mod pipeline;
pub mod rules;
pub mod seats;
pub mod tickets;

#[cfg(doctest)]
mod book;
