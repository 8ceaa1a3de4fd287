use std::collections::BTreeMap;

use super::tree::{GUARANTEES, Tree};
use super::violation::Violation;
use crate::mutants::{Mutant, Occurrences};

const RULE: &str = "mutants";

/// A mutant with the text of the file that it changes.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) mutant: Mutant,
    /// `None` where there is no such file.
    pub(crate) text: Option<String>,
}

/// Each mutant can be made and has a name of its own, and the guarantees name each mechanism with the tests that notice its
/// removal.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut names = BTreeMap::new();
    for Listed { mutant, text } in &tree.mutants {
        let fault = |message, remedy: &str| Violation {
            path: mutant.listed_in.clone(),
            line: 1,
            rule: RULE,
            message,
            remedy: remedy.to_owned(),
        };
        if let Some(first) = names.insert(&mutant.name, &mutant.listed_in) {
            let message = format!("`{}` is a mutant of {first} already", mutant.name);
            found.push(fault(message, "give it another name"));
        }
        let places = text.as_ref().map(|text| mutant.apply(text));
        if let Some(Err(Occurrences(count))) = places {
            let message = format!(
                "`{}` finds its text {count} times in {}",
                mutant.name, mutant.file
            );
            found.push(fault(
                message,
                "find a text that occurs once, where the mechanism is",
            ));
        }
        if places.is_none() {
            let message = format!("`{}` changes {}, which is no file", mutant.name, mutant.file);
            found.push(fault(message, "name the file that holds the mechanism"));
        }
        let mechanism = format!("| {} |", mutant.mechanism);
        let row = tree.guarantees.lines().find(|line| line.starts_with(&mechanism));
        let test = mutant.killed_by.rsplit("::").next().unwrap_or_default();
        if !row.is_some_and(|row| row.contains(&format!("{test}`"))) {
            let message = format!(
                "{GUARANTEES} does not say that `{test}` guards {}",
                mutant.mechanism
            );
            found.push(fault(message, "add it to the table of mechanisms"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::sample::sources;
    use super::*;
    use crate::mutants::sample::mutant;

    const ROW: &str = "| fencing | a::late::a_late_write_is_lost` |\n";

    fn messages(guarantees: &str, mutants: Vec<(Mutant, Option<&str>)>) -> Vec<String> {
        let listed = mutants.into_iter().map(|(mutant, text)| Listed {
            mutant,
            text: text.map(str::to_owned),
        });
        let tree = Tree {
            guarantees: guarantees.to_owned(),
            mutants: listed.collect(),
            ..sources([])
        };
        check(&tree)
            .into_iter()
            .map(|violation| violation.message)
            .collect()
    }

    #[test]
    fn a_mutant_that_can_be_made_and_is_documented_passes() {
        assert!(messages(ROW, vec![(mutant("a", "b"), Some("a"))]).is_empty());
    }

    #[test]
    fn what_does_not_hold_any_more_is_named() {
        let one = || mutant("a", "b");
        let cases = [
            (messages(ROW, vec![(one(), Some("c"))]), "finds its text 0 times"),
            (messages(ROW, vec![(one(), None)]), "which is no file"),
            (messages("", vec![(one(), Some("a"))]), "does not say that"),
            (
                messages(ROW, vec![(one(), Some("a")), (one(), Some("a"))]),
                "is a mutant of xtask/mutants/fencing.toml already",
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(expected), "{found:?}");
        }
    }
}
