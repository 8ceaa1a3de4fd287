use std::process::ExitCode;

use crate::error::Error;
use crate::workspace::{self, Workspace};

/// Repair what `verify` finds and a tool can repair: lints first, then format
#[derive(clap::Args)]
pub(crate) struct Fix {}

impl Fix {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        let clippy = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--fix",
            "--allow-dirty",
            "--allow-staged",
        ]
        .as_slice();
        let fmt = ["fmt", "--all"].as_slice();
        let mut clean = true;
        for args in [clippy, fmt] {
            let mut command = workspace.cargo(args);
            println!("==> {}", workspace::command_line(&command));
            clean &= workspace::run(&mut command)?.success();
        }
        Ok(if clean {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}
