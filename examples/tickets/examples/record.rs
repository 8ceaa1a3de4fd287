//! Writes the events of a concert into the history that the tests read.
use foldwright::{
    ports::Selection,
    prelude::*,
    sqlite::{Sqlite, SqliteSettings},
    testing::record_history,
};
use std::{error::Error, fs};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let sqlite = Sqlite::open("tickets.db", SqliteSettings::default())?;
    let all = Selection::all(TenantId::parse("box-office")?);
    fs::create_dir_all("tests/history")?;
    let file = fs::File::create("tests/history/first_evening.jsonl")?;
    let events = record_history(&*sqlite.ports().log, &all, file).await?;
    println!("{events} events recorded");
    sqlite.close().await?;
    Ok(())
}
