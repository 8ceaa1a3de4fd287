//! Reserves one seat and waits for the answer.
use foldwright::{
    prelude::*,
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tickets::{
    concert::Concert, pipeline::pipeline, rules::Reserve, seats::Seats, tickets::PrintTicket,
};
use std::{error::Error, time::Duration};

/// How long an answer may take. A command that was accepted is decided all the same, only later.
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(seat), Some(holder)) = (words.next(), words.next()) else {
        return Err("usage: reserve SEAT HOLDER".into());
    };
    let sqlite = Sqlite::open("tickets.db", SqliteSettings::default())?;
    let kernel = Kernel::builder(sqlite.ports(), Role::All)
        .pipeline(pipeline(PrintTicket)?)
        .start()?;

    let tenant = TenantId::parse("box-office")?;
    let reserve = Reserve {
        concert: "gala".into(),
        seat,
        holder,
    };
    let receipt = kernel
        .ask(Intent::new(tenant.clone(), SystemClock.now(), reserve))
        .await?;
    match receipt.decided(PATIENCE).await? {
        Answered::Rejected(rejected) => println!("{rejected}"),
        _ => println!("done"),
    }

    receipt.applied::<Seats>(PATIENCE).await?;
    let gala = Key::<Concert>::new(tenant, AggregateId::parse("gala")?);
    if let Some(seats) = kernel.reader().state::<Seats, _>(&gala).await? {
        println!("{} seats taken", seats.state.len());
    }

    kernel.close().await;
    sqlite.close().await?;
    Ok(())
}
