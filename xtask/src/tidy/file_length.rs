use super::tree::Tree;
use super::violation::Violation;

const RULE: &str = "file-length";

/// Lines. What does not fit on a few screens holds more than one thing.
const MAX_LINES: usize = 600;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let too_long = tree.sources.iter().filter(|file| file.lines.len() > MAX_LINES);
    too_long
        .map(|file| Violation {
            path: file.path.clone(),
            line: MAX_LINES + 1,
            rule: RULE,
            message: format!("{} lines, and at most {MAX_LINES} are allowed", file.lines.len()),
            remedy: "split it into files that each hold one main type".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{places, sources};
    use super::*;

    #[test]
    fn the_limit_passes_and_one_more_line_does_not() {
        let at_limit = "x\n".repeat(MAX_LINES);
        let above = "x\n".repeat(MAX_LINES + 1);
        let found = check(&sources([("a.rs", at_limit.as_str()), ("b.rs", above.as_str())]));
        assert_eq!(places(&found), ["b.rs:601"]);
    }
}
