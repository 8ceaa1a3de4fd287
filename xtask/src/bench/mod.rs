//! The bench programs of the workspace.

mod line;
mod table;

use std::io::{BufRead, BufReader};
use std::process::{ExitCode, Stdio};

use self::line::BenchLine;
use crate::error::Error;
use crate::workspace::{Workspace, command_line, spawn_error};

/// Run a bench program in release mode and show its figures
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// Which one
    name: String,
    /// Only this scenario of it
    #[arg(long)]
    scenario: Option<String>,
    /// One JSON object a line instead of a table
    #[arg(long)]
    json: bool,
}

/// A program that prints one JSON object a line: `bench`, `scenario`, then figures with units in their names.
struct Program {
    name: &'static str,
    package: &'static str,
    bin: &'static str,
}

const PROGRAMS: [Program; 6] = [
    Program {
        name: "depth",
        package: "foldwright-tests",
        bin: "bench_depth",
    },
    Program {
        name: "fairness",
        package: "foldwright-tests",
        bin: "bench_fairness",
    },
    Program {
        name: "fold",
        package: "foldwright-tests",
        bin: "bench_fold",
    },
    Program {
        name: "ingest",
        package: "foldwright-tests",
        bin: "bench_ingest",
    },
    Program {
        name: "latency",
        package: "foldwright-tests",
        bin: "bench_latency",
    },
    Program {
        name: "queue",
        package: "foldwright-tests",
        bin: "bench_queue",
    },
];

impl Bench {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        let program = find(&self.name)?;
        let mut command = workspace.cargo(&["run", "--release", "--quiet"]);
        command.args(["--package", program.package, "--bin", program.bin]);
        if let Some(scenario) = &self.scenario {
            command.args(["--", "--scenario", scenario]);
        }

        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .map_err(spawn_error(&command))?;
        let mut lines = Vec::new();
        let mut faults = 0_usize;
        for text in child
            .stdout
            .take()
            .map(BufReader::new)
            .into_iter()
            .flat_map(BufRead::lines)
        {
            let text = text.map_err(spawn_error(&command))?;
            match BenchLine::parse(&text) {
                Ok(line) => {
                    if self.json {
                        println!("{text}");
                    }
                    lines.push(line);
                }
                Err(fault) => {
                    eprintln!("error: {fault}: {text}");
                    faults += 1;
                }
            }
        }
        let status = child.wait().map_err(spawn_error(&command))?;

        if !self.json {
            print!("{}", table::of(&lines));
        }
        if lines.is_empty() {
            eprintln!("error: `{}` printed no figures", command_line(&command));
        }
        let complete = status.success() && faults == 0 && !lines.is_empty();
        Ok(if complete {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

fn find(name: &str) -> Result<&'static Program, Error> {
    PROGRAMS
        .iter()
        .find(|program| program.name == name)
        .ok_or_else(|| {
            let known: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
            Error::UnknownBench {
                name: name.to_owned(),
                known: known.join(", "),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_programs_are_found_and_unknown_ones_answered_with_the_list() {
        assert_eq!(find("ingest").unwrap().bin, "bench_ingest");
        let error = find("inject").err().unwrap();
        assert_eq!(
            error.to_string(),
            "no bench is named `inject`; the known ones are: depth, fairness, fold, ingest, latency, queue"
        );
    }
}
