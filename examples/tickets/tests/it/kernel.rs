//! The whole service in memory, with time that the test moves.
use crate::words::{CONCERT, cancel, pay, reserve};
use foldwright::testing::{Runs, TestKernel, watched};
use foldwright_tickets::{
    concert::Concert,
    pipeline::pipeline,
    seats::{HOLD, Seats},
    tickets::{PrintTicket, Ticket, Tickets},
};

async fn start() -> (TestKernel, Runs<Ticket>) {
    let (print, printed) = watched(PrintTicket);
    let kernel = TestKernel::start(|builder| builder.pipeline(pipeline(print).unwrap())).await;
    (kernel, printed)
}

async fn code<C: foldwright::prelude::Command>(kernel: &TestKernel, command: C) -> String {
    kernel.decide(command).await.unwrap_err().code.into_owned()
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_is_not_paid_for_in_time_goes_to_the_next() {
    let (kernel, printed) = start().await;
    kernel.decide(reserve("A12", "ada")).await.unwrap();
    assert_eq!(code(&kernel, reserve("A12", "bob")).await, "taken");
    kernel.advance(HOLD).await;
    assert_eq!(code(&kernel, pay("A12", "ada", "p-1")).await, "expired");
    kernel.decide(reserve("A12", "bob")).await.unwrap();
    kernel.decide(pay("A12", "bob", "p-2")).await.unwrap();
    let taken = kernel.state::<Seats, Concert>(CONCERT).await.unwrap();
    assert_eq!(taken["A12"].holder, "bob");
    let ticket = Ticket {
        concert: CONCERT.into(),
        seat: "A12".into(),
        holder: "bob".into(),
    };
    let [run] = printed.take().try_into().unwrap();
    assert_eq!(run.state, ticket);
    assert_eq!(kernel.records::<Tickets>().await, [ticket]);
    kernel.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_is_told_twice_prints_one_ticket() {
    let (kernel, printed) = start().await;
    kernel.decide(reserve("A12", "ada")).await.unwrap();
    kernel.decide(pay("A12", "ada", "p-1")).await.unwrap();
    kernel.decide(pay("A12", "ada", "p-1")).await.unwrap();
    assert_eq!(printed.count(), 1);
    assert_eq!(kernel.events().await.len(), 2);
    kernel.close().await;
}

/// All at once, one after the other: a seat has one holder, whoever comes first.
#[tokio::test(start_paused = true)]
async fn of_many_who_want_a_seat_one_gets_it() {
    let (kernel, _) = start().await;
    for guest in 0..50 {
        kernel.send(reserve("A12", &format!("guest-{guest}"))).await;
    }
    kernel.settle().await;
    assert_eq!(kernel.events().await.len(), 1);
    let taken = kernel.state::<Seats, Concert>(CONCERT).await.unwrap();
    assert_eq!(taken["A12"].holder, "guest-0");
    kernel.decide(cancel("A12", "guest-0")).await.unwrap();
    kernel.decide(reserve("A12", "guest-1")).await.unwrap();
    kernel.close().await;
}
