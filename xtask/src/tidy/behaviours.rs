use std::collections::{BTreeMap, BTreeSet};

use super::tree::{BEHAVIOURS, GUARANTEES, Tree};
use super::violation::Violation;
use crate::behaviour_ids::BehaviourId;
use crate::proofs::{self, Proof};

const RULE: &str = "behaviours";

/// A promise that says so of itself today needs no proof.
const NOT_KEPT: [&str; 2] = ["Not yet", "Not built yet"];

/// Documents and tests agree: each behaviour and each promise is listed, and whatever is listed is proved.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let proofs = proofs::all_in(&tree.sources);
    let promises = promises_in(&tree.guarantees);
    let (entries, mut found) = entries_in(&tree.behaviours);
    found.extend(unlisted(&proofs, &entries, &promises));
    found.extend(unproved(&proofs, &entries));
    found.extend(promises.iter().flat_map(|promise| promise.check(&proofs)));
    found
}

fn violation(path: &str, line: usize, message: String, remedy: &str) -> Violation {
    Violation {
        path: path.to_owned(),
        line,
        rule: RULE,
        message,
        remedy: remedy.to_owned(),
    }
}

/// The behaviours by id with their lines, and a violation for each that is listed once more.
fn entries_in(text: &str) -> (BTreeMap<BehaviourId, usize>, Vec<Violation>) {
    let mut entries = BTreeMap::new();
    let mut twice = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let name = text.strip_prefix("- **").and_then(|rest| rest.split_once("**"));
        for id in name.map(|(id, _)| BehaviourId::all_in(id)).unwrap_or_default() {
            if let Some(first) = entries.insert(id, line) {
                let message = format!("{id} stands in line {first} already");
                let remedy = "give the later behaviour the next number of its area that was never used";
                twice.push(violation(BEHAVIOURS, line, message, remedy));
            }
        }
    }
    (entries, twice)
}

fn unlisted(
    proofs: &[Proof],
    entries: &BTreeMap<BehaviourId, usize>,
    promises: &[Promise],
) -> Vec<Violation> {
    let promised: BTreeSet<_> = promises.iter().map(|promise| promise.id).collect();
    let strangers = proofs
        .iter()
        .filter(|proof| !entries.contains_key(&proof.id) && !promised.contains(&proof.id));
    strangers
        .map(|proof| {
            let Proof { id, path, line, test } = proof;
            let (document, remedy) = match id {
                BehaviourId::Behaviour { .. } => (
                    BEHAVIOURS,
                    "correct the id, or add a line that states the behaviour",
                ),
                BehaviourId::Promise { .. } => {
                    (GUARANTEES, "correct the id, or add the promise to the table")
                }
            };
            let message = format!("`{test}` names {id}, which is not in {document}");
            violation(path, *line, message, remedy)
        })
        .collect()
}

fn unproved(proofs: &[Proof], entries: &BTreeMap<BehaviourId, usize>) -> Vec<Violation> {
    let proved: BTreeSet<_> = proofs.iter().map(|proof| proof.id).collect();
    let remedy =
        "name the id in the doc comment of the test that proves it, write that test, or remove the line";
    entries
        .iter()
        .filter(|(id, _)| !proved.contains(id))
        .map(|(id, line)| violation(BEHAVIOURS, *line, format!("no test names {id}"), remedy))
        .collect()
}

/// A row of the table of promises: id, promise, what holds today, and the tests that prove it.
struct Promise {
    id: BehaviourId,
    line: usize,
    kept: bool,
    proved_by: Vec<String>,
}

fn promises_in(text: &str) -> Vec<Promise> {
    let rows = (1..).zip(text.lines()).filter_map(|(line, row)| {
        let mut cells = row.strip_prefix('|')?.split('|');
        let id = *BehaviourId::all_in(cells.next()?).first()?;
        let today = cells.nth(1).unwrap_or_default();
        let tests = cells.next().unwrap_or_default();
        Some(Promise {
            id,
            line,
            kept: !NOT_KEPT.iter().any(|words| today.contains(words)),
            proved_by: tests.split('`').skip(1).step_by(2).map(str::to_owned).collect(),
        })
    });
    rows.collect()
}

