use super::tree::Tree;
use super::violation::Violation;

const RULE: &str = "unsafe-code";
const ATTRIBUTE: &str = "#![forbid(unsafe_code)]";

/// Each crate forbids unsafe code: by the workspace's lints, or in its root file.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let by_workspace = tree.root_manifest.forbids_unsafe_everywhere;
    let mut found = Vec::new();
    for member in tree
        .members
        .iter()
        .filter(|member| !(by_workspace && member.manifest.inherits_lints))
    {
        for target in &member.package.targets {
            let root = tree.sources.iter().find(|file| file.path == target.src_path);
            if !root.is_some_and(|file| file.lines.iter().any(|line| line.code.contains(ATTRIBUTE))) {
                found.push(Violation {
                    path: target.src_path.clone(),
                    line: 1,
                    rule: RULE,
                    message: "nothing forbids unsafe code here".to_owned(),
                    remedy: format!("add `[lints] workspace = true` to {}", member.manifest.path),
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Manifest;
    use super::super::sample::{member, members, places};
    use super::*;
    use crate::source_tree::SourceFile;

    fn tree(root_manifest: &str, source: &str) -> Tree {
        let mut tree = members(vec![member("x", "crates/x", &[])]);
        tree.root_manifest = Manifest::parse("Cargo.toml", root_manifest).unwrap();
        tree.sources = vec![SourceFile::new("crates/x/src/lib.rs", source)];
        tree
    }

    #[test]
    fn the_workspace_or_the_crate_must_forbid_it() {
        let forbids = super::super::sample::ROOT_MANIFEST;
        assert_eq!(check(&tree(forbids, "fn f() {}\n")), []);
        assert_eq!(check(&tree("", "//! x\n#![forbid(unsafe_code)]\n")), []);
        assert_eq!(
            places(&check(&tree("", "fn f() {}\n"))),
            ["crates/x/src/lib.rs:1"]
        );
        assert_eq!(
            places(&check(&tree("", "// #![forbid(unsafe_code)]\n"))),
            ["crates/x/src/lib.rs:1"]
        );
    }
}
