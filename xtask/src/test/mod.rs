//! Every test of the workspace, and one closing line over all of them.

mod runner;
mod tally;

use std::process::{Command, ExitCode};

use self::runner::Outcome;
use self::tally::Tally;
use crate::error::Error;
use crate::metadata::Metadata;
use crate::workspace::{self, Workspace};

/// Run every test and documentation test; close with one line `N passed, N failed`
///
/// Uses cargo-nextest where it is installed, else cargo's own runner. A runner that fails without naming a failed test
/// (code that does not compile, a test binary that dies) counts as one failure, and so does a run without any test.
#[derive(clap::Args)]
pub(crate) struct Test {
    /// Only these packages
    #[arg(short, long = "package", value_name = "NAME")]
    packages: Vec<String>,
    /// Only tests whose name holds one of these
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
}

/// What nextest exits with when no test matched.
const NEXTEST_NO_TESTS: i32 = 4;

impl Test {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        let total = self.run_all(workspace);
        let total = total.unwrap_or_else(|error| {
            eprintln!("error: {error}");
            Tally { passed: 0, failed: 1 }
        });
        println!("{}", closing_line(total));
        Ok(if total.failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn run_all(&self, workspace: &Workspace) -> Result<Tally, Error> {
        let mut total = if workspace.has_cargo_subcommand("nextest") {
            let outcome = runner::run(&mut self.nextest(workspace), tally::read_nextest)?;
            counted(&outcome, outcome.status.code() == Some(NEXTEST_NO_TESTS))
        } else {
            counted(
                &runner::run(&mut self.libtest(workspace), tally::read_libtest)?,
                false,
            )
        };
        if let Some(mut command) = self.doc_tests(workspace)? {
            total += counted(&runner::run(&mut command, tally::read_libtest)?, false);
        }
        if total == Tally::default() {
            eprintln!("error: no test ran");
            total.failed = 1;
        }
        Ok(total)
    }

    fn nextest(&self, workspace: &Workspace) -> Command {
        let mut command = workspace.cargo(&["nextest", "run", "--all-targets", "--no-fail-fast"]);
        if workspace::in_ci() {
            command.args(["--profile", "ci"]);
        }
        command.args(self.selection()).args(&self.filters);
        command
    }

    fn libtest(&self, workspace: &Workspace) -> Command {
        let mut command = workspace.cargo(&["test", "--all-targets", "--no-fail-fast"]);
        command.args(self.selection()).arg("--").args(&self.filters);
        command
    }

    /// Nextest runs no documentation tests, so cargo's runner always does. `None` when no chosen package has any:
    /// cargo refuses to look for them where there is no library.
    fn doc_tests(&self, workspace: &Workspace) -> Result<Option<Command>, Error> {
        let mut command = workspace.cargo(&["test", "--doc", "--no-fail-fast"]);
        if self.packages.is_empty() {
            command.arg("--workspace");
        } else {
            let libraries = self.chosen_libraries(&Metadata::load(workspace)?)?;
            if libraries.is_empty() {
                return Ok(None);
            }
            command.args(libraries.into_iter().flat_map(|name| ["--package", name]));
        }
        command.arg("--").args(&self.filters);
        Ok(Some(command))
    }

    fn chosen_libraries(&self, metadata: &Metadata) -> Result<Vec<&str>, Error> {
        let mut libraries = Vec::new();
        for name in &self.packages {
            match metadata.packages.iter().find(|package| package.name == *name) {
                Some(package) if package.has_library() => libraries.push(name.as_str()),
                Some(_) => {}
                None => {
                    let known: Vec<_> = metadata
                        .packages
                        .iter()
                        .map(|package| package.name.as_str())
                        .collect();
                    return Err(Error::UnknownPackage {
                        name: name.clone(),
                        known: known.join(", "),
                    });
                }
            }
        }
        Ok(libraries)
    }

    fn selection(&self) -> Vec<&str> {
        if self.packages.is_empty() {
            vec!["--workspace"]
        } else {
            self.packages
                .iter()
                .flat_map(|name| ["--package", name])
                .collect()
        }
    }
}

/// What a runner counted. One that failed and names no failed test has failed all the same, and is counted as one.
fn counted(outcome: &Outcome, failed_for_want_of_tests: bool) -> Tally {
    let mut tally = outcome.tally;
    if !outcome.status.success() && tally.failed == 0 && !failed_for_want_of_tests {
        eprintln!("error: the test runner failed: {}", outcome.status);
        tally.failed = 1;
    }
    tally
}

fn closing_line(total: Tally) -> String {
    format!("{} passed, {} failed", total.passed, total.failed)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::metadata::{Package, Target};
    use crate::workspace::command_line;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        test: Test,
    }

