use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::mutant::Mutant;
use crate::error::Error;
use crate::workspace::{Workspace, command_line, spawn_error};

/// A copy of the checkout in which mutants are made, so that a run that is cut short leaves the checkout as it was.
pub(super) struct Sandbox<'a> {
    workspace: &'a Workspace,
    tree: PathBuf,
}

/// What the tests of a package said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Passed,
    Failed,
    /// The code does not compile, or there is no such test: nothing was learned.
    Nothing,
}

impl<'a> Sandbox<'a> {
    /// Copies what the checkout holds now, committed or not. What was built for earlier mutants is kept.
    pub(super) fn new(workspace: &'a Workspace) -> Result<Self, Error> {
        let home = workspace.root().join("target/mutants");
        let tree = home.join("tree");
        if tree.exists() {
            fs::remove_dir_all(&tree).map_err(Error::file(&tree))?;
        }
        let mut list = Command::new("git");
        list.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
            .current_dir(workspace.root());
        let output = list.output().map_err(spawn_error(&list))?;
        if !output.status.success() {
            return Err(Error::Command {
                command: command_line(&list),
                detail: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            });
        }
        for path in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
            copy(&workspace.root().join(path), &tree.join(path))?;
        }
        Ok(Self { workspace, tree })
    }

    /// Runs one test of the unchanged tree.
    pub(super) fn unchanged(&self, mutant: &Mutant) -> Result<Answer, Error> {
        self.test(mutant)
    }

    /// Runs the test of a mutant, and puts its file back.
    pub(super) fn mutated(&self, mutant: &Mutant) -> Result<Answer, Error> {
        let path = self.tree.join(&mutant.file);
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        let Ok(without) = mutant.apply(&text) else {
            return Ok(Answer::Nothing);
        };
        fs::write(&path, without).map_err(Error::file(&path))?;
        let answer = self.test(mutant);
        fs::write(&path, text).map_err(Error::file(&path))?;
        answer
    }

    fn test(&self, mutant: &Mutant) -> Result<Answer, Error> {
        let filter = format!("test(={})", mutant.killed_by);
        let mut command = self.workspace.cargo(&["nextest", "run", "--all-targets"]);
        command
            .args(["--package", &mutant.package, "--filter-expr", &filter])
            .current_dir(&self.tree)
            // The name that cargo gave the running task would lead the nested cargo to the checkout.
            .env_remove("CARGO_MANIFEST_DIR")
            .env("CARGO_TARGET_DIR", self.tree.with_file_name("build"))
            .stdin(Stdio::null());
        let output = command.output().map_err(spawn_error(&command))?;
        let answer = answer_of(output.status.code());
        if answer == Answer::Nothing {
            report(mutant, &output);
        }
        Ok(answer)
    }
}

/// Nextest tells failed tests from code that does not compile and from a filter that matches nothing.
fn answer_of(code: Option<i32>) -> Answer {
    match code {
        Some(0) => Answer::Passed,
        Some(100) => Answer::Failed,
        _ => Answer::Nothing,
    }
}

/// The end of what was printed says why nothing was learned.
fn report(mutant: &Mutant, output: &Output) {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = text.lines().collect();
    eprintln!("{}:", mutant.name);
    for line in lines.iter().skip(lines.len().saturating_sub(30)) {
        eprintln!("    {line}");
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    // A file that was removed and not committed is still listed.
    if !from.is_file() {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(Error::file(parent))?;
    }
    fs::copy(from, to).map_err(Error::file(from))?;
    // With the time of the original, cargo builds only what a mutant changes.
    let modified = fs::metadata(from).and_then(|data| data.modified());
    let set = modified.and_then(|time| fs::File::options().write(true).open(to)?.set_modified(time));
    set.map_err(Error::file(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_test_is_told_from_one_that_did_not_run() {
        assert_eq!(answer_of(Some(0)), Answer::Passed);
        assert_eq!(answer_of(Some(100)), Answer::Failed);
        for code in [Some(4), Some(101), None] {
            assert_eq!(answer_of(code), Answer::Nothing);
        }
    }

    #[test]
    fn a_copy_keeps_its_time_and_a_removed_file_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("a.rs"), root.path().join("b/c/a.rs"));
        copy(&from, &to).unwrap();
        assert!(!to.exists());
        fs::write(&from, "fn f() {}\n").unwrap();
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        let file = fs::File::options().write(true).open(&from).unwrap();
        file.set_modified(long_ago).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "fn f() {}\n");
        assert_eq!(fs::metadata(&to).unwrap().modified().unwrap(), long_ago);
    }
}
