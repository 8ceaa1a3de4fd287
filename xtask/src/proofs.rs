use std::process::ExitCode;

use crate::behaviour_ids::BehaviourId;
use crate::error::Error;
use crate::rust_source::has_word;
use crate::source_tree::{self, SourceFile};
use crate::workspace::Workspace;

/// List which test proves which behaviour (`Q-07`) or promise (`G3`), by the ids in its doc comment
#[derive(clap::Args)]
pub(crate) struct Proofs {
    /// Only the ids of this area, one capital letter
    #[arg(long, value_name = "LETTER")]
    area: Option<char>,
}

impl Proofs {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        for proof in all_in(&source_tree::load(workspace.root())?)
            .into_iter()
            .filter(|proof| self.area.is_none_or(|area| proof.id.is_in_area(area)))
        {
            println!("{} {}:{} {}", proof.id, proof.path, proof.line, proof.test);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A test and one id that it names.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Proof {
    pub(crate) id: BehaviourId,
    /// Relative to the workspace root.
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) test: String,
}

impl Proof {
    /// The test as documents name it: by modules, without the directories that every package has.
    pub(crate) fn test_path(&self) -> String {
        let modules = self.path.trim_end_matches(".rs").split('/');
        let mut path: Vec<_> = modules.filter(|module| !EVERYWHERE.contains(module)).collect();
        path.push(&self.test);
        path.join("::")
    }
}

const EVERYWHERE: [&str; 5] = ["crates", "src", "tests", "it", "mod"];

/// Every proof in these files, by id and place.
pub(crate) fn all_in(sources: &[SourceFile]) -> Vec<Proof> {
    let mut proofs: Vec<_> = sources.iter().flat_map(proofs_in).collect();
    proofs.sort();
    proofs
}

/// Where a function counts as a test without saying so: the suites are functions that each adapter's tests call.
const SUITES: &str = "crates/conformance/src/";

/// A file that must not compile is one test, with the name of the file.
const COMPILE_TESTS: &str = "/ui/";

fn proofs_in(file: &SourceFile) -> Vec<Proof> {
    if file.path.contains(COMPILE_TESTS) {
        return compile_test(file);
    }
    let every_function = file.path.starts_with(SUITES);
    let mut proofs = Vec::new();
    let mut item = Item::default();
    for (number, line) in file.numbered() {
        if line.comment.starts_with("///") {
            item.ids.extend(BehaviourId::all_in(&line.comment));
        }
        let code = line.code.trim();
        if code.is_empty() || item.take_attribute(code) {
            continue;
        }
        let name = function_name(code).filter(|_| item.is_test || every_function);
        for id in name.is_some().then_some(&item.ids).into_iter().flatten() {
            let test = name.unwrap_or_default().to_owned();
            proofs.push(Proof {
                id: *id,
                path: file.path.clone(),
                line: number,
                test,
            });
        }
        item = Item::default();
    }
    proofs
}

fn compile_test(file: &SourceFile) -> Vec<Proof> {
    let name = file
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".rs");
    let docs = file.numbered().filter(|(_, line)| line.comment.starts_with("//"));
    docs.flat_map(|(number, line)| {
        BehaviourId::all_in(&line.comment)
            .into_iter()
            .map(move |id| (number, id))
    })
    .map(|(line, id)| Proof {
        id,
        path: file.path.clone(),
        line,
        test: name.to_owned(),
    })
    .collect()
}

/// What stands before an item: its documentation and attributes.
#[derive(Default)]
struct Item {
    ids: Vec<BehaviourId>,
    is_test: bool,
    open_brackets: usize,
}

impl Item {
    /// Takes the line where it is, or goes on, an attribute.
    fn take_attribute(&mut self, code: &str) -> bool {
        if self.open_brackets == 0 && !code.starts_with("#[") {
            return false;
        }
        self.is_test |= has_word(code, "test") && !code.starts_with("#[cfg");
        let count = |bracket| code.matches(bracket).count();
        self.open_brackets = (self.open_brackets + count('[')).saturating_sub(count(']'));
        true
    }
}

fn function_name(code: &str) -> Option<&str> {
    let (head, tail) = code.split_once("fn ")?;
    let is_item = head.split_whitespace().all(|word| {
        ["pub", "async", "const", "extern", "unsafe"].contains(&word) || word.starts_with("pub(")
    });
    let end = tail
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(tail.len());
    tail.get(..end).filter(|name| is_item && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let proofs = proofs_in(&SourceFile::new(path, text));
        proofs
            .iter()
            .map(|proof| format!("{} {}:{} {}", proof.id, proof.path, proof.line, proof.test))
            .collect()
    }

    #[test]
    fn tests_name_what_they_prove() {
        let text = "/// Q-07, Q-09\n/// and G3\n#[test]\nfn order_holds() {}\n\n#[tokio::test(\n    start_paused = true,\n)]\n\
                    // why\n/// D-01.\nasync fn late() {\n    /// Q-01\n    let x = 1;\n}\n";
        assert_eq!(
            found("crates/x/src/a.rs", text),
            [
                "Q-07 crates/x/src/a.rs:4 order_holds",
                "Q-09 crates/x/src/a.rs:4 order_holds",
                "G3 crates/x/src/a.rs:4 order_holds",
                "D-01 crates/x/src/a.rs:11 late"
            ]
        );
    }

    #[test]
    fn a_test_is_named_by_its_modules() {
        let path = |path, text| all_in(&[SourceFile::new(path, text)])[0].test_path();
        let test = "/// G3\n#[test]\nfn t() {}\n";
        let suite = "/// G3\npub fn t() {}\n";
        assert_eq!(path("crates/x/tests/it/whole/mod.rs", test), "x::whole::t");
        assert_eq!(path("crates/x/src/a/b.rs", test), "x::a::b::t");
        assert_eq!(
            path("crates/conformance/src/suite/order.rs", suite),
            "conformance::suite::order::t"
        );
    }

    #[test]
    fn only_tests_prove_something() {
        let text = "/// Q-07\npub fn claim() {}\n/// Q-08\n#[cfg(test)]\nmod tests {}\n//! Q-09\n// Q-10\n#[test]\nfn t() {}\n";
        assert_eq!(found("crates/x/src/a.rs", text), Vec::<String>::new());
    }

    #[test]
    fn each_function_of_a_suite_is_a_test() {
        let text = "/// Q-07\npub async fn order<F: Fixture>(fixture: &F) {}\n";
        assert_eq!(
            found("crates/conformance/src/queue/order.rs", text),
            ["Q-07 crates/conformance/src/queue/order.rs:2 order"]
        );
    }

    #[test]
    fn a_file_that_must_not_compile_is_a_test() {
        let text = "//! X-03: a tenant cannot be forged.\nfn main() {}\n";
        assert_eq!(
            found("crates/domain/tests/ui/forged_tenant.rs", text),
            ["X-03 crates/domain/tests/ui/forged_tenant.rs:1 forged_tenant"]
        );
    }

    #[test]
    fn tests_inside_a_macro_are_seen() {
        let text = "proptest! {\n    /// Q-16\n    #[test]\n    fn counters_agree(ops in ops()) {}\n}\n";
        assert_eq!(
            found("crates/x/src/a.rs", text),
            ["Q-16 crates/x/src/a.rs:4 counters_agree"]
        );
    }
}
