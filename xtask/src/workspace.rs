use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::error::Error;

/// The checkout that the tasks work on, and the cargo that started them.
pub(crate) struct Workspace {
    root: PathBuf,
    cargo: OsString,
}

impl Workspace {
    /// `cargo run` names itself and the directory of this package. A binary that is started by hand falls back to
    /// the directory it was built in and to the cargo of the path.
    pub(crate) fn from_env() -> Self {
        let package = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = package
            .parent()
            .map_or_else(|| package.clone(), Path::to_path_buf);
        let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        Self { root, cargo }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A cargo command in the workspace root. In CI nothing is built twice, so incremental files only cost disk.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.cargo);
        command.args(args).current_dir(&self.root);
        if in_ci() {
            command.env("CARGO_INCREMENTAL", "0");
        }
        command
    }

    /// Whether `cargo NAME --version` works.
    pub(crate) fn has_cargo_subcommand(&self, name: &str) -> bool {
        self.cargo(&[name, "--version"])
            .output()
            .is_ok_and(|output| output.status.success())
    }

    /// What a cargo command prints on its standard output.
    pub(crate) fn cargo_output(&self, args: &[&str]) -> Result<String, Error> {
        let mut command = self.cargo(args);
        let output = command.output().map_err(spawn_error(&command))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let detail = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(Error::Command {
                command: command_line(&command),
                detail,
            })
        }
    }
}

/// Whether this is a CI run: `CI` is set to anything but nothing.
pub(crate) fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Runs a command with this process's own input and output.
pub(crate) fn run(command: &mut Command) -> Result<ExitStatus, Error> {
    command.status().map_err(spawn_error(command))
}

/// The command as a person would type it.
pub(crate) fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}

/// For `map_err` after a command was to be started.
pub(crate) fn spawn_error(command: &Command) -> impl FnOnce(io::Error) -> Error + use<> {
    let command = command_line(command);
    move |source| Error::Spawn { command, source }
}
