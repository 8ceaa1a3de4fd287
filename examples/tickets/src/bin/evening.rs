//! Sells every seat of the hall. Kill it whenever you like, and run it again.
use foldwright::{
    WorkerSettings,
    ports::Limits,
    prelude::*,
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tickets::{
    concert::Concert,
    pipeline::pipeline,
    rules::{Pay, Reserve},
    seats::Seats,
    tickets::{PrintTicket, Tickets},
};
use std::{error::Error, time::Duration};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let sqlite = Sqlite::open("evening.db", SqliteSettings::default())?;
    // How long the work of a killed process stays closed; 30 s unless set.
    let settings = WorkerSettings {
        lease: Duration::from_secs(3),
        ..WorkerSettings::default()
    };
    let kernel = Kernel::builder(sqlite.ports(), Role::All)
        .worker(settings)
        .pipeline(pipeline(PrintTicket)?)
        .start()?;

    let tenant = TenantId::parse("box-office")?;
    for (row, number) in ('A'..='J').flat_map(|row| (1..=20).map(move |number| (row, number))) {
        let seat = format!("{row}{number}");
        let now = SystemClock.now();
        // Three guests press the button for each seat, and the first of them pays.
        let wishes = ["ada", "bob", "eve"].map(|holder| Reserve {
            concert: "gala".into(),
            seat: seat.clone(),
            holder: holder.into(),
        });
        let wishes = wishes.map(|wish| Intent::new(tenant.clone(), now, wish));
        kernel.send_all(wishes).await?;
        let pay = Pay {
            concert: "gala".into(),
            payment: format!("p-{seat}"),
            seat,
            holder: "ada".into(),
        };
        kernel.send(Intent::new(tenant.clone(), now, pay)).await?;
    }

    // Commands, folds and maps first, then the subscribers.
    loop {
        let open = kernel.caught_up(|_| {}).await?.subscribers;
        if open.waiting + open.leased == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let gala = Key::<Concert>::new(tenant.clone(), AggregateId::parse("gala")?);
    let seats = kernel.reader().state::<Seats, _>(&gala).await?;
    let taken = seats.map_or(0, |row| row.state.len());
    let tickets = kernel
        .reader()
        .records::<Tickets>(&tenant, None, None, Limits::items(1_000))
        .await?;
    println!("{taken} seats taken, {} tickets sold", tickets.items.len());

    kernel.close().await;
    sqlite.close().await?;
    Ok(())
}
