//! One process of a rolling deploy: the ledger in its old or its new build.
//!
//! Sends its deposits and says `sent`; says `idle` when nothing is left that any live process can do; works until its input is
//! closed, then stops in order and says `stopped`.
#![forbid(unsafe_code)]

use clap::{Parser, ValueEnum};
use foldwright::{
    Kernel, Role, WorkerSettings,
    prelude::TenantId,
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tests::ledger::{deposit, new_build, old_build};
use std::{
    error::Error,
    io::{Read, Write},
    path::PathBuf,
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
    #[arg(long)]
    sender: String,
    /// How many deposits to send.
    #[arg(long)]
    deposits: u64,
    /// Over how many accounts.
    #[arg(long)]
    accounts: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Build {
    Old,
    New,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
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
    for n in 0..cli.deposits {
        kernel
            .send(deposit(&tenant, &cli.sender, n, cli.accounts))
            .await?;
    }
    say("sent")?;
    kernel.caught_up(|_| {}).await?;
    say("idle")?;
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    kernel.close().await;
    sqlite.close().await?;
    say("stopped")?;
    Ok(())
}

fn say(word: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{word}")?;
    out.flush()
}
