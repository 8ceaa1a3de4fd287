use super::tree::Tree;
use super::violation::Violation;
use crate::rust_source::has_word;

const RULE: &str = "banned-text";

/// Only in code, and what to do instead.
const IN_CODE: [(&str, &str); 4] = [
    ("todo!(", "write the code, or leave the whole thing out"),
    ("unimplemented!(", "write the code, or leave the whole thing out"),
    ("dbg!(", "remove it, or log through tracing"),
    (
        "#[ignore",
        "make the test run everywhere, or delete it: a test that never runs proves nothing",
    ),
];

/// As words of code or comment.
const ANYWHERE: [(&str, &str); 2] = [
    (
        "TODO",
        "do it, or file it in the tracker: a note in the code is read by nobody",
    ),
    (
        "FIXME",
        "fix it, or file it in the tracker: a note in the code is read by nobody",
    ),
];

/// This file has to spell out what it looks for.
const EXEMPT: &str = "xtask/src/tidy/banned_text.rs";

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.sources.iter().filter(|file| file.path != EXEMPT) {
        for (number, line) in file.numbered() {
            let in_code = IN_CODE.iter().filter(|(text, _)| line.code.contains(text));
            let anywhere = ANYWHERE
                .iter()
                .filter(|(word, _)| has_word(&line.code, word) || has_word(&line.comment, word));
            found.extend(in_code.chain(anywhere).map(|(text, remedy)| Violation {
                path: file.path.clone(),
                line: number,
                rule: RULE,
                message: format!("`{text}` is not allowed"),
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
    fn each_banned_text_is_found_where_it_counts() {
        let text = "fn f() { todo!() }\n// TODO later\nfn g() { unimplemented!(\"x\") }\n#[ignore = \"slow\"]\n\
                    let a = dbg!(1); // FIXME: and this\n";
        let found = check(&sources([("crates/x/src/lib.rs", text)]));
        let expected: Vec<_> = [1, 2, 3, 4, 5, 5]
            .map(|line| format!("crates/x/src/lib.rs:{line}"))
            .into();
        assert_eq!(places(&found), expected);
        assert_eq!(found[0].to_string().lines().count(), 2);
    }

    #[test]
    fn other_text_passes() {
        let text = "// a todo list\nlet autodb = \"dbg!(1)\";\nfn todos() {} // see todo!()\nstruct TODOS;\n";
        assert_eq!(check(&sources([("crates/x/src/lib.rs", text)])), []);
    }

    #[test]
    fn only_this_file_is_exempt() {
        let found = check(&sources([
            (EXEMPT, "// TODO\n"),
            ("xtask/src/tidy/mod.rs", "// TODO\n"),
        ]));
        assert_eq!(places(&found), ["xtask/src/tidy/mod.rs:1"]);
    }
}
