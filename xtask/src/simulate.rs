//! The kernel under simulation, over any number of seeds.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::thread;

use serde::Deserialize;

use crate::error::Error;
use crate::workspace::{Workspace, command_line, spawn_error};

/// The test that runs seeds.
const TEST: &str = "simulation::whatever_happens_nothing_is_lost_doubled_or_disordered";

/// Seeds that one process runs before it says how far it is.
const CHUNK: u64 = 500;

/// Run the kernel under simulated trouble, for many seeds
///
/// Builds in release mode and uses every core. A seed that fails is shown with its history and can be repeated alone.
#[derive(clap::Args)]
pub(crate) struct Simulate {
    /// How many seeds
    #[arg(long, default_value_t = 5_000)]
    seeds: u64,
    /// The first one
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// This one alone
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    seed: Option<u64>,
}

/// A line of what cargo says in JSON.
#[derive(Deserialize)]
struct Message {
    executable: Option<String>,
}

impl Simulate {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        let program = build(workspace)?;
        let (first, count) = self.seed.map_or((self.first, self.seeds), |seed| (seed, 1));
        let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
        let failed = thread::scope(|scope| {
            let shares: Vec<_> = shares(first, count, cores)
                .into_iter()
                .map(|share| scope.spawn(|| run_all(&program, share)))
                .collect();
            shares
                .into_iter()
                .map(|share| share.join().unwrap_or(Ok(true)))
                .try_fold(false, |any, failed| failed.map(|failed| any | failed))
        })?;
        let outcome = if failed { "some failed" } else { "all held" };
        println!("simulate: {count} seeds from {first}: {outcome}");
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// Parts of about equal length, in chunks.
fn shares(first: u64, count: u64, cores: u64) -> Vec<Vec<(u64, u64)>> {
    let chunks: Vec<_> = (0..count)
        .step_by(usize::try_from(CHUNK).unwrap_or(1))
        .map(|at| (first + at, CHUNK.min(count - at)))
        .collect();
    (0..cores)
        .map(|core| {
            let every = usize::try_from(cores).unwrap_or(1);
            let skip = usize::try_from(core).unwrap_or(0);
            chunks.iter().copied().skip(skip).step_by(every).collect()
        })
        .collect()
}

/// Runs chunks one after the other until one fails; answers whether one did.
fn run_all(program: &str, chunks: Vec<(u64, u64)>) -> Result<bool, Error> {
    for (first, count) in chunks {
        let mut command = Command::new(program);
        command
            .args([TEST, "--exact", "--nocapture"])
            .env("FOLDWRIGHT_FIRST", first.to_string())
            .env("FOLDWRIGHT_SEEDS", count.to_string())
            .env_remove("FOLDWRIGHT_SEED")
            .env("RUST_BACKTRACE", "0");
        let output = command.output().map_err(spawn_error(&command))?;
        if !output.status.success() {
            print!("{}", String::from_utf8_lossy(&output.stdout));
            return Ok(true);
        }
        println!("seeds {first} to {}: held", first + count - 1);
    }
    Ok(false)
}

/// Builds the test program and answers where it is.
fn build(workspace: &Workspace) -> Result<String, Error> {
    let mut command = workspace.cargo(&["test", "--release", "--no-run", "--package", "foldwright-runtime"]);
    command.args(["--test", "it", "--message-format", "json-render-diagnostics"]);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(spawn_error(&command))?;
    let lines = child
        .stdout
        .take()
        .map(BufReader::new)
        .into_iter()
        .flat_map(BufRead::lines);
    let mut program = None;
    for line in lines {
        let line = line.map_err(spawn_error(&command))?;
        program = executable(&line).or(program);
    }
    let status = child.wait().map_err(spawn_error(&command))?;
    program
        .filter(|_| status.success())
        .ok_or_else(|| Error::Command {
            command: command_line(&command),
            detail: "it built no test program".to_owned(),
        })
}

fn executable(line: &str) -> Option<String> {
    serde_json::from_str::<Message>(line).ok()?.executable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_is_in_one_share() {
        let shares = shares(7, 1_201, 2);
        assert_eq!(shares, [vec![(7, 500), (1_007, 201)], vec![(507, 500)]]);
        assert_eq!(super::shares(9, 1, 2), [vec![(9, 1)], vec![]]);
    }

    #[test]
    fn the_program_is_found_in_what_cargo_says() {
        let line = r#"{"reason":"compiler-artifact","target":{"name":"it"},"executable":"/x/it-1"}"#;
        assert_eq!(executable(line).as_deref(), Some("/x/it-1"));
        assert_eq!(executable(r#"{"reason":"build-script-executed"}"#), None);
        assert_eq!(executable("no json"), None);
    }
}
