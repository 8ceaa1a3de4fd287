use super::tree::Tree;
use super::violation::Violation;
use crate::rust_source::has_word;

const RULE: &str = "pure-domain";
const WHERE: &str = "crates/domain/src/";

const CLOCK: &str = "take the time as an argument: the domain knows no clock";
const RANDOMNESS: &str = "take the id or the choice as an argument: the domain draws nothing at random";
const IO: &str = "move it behind a port: the domain does no input or output";
const ASYNC: &str = "return what is to be done as a value: the domain waits for nothing";

/// What the domain's code must not name, and what to do instead.
const IMPURE: [(&str, &str); 9] = [
    ("SystemTime", CLOCK),
    ("Instant::now", CLOCK),
    ("rand", RANDOMNESS),
    ("async fn", ASYNC),
    ("std::fs", IO),
    ("std::net", IO),
    ("std::env", IO),
    ("std::process", IO),
    ("std::thread", ASYNC),
];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.sources.iter().filter(|file| file.path.starts_with(WHERE)) {
        for (number, line) in file.numbered() {
            let named = IMPURE.iter().filter(|(word, _)| has_word(&line.code, word));
            found.extend(named.map(|(word, remedy)| Violation {
                path: file.path.clone(),
                line: number,
                rule: RULE,
                message: format!("the domain names `{word}`"),
                remedy: (*remedy).to_owned(),
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
    fn impure_code_is_found_in_the_domain_alone() {
        let text = "use std::time::SystemTime;\nlet t = Instant::now();\nuse rand::Rng;\nasync fn f() {}\n\
                    use std::fs;\nuse std::net::TcpStream;\n";
        let found = check(&sources([
            ("crates/domain/src/a.rs", text),
            ("crates/runtime/src/a.rs", text),
        ]));
        let expected: Vec<_> = (1..=6)
            .map(|line| format!("crates/domain/src/a.rs:{line}"))
            .collect();
        assert_eq!(places(&found), expected);
    }

    #[test]
    fn comments_may_say_what_is_absent() {
        let text = "//! The domain knows no `SystemTime` and no rand.\nfn operand(brand: &str) {}\n";
        assert_eq!(check(&sources([("crates/domain/src/a.rs", text)])), []);
    }
}
