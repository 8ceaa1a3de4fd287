//! The `traces` command.
mod cli;

use clap::Parser;
use std::{
    error::Error,
    io::{self, IsTerminal},
    process::ExitCode,
};
use tracing_subscriber::EnvFilter;

/// The kernel makes many small values on several threads: a third less CPU than with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("FOLDWRIGHT_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .init();
    let command = cli::Cli::parse();
    let done = match cli::check_environment() {
        Ok(()) => command.run().await,
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&*error);
            ExitCode::FAILURE
        }
    }
}

/// The whole chain of causes, on one line.
fn report(error: &dyn Error) {
    let mut text = format!("error: {error}");
    let mut cause = error.source();
    while let Some(one) = cause {
        let one_text = one.to_string();
        if !text.contains(&one_text) {
            text.push_str(": ");
            text.push_str(&one_text);
        }
        cause = one.source();
    }
    eprintln!("{text}");
}
