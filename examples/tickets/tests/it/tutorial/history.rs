//! An evening that really happened: today's code reads it, and comes to the same seats and tickets.
use foldwright::testing::recorded_history;
use foldwright_tickets::{concert::ConcertEvent, seats::Seats, tickets::Tickets};

#[test]
fn the_first_evening_reads_as_it_did() {
    recorded_history!("tests/history/first_evening.jsonl")
        .events::<ConcertEvent>()
        .fold::<Seats>()
        .map::<Tickets>()
        .check();
}
