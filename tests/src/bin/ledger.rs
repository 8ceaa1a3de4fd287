//! One process of a rolling deploy: the ledger in its old or its new build.
//!
//! Sends its deposits, says `sending` at the hundredth and `sent` at the end, then `idle` when nothing is left that any live
//! process can do; works until its input is closed or it gets a signal; then it stops in order and says `stopped`. A second
//! signal ends it at once.
#![forbid(unsafe_code)]

use clap::{Parser, ValueEnum};
use foldwright::{
    Kernel, Role, Shutdown, ShutdownBudget, Signals, WorkerSettings,
    prelude::TenantId,
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tests::ledger::{deposit, new_build, old_build};
use std::{
    error::Error,
    io::{Read, Write},
    path::PathBuf,
    process,
    time::Duration,
};

/// The ledger.
#[derive(Parser)]
struct Cli {
    /// Which build this is.
    build: Build,
    /// The file that all processes share.
    store: PathBuf,
    /// Whose deposits they are: sent again under the same name, they are the same ones.
    #[arg(long, default_value = "ledger")]
    sender: String,
    /// How many deposits to send.
    #[arg(long)]
    deposits: u64,
    /// Over how many accounts.
    #[arg(long)]
    accounts: u64,
    /// How long the store takes to close, in ms.
    #[arg(long, default_value_t = 0)]
    hold_ms: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Build {
    Old,
    New,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut signals = Signals::listen()?;
    let cli = Cli::parse();
    let sqlite = Sqlite::open(&cli.store, SqliteSettings::default())?;
    let builder = Kernel::builder(sqlite.ports(), Role::All).worker(WorkerSettings {
        idle: Duration::from_millis(50),
        max_groups: 4,
        ..WorkerSettings::default()
    });
    let builder = match cli.build {
        Build::Old => builder.pipeline(old_build()?),
        Build::New => builder.pipeline(new_build()?),
    };
    let kernel = builder.start()?;
    let tenant = TenantId::parse("acme")?;
    let told = async {
        for n in 0..cli.deposits {
            kernel
                .send(deposit(&tenant, &cli.sender, n, cli.accounts))
                .await?;
            if n == 99 {
                say("sending")?;
            }
        }
        say("sent")?;
        kernel.caught_up(|_| {}).await?;
        say("idle")?;
        // A thread of its own: the process may end while it still waits for its input.
        let (closed, input) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || closed.send(std::io::stdin().read_to_end(&mut Vec::new())));
        input.await??;
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    };
    tokio::select! {
        biased;
        () = signals.next() => {}
        told = told => told?,
    }
    let hold = Duration::from_millis(cli.hold_ms);
    let stop = Shutdown::new(ShutdownBudget::default()).then("store", async move {
        tokio::time::sleep(hold).await;
        sqlite.close().await
    });
    say("stopping")?;
    tokio::select! {
        biased;
        () = signals.next() => process::exit(130),
        stopped = kernel.shutdown(stop) => {
            let troubled = stopped?.troubled;
            if !troubled.is_empty() {
                return Err(format!("phases had trouble: {troubled:?}").into());
            }
        }
    }
    say("stopped")?;
    Ok(())
}

fn say(word: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{word}")?;
    out.flush()
}
