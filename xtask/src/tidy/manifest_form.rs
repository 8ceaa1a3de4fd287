use super::manifest::Manifest;
use super::tree::Tree;
use super::violation::Violation;

const RULE: &str = "manifest";

/// Each crate says what it is, inherits the lints, and takes every version from the workspace root.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    tree.members
        .iter()
        .flat_map(|member| check_manifest(&member.manifest))
        .collect()
}

fn check_manifest(manifest: &Manifest) -> Vec<Violation> {
    let violation = |line, message: String, remedy: String| Violation {
        path: manifest.path.clone(),
        line,
        rule: RULE,
        message,
        remedy,
    };
    let mut found = Vec::new();
    if !manifest.has_description {
        let remedy = "add `description = \"…\"` to [package]: one sentence that says what the crate is";
        found.push(violation(
            1,
            "the crate has no description".to_owned(),
            remedy.to_owned(),
        ));
    }
    if !manifest.inherits_lints {
        let message = "the crate does not inherit the workspace's lints".to_owned();
        found.push(violation(
            1,
            message,
            "add `[lints]` with `workspace = true`".to_owned(),
        ));
    }
    for entry in manifest
        .dependencies
        .iter()
        .filter(|entry| !entry.inherits_version)
    {
        let key = &entry.key;
        found.push(violation(
            entry.line,
            format!("`{key}` names its version here"),
            format!("move it to [workspace.dependencies] of the root and write `{key}.workspace = true`"),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let manifest = Manifest::parse("crates/x/Cargo.toml", text).unwrap();
        check_manifest(&manifest)
            .into_iter()
            .map(|violation| violation.line)
            .collect()
    }

    #[test]
    fn a_complete_manifest_passes() {
        let text = "[package]\ndescription = \"x\"\n[lints]\nworkspace = true\n[dependencies]\nserde.workspace = true\n";
        assert!(lines(text).is_empty());
    }

    #[test]
    fn each_fault_is_listed() {
        let text = "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\ny = { path = \"../y\" }\n";
        assert_eq!(lines(text), [1, 1, 4, 5]);
    }
}