    fn parse(args: &[&str]) -> Test {
        Cli::parse_from(std::iter::once("test").chain(args.iter().copied())).test
    }

    fn package(name: &str, kind: &str) -> Package {
        Package {
            name: name.to_owned(),
            manifest_path: String::new(),
            dependencies: Vec::new(),
            targets: vec![Target {
                kind: vec![kind.to_owned()],
                src_path: String::new(),
            }],
        }
    }

    #[test]
    fn without_arguments_everything_runs() {
        let (test, workspace) = (parse(&[]), Workspace::from_env());
        assert!(command_line(&test.nextest(&workspace)).contains("run --all-targets --no-fail-fast"));
        assert!(command_line(&test.nextest(&workspace)).ends_with("--workspace"));
        assert!(
            command_line(&test.libtest(&workspace))
                .ends_with("test --all-targets --no-fail-fast --workspace --")
        );
        let doc = test.doc_tests(&workspace).unwrap().unwrap();
        assert!(command_line(&doc).ends_with("test --doc --no-fail-fast --workspace --"));
    }

    #[test]
    fn filters_and_packages_are_passed_on() {
        let (test, workspace) = (
            parse(&["-p", "a", "-p", "b", "queue", "fold"]),
            Workspace::from_env(),
        );
        assert!(command_line(&test.nextest(&workspace)).ends_with("--package a --package b queue fold"));
        assert!(command_line(&test.libtest(&workspace)).ends_with("--package a --package b -- queue fold"));
    }

    #[test]
    fn documentation_tests_need_a_library() {
        let metadata = Metadata {
            packages: vec![
                package("a", "lib"),
                package("b", "bin"),
                package("c", "proc-macro"),
            ],
        };
        assert_eq!(
            parse(&["-p", "a", "-p", "b", "-p", "c"])
                .chosen_libraries(&metadata)
                .unwrap(),
            ["a", "c"]
        );
        let error = parse(&["-p", "d"]).chosen_libraries(&metadata).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no package is named `d`; the known ones are: a, b, c"
        );
    }

    #[test]
    fn the_closing_line_has_one_form() {
        assert_eq!(
            closing_line(Tally {
                passed: 12,
                failed: 3
            }),
            "12 passed, 3 failed"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_runner_that_fails_without_a_failed_test_counts_as_one() {
        use std::os::unix::process::ExitStatusExt;
        use std::process::ExitStatus;

        let outcome = |passed, failed, code: i32| Outcome {
            tally: Tally { passed, failed },
            status: ExitStatus::from_raw(code << 8),
        };
        assert_eq!(counted(&outcome(3, 0, 0), false), Tally { passed: 3, failed: 0 });
        assert_eq!(
            counted(&outcome(3, 2, 100), false),
            Tally { passed: 3, failed: 2 }
        );
        assert_eq!(
            counted(&outcome(3, 0, 101), false),
            Tally { passed: 3, failed: 1 }
        );
        assert_eq!(counted(&outcome(0, 0, NEXTEST_NO_TESTS), true), Tally::default());
    }
}
