//! One life of a worker that one of its commands kills.
//!
//! Works on the file for as long as there is something to do, says `idle` and stops. Handling the command `die` ends the
//! process at once, as a stack overflow would.
#![forbid(unsafe_code)]

use foldwright::{
    Kernel, Role, WorkerSettings,
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tests::poison::pipeline;
use std::{error::Error, path::PathBuf, time::Duration};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let store: PathBuf = std::env::args_os().nth(1).ok_or("the path of the store")?.into();
    let sqlite = Sqlite::open(&store, SqliteSettings::default())?;
    let kernel = Kernel::builder(sqlite.ports(), Role::Worker)
        .worker(WorkerSettings {
            idle: Duration::from_millis(50),
            lease: Duration::from_millis(600),
            liveness: Some(Duration::from_millis(300)),
            ..WorkerSettings::default()
        })
        .pipeline(pipeline()?)
        .start()?;
    kernel.caught_up(|_| {}).await?;
    kernel.close().await;
    sqlite.close().await?;
    println!("idle");
    Ok(())
}
