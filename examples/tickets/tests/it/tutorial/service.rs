//! The whole service in virtual time.
use foldwright::testing::{TestKernel, watched};
use foldwright_tickets::{
    pipeline::pipeline,
    rules::{Pay, Reserve},
    seats::HOLD,
    tickets::{PrintTicket, Tickets},
};

fn reserve(holder: &str) -> Reserve {
    Reserve {
        concert: "gala".into(),
        seat: "A12".into(),
        holder: holder.into(),
    }
}

fn pay(holder: &str, payment: &str) -> Pay {
    Pay {
        concert: "gala".into(),
        seat: "A12".into(),
        holder: holder.into(),
        payment: payment.into(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_is_not_paid_for_goes_to_the_next() {
    let (print, printed) = watched(PrintTicket);
    let kernel = TestKernel::start(|builder| builder.pipeline(pipeline(print).unwrap())).await;

    kernel.decide(reserve("ada")).await.unwrap();
    kernel.advance(HOLD).await;
    assert_eq!(
        kernel.decide(pay("ada", "p-1")).await.unwrap_err().code,
        "expired"
    );

    kernel.decide(reserve("bob")).await.unwrap();
    kernel.decide(pay("bob", "p-2")).await.unwrap();
    assert_eq!(kernel.records::<Tickets>().await[0].holder, "bob");
    assert_eq!(printed.count(), 1);
    kernel.close().await;
}
