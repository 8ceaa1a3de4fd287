use super::tree::Tree;
use super::violation::Violation;
use crate::rust_source::has_word;

const RULE: &str = "hash-order";
const WHERE: [&str; 4] = [
    "crates/domain/",
    "crates/ports/",
    "crates/adapter-memory/",
    "crates/runtime/",
];
const TYPES: [&str; 2] = ["HashMap", "HashSet"];
const PERMIT: &str = "// order is not observed";

/// Whether a hash table's order can be seen is hard to check, so each use has to say that it cannot.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree
        .sources
        .iter()
        .filter(|file| WHERE.iter().any(|place| file.path.starts_with(place)))
    {
        for (number, line) in file.numbered() {
            if line.comment.contains(PERMIT) {
                continue;
            }
            let named = TYPES.iter().filter(|name| has_word(&line.code, name));
            found.extend(named.map(|name| Violation {
                path: file.path.clone(),
                line: number,
                rule: RULE,
                message: format!("`{name}` has another order in each run"),
                remedy: format!(
                    "use a BTreeMap or BTreeSet, or end the line with `{PERMIT}` where that is so"
                ),
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::sample::{places, sources};
    use super::*;

    #[test]
    fn hash_tables_need_a_word_of_their_own() {
        let text = "use std::collections::HashMap;\nlet a = HashSet::new(); // order is not observed\n\
                    let b: HashSet<u8>; // a comment\n// HashMap\n";
        let found = check(&sources([
            ("crates/runtime/src/a.rs", text),
            ("examples/x/src/a.rs", text),
        ]));
        assert_eq!(
            places(&found),
            ["crates/runtime/src/a.rs:1", "crates/runtime/src/a.rs:3"]
        );
    }
}
