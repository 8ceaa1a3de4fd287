//! Mutants of the mechanisms that the promises rest on: each is removed in a copy of the checkout, and a test has to fail.

mod mutant;
mod sandbox;

use std::process::ExitCode;

#[cfg(test)]
pub(crate) use self::mutant::tests as sample;
pub(crate) use self::mutant::{Mutant, Occurrences, load};
use self::sandbox::{Answer, Sandbox};
use crate::error::Error;
use crate::workspace::Workspace;

/// Remove each mechanism that a promise rests on, and see a test fail
///
/// Works in a copy of the checkout under `target/mutants`. A test has to pass on the unchanged code first. Needs
/// cargo-nextest.
#[derive(clap::Args)]
pub(crate) struct Mutants {
    /// Only those whose name or mechanism holds one of these
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Name them and run nothing
    #[arg(long)]
    list: bool,
}

/// What became of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Killed,
    Survived,
    /// Its test fails without it too.
    TestFails,
    /// It could not be made, does not compile, or its test was not found.
    Broken,
}

impl Mutants {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        let mutants = self.chosen(load(workspace.root())?);
        if self.list {
            for mutant in &mutants {
                println!("{}: {} ({})", mutant.mechanism, mutant.name, mutant.killed_by);
            }
            return Ok(ExitCode::SUCCESS);
        }
        let sandbox = Sandbox::new(workspace)?;
        // All of them before the first change: what is built for the unchanged tree is built once.
        let mut before = Vec::with_capacity(mutants.len());
        for mutant in &mutants {
            before.push(sandbox.unchanged(mutant)?);
        }
        let mut survivors = 0;
        for (mutant, before) in mutants.iter().zip(before) {
            let verdict = match before {
                Answer::Passed => Verdict::of(sandbox.mutated(mutant)?),
                Answer::Failed => Verdict::TestFails,
                Answer::Nothing => Verdict::Broken,
            };
            survivors += usize::from(verdict != Verdict::Killed);
            println!("{} {}: {}", verdict.word(), mutant.name, mutant.killed_by);
        }
        println!("mutants: {} killed, {survivors} not", mutants.len() - survivors);
        Ok(if survivors == 0 && !mutants.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn chosen(&self, mutants: Vec<Mutant>) -> Vec<Mutant> {
        let wanted = |mutant: &Mutant| {
            let named = |filter: &String| mutant.name.contains(filter) || mutant.mechanism.contains(filter);
            self.filters.is_empty() || self.filters.iter().any(named)
        };
        mutants.into_iter().filter(wanted).collect()
    }
}

impl Verdict {
    fn of(answer: Answer) -> Self {
        match answer {
            Answer::Passed => Self::Survived,
            Answer::Failed => Self::Killed,
            Answer::Nothing => Self::Broken,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Killed => "killed   ",
            Self::Survived => "SURVIVED ",
            Self::TestFails => "NO TEST  ",
            Self::Broken => "BROKEN   ",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_dies_only_with_a_failed_test() {
        assert_eq!(Verdict::of(Answer::Failed), Verdict::Killed);
        assert_eq!(Verdict::of(Answer::Passed), Verdict::Survived);
        assert_eq!(Verdict::of(Answer::Nothing), Verdict::Broken);
    }

    #[test]
    fn filters_choose_by_name_and_mechanism() {
        let chosen = |filter: &str| {
            let mutants = Mutants {
                filters: vec![filter.to_owned()],
                list: false,
            };
            mutants.chosen(vec![sample::mutant("a", "b")]).len()
        };
        assert_eq!((chosen("fencing"), chosen("no-f"), chosen("nonces")), (1, 1, 0));
    }
}
