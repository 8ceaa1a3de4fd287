use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::tidy;
use crate::workspace::{self, Workspace};

/// Check format, lints, the project's own rules and the documentation; change nothing
#[derive(clap::Args)]
pub(crate) struct Verify {}

impl Verify {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        let mut failed = Vec::new();
        for (name, mut command) in cargo_steps(workspace) {
            println!("==> {name}: {}", workspace::command_line(&command));
            if !workspace::run(&mut command)?.success() {
                failed.push(name);
            }
        }

        println!("==> tidy");
        match tidy::report(workspace) {
            Ok(0) => {}
            Ok(_) => failed.push("tidy"),
            // A tree that tidy cannot read is a finding; the other steps still count.
            Err(error) => {
                println!("{error}");
                failed.push("tidy");
            }
        }

        if failed.is_empty() {
            println!("verify: clean");
            Ok(ExitCode::SUCCESS)
        } else {
            println!("verify: failed: {}", failed.join(", "));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn cargo_steps(workspace: &Workspace) -> Vec<(&'static str, Command)> {
    let mut docs = workspace.cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    let mut steps = vec![
        ("fmt", workspace.cargo(&["fmt", "--all", "--check"])),
        (
            "clippy",
            workspace.cargo(&[
                "clippy",
                "--workspace",
                "--all-targets",
                "--keep-going",
                "--quiet",
                "--",
                "-D",
                "warnings",
            ]),
        ),
        ("docs", docs),
    ];
    if workspace.has_cargo_subcommand("deny") {
        steps.push(("deny", workspace.cargo(&["deny", "check"])));
    } else {
        println!("==> deny: left out, cargo-deny is not installed");
    }
    steps
}
