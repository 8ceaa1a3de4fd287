//! Made-up trees for the rules' own tests.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::Manifest;
use super::tree::{Member, Tree};
use super::violation::Violation;
use crate::metadata::{Dependency, Package, Target};
use crate::source_tree::SourceFile;

pub(crate) const ROOT_MANIFEST: &str = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";

/// A tree of Rust files alone.
pub(crate) fn sources<const N: usize>(files: [(&str, &str); N]) -> Tree {
    Tree {
        sources: files.map(|(path, text)| SourceFile::new(path, text)).into(),
        behaviours: String::new(),
        guarantees: String::new(),
        mutants: Vec::new(),
        pages: BTreeMap::new(),
        files: BTreeSet::new(),
        book_tests: String::new(),
        root_manifest: Manifest::parse("Cargo.toml", ROOT_MANIFEST).unwrap(),
        members: Vec::new(),
        resolved: BTreeMap::new(),
    }
}

/// A tree of packages alone.
pub(crate) fn members(members: Vec<Member>) -> Tree {
    Tree {
        members,
        ..sources([])
    }
}

/// A package in `directory` with these dependencies: name and kind.
pub(crate) fn member(name: &str, directory: &str, dependencies: &[(&str, Option<&str>)]) -> Member {
    let mut text = format!("[package]\nname = \"{name}\"\ndescription = \"x\"\n[lints]\nworkspace = true\n");
    for (key, kind) in dependencies {
        let section = kind.map_or_else(
            || "dependencies".to_owned(),
            |kind| format!("{kind}-dependencies"),
        );
        text.push_str(&format!("[{section}.{key}]\nworkspace = true\n"));
    }
    let dependencies = dependencies.iter().map(|(name, kind)| Dependency {
        name: (*name).to_owned(),
        kind: kind.map(str::to_owned),
        rename: None,
        optional: false,
    });
    let manifest_path = format!("{directory}/Cargo.toml");
    Member {
        package: Package {
            name: name.to_owned(),
            manifest_path: manifest_path.clone(),
            dependencies: dependencies.collect(),
            targets: vec![Target {
                kind: vec!["lib".to_owned()],
                src_path: format!("{directory}/src/lib.rs"),
            }],
        },
        manifest: Manifest::parse(manifest_path, &text).unwrap(),
    }
}

/// Where the violations are.
pub(crate) fn places(violations: &[Violation]) -> Vec<String> {
    violations
        .iter()
        .map(|violation| format!("{}:{}", violation.path, violation.line))
        .collect()
}
