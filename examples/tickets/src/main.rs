//! The `tickets` command: the composition root, on one SQLite file.
use clap::{Args, Parser, Subcommand};
use foldwright::{
    Answered, Reader, Shutdown, ShutdownBudget, Signals,
    ports::{Clock, Limits, SystemClock},
    prelude::*,
    run_until_done,
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tickets::{
    concert::Concert,
    pipeline::pipeline,
    rules::{Cancel, Pay, Reserve},
    seats::Seats,
    tickets::{PrintTicket, Tickets},
};
use std::{error::Error, path::PathBuf, process::ExitCode, time::Duration};

/// Seats of a concert.
#[derive(Parser)]
#[command(name = "tickets")]
struct Cli {
    #[command(subcommand)]
    action: Action,
    /// Which concert.
    #[arg(long, global = true, default_value = "opening-night")]
    concert: String,
    /// The store; made if it is not there.
    #[arg(long, global = true, default_value = "./tickets.db")]
    store: PathBuf,
}

#[derive(Subcommand)]
enum Action {
    /// Reserves a seat for 15 minutes.
    Reserve(SeatArgs),
    /// Pays for a reserved seat and prints its ticket.
    Pay {
        #[command(flatten)]
        seat: SeatArgs,
        /// The payment's number. Told twice, it is one payment.
        #[arg(long)]
        payment: String,
    },
    /// Gives a seat back.
    Cancel(SeatArgs),
    /// Shows who holds which seat.
    Show,
}

#[derive(Args)]
struct SeatArgs {
    /// Which seat: a row from A to J and a number from 1 to 20.
    seat: String,
    /// Who holds it.
    #[arg(long = "for")]
    holder: String,
}

type Done<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long an answer may take. A command that was accepted is decided all the same, only later.
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> Done<()> {
    // Before anything is opened: a signal during the start stops in order too.
    let signals = Signals::listen()?;
    let sqlite = Sqlite::open(&cli.store, SqliteSettings::default())?;
    let start = async {
        let kernel = Kernel::builder(sqlite.ports(), Role::All).pipeline(pipeline(PrintTicket)?);
        kernel.start()
    };
    let file = sqlite.clone();
    let stop = || {
        let closed = async move { file.close().await };
        Shutdown::new(ShutdownBudget::default()).then("store", closed)
    };
    let work = async |kernel: &Kernel| act(kernel, cli.concert, cli.action).await;
    let (exit, done) = run_until_done(signals, start, work, stop).await;
    exit.result()?;
    // It is open still where the signal came before the start was over.
    sqlite.close().await?;
    done.unwrap_or_else(|| Err("interrupted: `show` says what was decided, or ask again".into()))
}

async fn act(kernel: &Kernel, concert: String, action: Action) -> Done<()> {
    let done = match action {
        Action::Reserve(SeatArgs { seat, holder }) => {
            let reserve = Reserve {
                concert,
                seat,
                holder,
            };
            decide(kernel, reserve).await?
        }
        Action::Pay {
            seat: SeatArgs { seat, holder },
            payment,
        } => {
            let pay = Pay {
                concert,
                seat,
                holder,
                payment,
            };
            let done = decide(kernel, pay).await?;
            printed(kernel).await?;
            done
        }
        Action::Cancel(SeatArgs { seat, holder }) => {
            let cancel = Cancel {
                concert,
                seat,
                holder,
            };
            decide(kernel, cancel).await?
        }
        Action::Show => return show(&kernel.reader(), &concert).await,
    };
    println!("{done}");
    Ok(())
}

/// Everything here is one tenant's.
fn tenant() -> Result<TenantId, foldwright::domain::SecurityError> {
    TenantId::parse("box-office")
}

/// Sends a command, waits for its answer, and then until the seats show it.
async fn decide<C: Command>(kernel: &Kernel, command: C) -> Done<&'static str> {
    let intent = Intent::new(tenant()?, SystemClock.now(), command);
    let receipt = kernel.ask(intent).await?;
    let done = match receipt.decided(PATIENCE).await? {
        Answered::Rejected(rejected) => return Err(rejected.into()),
        Answered::Events(_) => "done",
        Answered::Duplicate(_) | Answered::NoEvents => "done before",
    };
    receipt.applied::<Seats>(PATIENCE).await?;
    Ok(done)
}

/// Waits until every ticket is printed, that of a run which was killed before it came to it among them.
async fn printed(kernel: &Kernel) -> Done<()> {
    let all = async {
        loop {
            let backlog = kernel.caught_up(|_| {}).await?;
            if backlog.subscribers.waiting + backlog.subscribers.leased == 0 {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, all).await?
}

async fn show(reader: &Reader, concert: &str) -> Done<()> {
    let (tenant, now) = (tenant()?, SystemClock.now());
    let key = Key::<Concert>::new(tenant.clone(), AggregateId::parse(concert)?);
    let taken = reader
        .state::<Seats, _>(&key)
        .await?
        .map(|row| row.state)
        .unwrap_or_default();
    for (seat, held) in &taken {
        let state = match &held.payment {
            Some(payment) => format!("paid, {payment}"),
            None if held.is_held_at(now) => format!("reserved for {} s", held.until.since(now).as_secs()),
            None => "no longer reserved".to_owned(),
        };
        println!("{seat:<4} {:<12} {state}", held.holder);
    }
    let tickets = reader
        .records::<Tickets>(&tenant, Some(concert), None, Limits::items(200))
        .await?;
    println!(
        "{} seats taken, {} tickets sold",
        taken.len(),
        tickets.items.len()
    );
    Ok(())
}
