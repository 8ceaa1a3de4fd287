//! The project's own rules. Each rule is a file that looks at the [`Tree`] and says what breaks it.

mod banned_text;
mod behaviours;
mod book;
mod crate_layers;
mod feature_graph;
mod file_length;
mod hash_order;
mod manifest;
mod manifest_form;
mod mutants;
mod pure_domain;
#[cfg(test)]
mod sample;
mod shell;
mod tree;
mod unsafe_code;
mod violation;

use std::process::ExitCode;

use self::tree::Tree;
use self::violation::Violation;
use crate::error::Error;
use crate::workspace::Workspace;

const RULES: [fn(&Tree) -> Vec<Violation>; 12] = [
    banned_text::check,
    behaviours::check,
    book::check,
    crate_layers::check,
    feature_graph::check,
    file_length::check,
    hash_order::check,
    manifest_form::check,
    mutants::check,
    pure_domain::check,
    shell::check,
    unsafe_code::check,
];

/// Check the dependency rule and the other rules of the project; list every violation
#[derive(clap::Args)]
pub(crate) struct Tidy {}

impl Tidy {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        Ok(if report(workspace)? == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// Prints every violation and answers how many there are.
pub(crate) fn report(workspace: &Workspace) -> Result<usize, Error> {
    let violations = check(&Tree::load(workspace)?);
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => println!("tidy: clean"),
        count => println!("tidy: {count} violations"),
    }
    Ok(violations.len())
}

fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations: Vec<_> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    violations.sort();
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_violations_of_all_rules_are_listed_by_place() {
        let tree = sample::sources([
            (
                "crates/domain/src/b.rs",
                "use std::collections::HashMap;\nuse std::fs; // FIXME\n",
            ),
            ("crates/a.rs", "dbg!(1);\n"),
        ]);
        let rules: Vec<_> = check(&tree)
            .into_iter()
            .map(|violation| (violation.line, violation.rule))
            .collect();
        assert_eq!(
            rules,
            [
                (1, "banned-text"),
                (1, "hash-order"),
                (2, "banned-text"),
                (2, "pure-domain")
            ]
        );
    }
}