impl Promise {
    fn check(&self, proofs: &[Proof]) -> Vec<Violation> {
        let id = self.id;
        let fault = |message, remedy| violation(GUARANTEES, self.line, message, remedy);
        let own: BTreeSet<_> = proofs
            .iter()
            .filter(|proof| proof.id == id)
            .map(Proof::test_path)
            .collect();
        let mut found: Vec<_> = self
            .proved_by
            .iter()
            .filter(|test| !own.contains(*test))
            .map(|test| {
                let remedy = "correct the name, or name the promise in the test's doc comment";
                fault(format!("`{test}` is no test that names {id}"), remedy)
            })
            .collect();
        if self.kept && self.proved_by.is_empty() {
            let remedy =
                "add the strongest tests that name it to the last column, or say `Not yet` in the one before";
            found.push(fault(format!("{id} is promised without a proof"), remedy));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{places, sources};
    use super::*;

    const TESTS: &str = "/// Q-07, G1\n#[test]\nfn a() {}\n/// B-02\n#[test]\nfn b() {}\n";
    const LIST: &str =
        "# Behaviours\n\nAn id such as Q-99.\n- **B-02** When.\n- **Q-07** Given Q-01, when.\n";
    const TABLE: &str = "| # | promise | today | proved by |\n|---|---|---|---|\n\
                         | G1 | Never lost. | Both. | `x::a` |\n| G8 | Processes. | Not built yet. | |\n";

    fn faults(behaviours: &str, guarantees: &str) -> Vec<Violation> {
        let tree = Tree {
            behaviours: behaviours.to_owned(),
            guarantees: guarantees.to_owned(),
            ..sources([("crates/x/src/lib.rs", TESTS)])
        };
        check(&tree)
    }

    #[test]
    fn documents_and_tests_that_agree_pass() {
        let table = TABLE.replace("x::a", "x::lib::a");
        assert_eq!(faults(LIST, &table), []);
        let not_yet = format!("{table}| G6 | Fair. | **Not yet.** | |\n");
        assert_eq!(faults(LIST, &not_yet), []);
    }

    #[test]
    fn a_test_names_only_what_is_listed() {
        let found = faults("", "");
        let expected = [6, 3, 3].map(|line| format!("crates/x/src/lib.rs:{line}"));
        assert_eq!(places(&found), expected);
        assert!(found[0].message.contains("docs/behaviours.md"), "{}", found[0]);
        assert!(found[2].message.contains("docs/guarantees.md"), "{}", found[2]);
    }

    #[test]
    fn what_is_listed_is_proved_and_listed_once() {
        let table = TABLE.replace("x::a", "x::lib::a");
        let list = format!("{LIST}- **B-03** When.\n- **B-02** Again.\n");
        let found = faults(&list, &table);
        assert_eq!(places(&found), ["docs/behaviours.md:7", "docs/behaviours.md:6"]);
        assert!(found[0].message.contains("stands in line 4"), "{}", found[0]);
        assert!(found[1].message.contains("no test names B-03"), "{}", found[1]);
    }

    #[test]
    fn a_promise_is_proved_by_tests_that_name_it() {
        for tests in ["`x::a`", "`x::lib::b`", "`x::lib::a`, `x::lib::gone`", ""] {
            let table = TABLE.replace("`x::a`", tests);
            assert_eq!(places(&faults(LIST, &table)), ["docs/guarantees.md:3"], "{tests}");
        }
    }

    #[test]
    fn a_kept_promise_needs_a_proof() {
        let table = TABLE
            .replace("x::a", "x::lib::a")
            .replace("Not built yet.", "Both.");
        let found = faults(LIST, &table);
        assert_eq!(places(&found), ["docs/guarantees.md:4"]);
        assert!(
            found[0].message.contains("G8 is promised without a proof"),
            "{}",
            found[0]
        );
    }
}
