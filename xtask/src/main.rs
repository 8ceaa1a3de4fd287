//! Development tasks of Foldwright, run as `cargo xtask COMMAND`.

mod behaviour_ids;
mod bench;
mod error;
mod fix;
mod fuzz;
mod markdown;
mod metadata;
mod mutants;
mod proofs;
mod rust_source;
mod services;
mod simulate;
mod source_tree;
mod test;
mod tidy;
mod verify;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;
use crate::workspace::Workspace;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Development tasks of Foldwright"
)]
struct Xtask {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Verify(verify::Verify),
    Fix(fix::Fix),
    Test(test::Test),
    Services(services::Services),
    Tidy(tidy::Tidy),
    Proofs(proofs::Proofs),
    Bench(bench::Bench),
    Mutants(mutants::Mutants),
    Simulate(simulate::Simulate),
    Fuzz(fuzz::Fuzz),
}

impl Command {
    fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        match self {
            Self::Verify(command) => command.run(workspace),
            Self::Fix(command) => command.run(workspace),
            Self::Test(command) => command.run(workspace),
            Self::Services(command) => command.run(workspace),
            Self::Tidy(command) => command.run(workspace),
            Self::Proofs(command) => command.run(workspace),
            Self::Bench(command) => command.run(workspace),
            Self::Mutants(command) => command.run(workspace),
            Self::Simulate(command) => command.run(workspace),
            Self::Fuzz(command) => command.run(workspace),
        }
    }
}

fn main() -> ExitCode {
    let xtask = Xtask::parse();
    match xtask.command.run(&Workspace::from_env()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
