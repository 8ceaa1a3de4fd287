use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::workspace::{self, Workspace};

/// Give the decoders bytes that nobody thought of: every target for a short while, or one for as long as you like
///
/// Needs a nightly toolchain and cargo-fuzz, and installs neither. What it finds lies in `fuzz/artifacts/TARGET`; new
/// inputs stay below `target/fuzz`, so that the corpus that is committed changes only by hand.
#[derive(clap::Args)]
pub(crate) struct Fuzz {
    /// Only this target; the files of `fuzz/fuzz_targets` name them
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// How long each target runs
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u32,
}

/// Memory in MiB that a run may take in all, and in one piece. A body is at most 50 MiB once it is inflated, and a buffer
/// doubles on its way there.
const MEMORY: u32 = 1_024;
const PIECE: u32 = 160;

/// The longest input: a bomb of this length inflates to little more than a body may have.
const LONGEST: u32 = 65_536;

impl Fuzz {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        let targets = self.chosen(targets(workspace.root())?)?;
        for (tool, args, remedy) in [
            (
                "a nightly toolchain",
                ["rustc", "--version"].as_slice(),
                "rustup toolchain install nightly --profile minimal",
            ),
            (
                "cargo-fuzz",
                &["cargo", "fuzz", "--version"],
                "cargo install cargo-fuzz --locked",
            ),
        ] {
            let present = nightly(workspace, args).output();
            if !present.is_ok_and(|output| output.status.success()) {
                eprintln!("error: fuzzing needs {tool}, which is missing here; get it with `{remedy}`");
                return Ok(ExitCode::FAILURE);
            }
        }
        let mut failed = Vec::new();
        for target in &targets {
            let found = workspace.root().join("target/fuzz/corpus").join(target);
            fs::create_dir_all(&found).map_err(Error::file(&found))?;
            let mut command = self.command(workspace, target, &found);
            println!("==> {target}: {}", workspace::command_line(&command));
            if !workspace::run(&mut command)?.success() {
                failed.push(target.as_str());
            }
        }
        if failed.is_empty() {
            println!("fuzz: nothing was found (targets run: {})", targets.len());
            Ok(ExitCode::SUCCESS)
        } else {
            println!("fuzz: failed: {}", failed.join(", "));
            Ok(ExitCode::FAILURE)
        }
    }

    fn chosen(&self, known: Vec<String>) -> Result<Vec<String>, Error> {
        match &self.target {
            None => Ok(known),
            Some(name) if known.contains(name) => Ok(vec![name.clone()]),
            Some(name) => Err(Error::UnknownTarget {
                name: name.clone(),
                known: known.join(", "),
            }),
        }
    }

    /// The first directory takes what is new, the second is the corpus that is committed.
    fn command(&self, workspace: &Workspace, target: &str, found: &Path) -> Command {
        let mut command = nightly(workspace, &["cargo", "fuzz", "run", target]);
        command
            .arg(found)
            .arg(Path::new("fuzz/corpus").join(target))
            .arg("--")
            .arg(format!("-max_total_time={}", self.seconds))
            .arg(format!("-max_len={LONGEST}"))
            .arg(format!("-rss_limit_mb={MEMORY}"))
            .arg(format!("-malloc_limit_mb={PIECE}"))
            .args(["-timeout=10", "-print_final_stats=1"]);
        command
    }
}

/// A command of the nightly toolchain. The toolchain that runs this task is named in the environment and would win.
fn nightly(workspace: &Workspace, args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly"])
        .args(args)
        .current_dir(workspace.root());
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

fn targets(root: &Path) -> Result<Vec<String>, Error> {
    let directory = root.join("fuzz/fuzz_targets");
    let mut targets = Vec::new();
    for entry in fs::read_dir(&directory).map_err(Error::file(&directory))? {
        let path = entry.map_err(Error::file(&directory))?.path();
        if path.extension() == Some(OsStr::new("rs")) {
            targets.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    targets.sort();
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::command_line;

    fn fuzz(target: Option<&str>) -> Fuzz {
        Fuzz {
            target: target.map(str::to_owned),
            seconds: 7,
        }
    }

    #[test]
    fn each_target_has_a_manifest_entry_a_corpus_and_a_name_to_be_run_by() {
        let workspace = Workspace::from_env();
        let targets = targets(workspace.root()).unwrap();
        let manifest = fs::read_to_string(workspace.root().join("fuzz/Cargo.toml")).unwrap();
        for target in &targets {
            assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
            let corpus = workspace.root().join("fuzz/corpus").join(target);
            assert!(fs::read_dir(corpus).unwrap().count() > 0, "{target}");
        }
        assert_eq!(manifest.matches("[[bin]]").count(), targets.len());
        assert_eq!(fuzz(Some("ledger")).chosen(targets.clone()).unwrap(), ["ledger"]);
        assert_eq!(fuzz(None).chosen(targets.clone()).unwrap(), targets);
        let error = fuzz(Some("lodger")).chosen(targets).unwrap_err().to_string();
        assert!(error.contains("lodger") && error.contains("ledger"), "{error}");
    }

    #[test]
    fn a_run_is_bounded_and_leaves_the_corpus_alone() {
        let line = command_line(&fuzz(None).command(&Workspace::from_env(), "ledger", Path::new("new")));
        assert!(line.starts_with("rustup run nightly cargo fuzz run ledger new fuzz/corpus/ledger -- "));
        for bound in ["-max_total_time=7", "-malloc_limit_mb=160", "-rss_limit_mb=1024"] {
            assert!(line.contains(bound), "{line}");
        }
    }
}
