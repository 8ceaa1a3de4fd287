//! The `traces` command.
mod cli;

use clap::Parser;
use std::{error::Error, process::ExitCode};

/// The kernel makes many small values on several threads: a third less CPU than with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    match run(cli::Cli::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run(command: cli::Cli) -> Result<(), cli::Failure> {
    let otlp = cli::install_telemetry(command.otlp_endpoint())?;
    cli::check_environment()?;
    command.run(otlp).await
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
