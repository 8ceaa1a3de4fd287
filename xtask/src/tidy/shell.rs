//! Commands that documents name exist: packages, tasks and the tasks' flags.

use clap::CommandFactory;

use super::tree::Tree;
use super::violation::Violation;
use crate::markdown;

const RULE: &str = "shell";

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let tasks = crate::Xtask::command();
    let mut found = Vec::new();
    for (page, text) in &tree.pages {
        for (line, command) in markdown::commands(text) {
            let unknown = unknown_package(tree, &command).or_else(|| unknown_task(&tasks, &command));
            found.extend(unknown.map(|message| Violation {
                path: page.clone(),
                line,
                rule: RULE,
                message,
                remedy: "correct the command".to_owned(),
            }));
        }
    }
    found
}

fn unknown_package(tree: &Tree, command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    if words.next() != Some("cargo") || !matches!(words.next(), Some("build" | "run" | "test")) {
        return None;
    }
    let name = words.skip_while(|word| *word != "-p").nth(1)?;
    let is_known = tree.members.iter().any(|member| member.package.name == name);
    (!is_known).then(|| format!("there is no package `{name}`"))
}

fn unknown_task(tasks: &clap::Command, command: &str) -> Option<String> {
    let mut words = command.strip_prefix("cargo xtask ")?.split_whitespace();
    // A word in capitals stands for any.
    let name = words
        .next()
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase()))?;
    let Some(task) = tasks.find_subcommand(name) else {
        return Some(format!("there is no task `{name}`"));
    };
    let takes = |flag: &str| {
        task.get_arguments()
            .any(|argument| argument.get_long() == Some(flag))
    };
    let flag = words.find(|word| word.strip_prefix("--").is_some_and(|flag| !takes(flag)))?;
    Some(format!("`cargo xtask {name}` takes no `{flag}`"))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{member, members, places};
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let mut tree = members(vec![member("foldwright-x", "crates/x", &[])]);
        tree.pages.insert("README.md".to_owned(), text.to_owned());
        places(&check(&tree))
    }

    #[test]
    fn commands_that_exist_pass() {
        let text = "Run `cargo xtask test`, `cargo xtask COMMAND`, `cargo xtask --help`, `cargo doc`.\n\n\
                    ```sh\ncargo run --release -p foldwright-x -- go\ncargo xtask proofs --area Q\n```\n";
        assert_eq!(faults(text), [""; 0]);
    }

    #[test]
    fn commands_that_do_not_are_named() {
        let text =
            "Run `cargo xtask dance`.\n\n```sh\ncargo test -p foldwright-y\ncargo xtask proofs --loud\n```\n";
        assert_eq!(faults(text), ["README.md:1", "README.md:4", "README.md:5"]);
    }
}
