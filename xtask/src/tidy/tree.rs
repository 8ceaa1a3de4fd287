use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::feature_graph::PURE_CRATES;
use super::manifest::Manifest;
use super::mutants::Listed;
use crate::error::Error;
use crate::metadata::{Metadata, Package};
use crate::mutants;
use crate::source_tree::{self, SourceFile};
use crate::workspace::Workspace;

/// Where the behaviours are listed.
pub(crate) const BEHAVIOURS: &str = "docs/behaviours.md";

/// Where the promises are listed.
pub(crate) const GUARANTEES: &str = "docs/guarantees.md";

/// What makes documentation tests of the book's pages.
pub(crate) const BOOK_TESTS: &str = "examples/tickets/src/book.rs";

/// All that the rules look at. The rules themselves read nothing, so each can be tried on a made-up tree.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) sources: Vec<SourceFile>,
    /// The text of [`BEHAVIOURS`].
    pub(crate) behaviours: String,
    /// The text of [`GUARANTEES`].
    pub(crate) guarantees: String,
    pub(crate) mutants: Vec<Listed>,
    /// The pages of the book and of the root, by path.
    pub(crate) pages: BTreeMap<String, String>,
    /// Every file and directory, for links to lead to.
    pub(crate) files: BTreeSet<String>,
    /// The text of [`BOOK_TESTS`].
    pub(crate) book_tests: String,
    pub(crate) root_manifest: Manifest,
    pub(crate) members: Vec<Member>,
    /// For each pure crate, the packages that a user of it alone compiles in.
    pub(crate) resolved: BTreeMap<&'static str, Vec<String>>,
}

/// A package of the workspace.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) package: Package,
    pub(crate) manifest: Manifest,
}

impl Tree {
    pub(crate) fn load(workspace: &Workspace) -> Result<Self, Error> {
        let root = workspace.root();
        let mut members = Vec::new();
        for package in Metadata::load(workspace)?.packages {
            let manifest = load_manifest(root, &package.manifest_path)?;
            members.push(Member { package, manifest });
        }
        let mut resolved = BTreeMap::new();
        for name in PURE_CRATES {
            let args = [
                "tree",
                "--package",
                name,
                "--edges",
                "normal,no-proc-macro",
                "--prefix",
                "none",
            ];
            resolved.insert(name, names_in_cargo_tree(&workspace.cargo_output(&args)?));
        }
        let files = source_tree::paths(root)?;
        let mut pages = BTreeMap::new();
        for path in files.iter().filter(|path| is_page(path)) {
            pages.insert(path.clone(), load_text(root, path)?);
        }
        Ok(Self {
            pages,
            files,
            book_tests: load_text(root, BOOK_TESTS)?,
            sources: source_tree::load(root)?,
            behaviours: load_text(root, BEHAVIOURS)?,
            guarantees: load_text(root, GUARANTEES)?,
            mutants: load_mutants(root)?,
            root_manifest: load_manifest(root, "Cargo.toml")?,
            members,
            resolved,
        })
    }
}

/// A page of the book, or one that stands beside it at the root.
fn is_page(path: &str) -> bool {
    let is_markdown = Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "md");
    is_markdown && (path.starts_with("docs/") || !path.contains('/'))
}

fn load_text(root: &Path, relative: &str) -> Result<String, Error> {
    let path = root.join(relative);
    fs::read_to_string(&path).map_err(Error::file(&path))
}

fn load_mutants(root: &Path) -> Result<Vec<Listed>, Error> {
    let mutants = mutants::load(root)?.into_iter();
    Ok(mutants
        .map(|mutant| Listed {
            text: load_text(root, &mutant.file).ok(),
            mutant,
        })
        .collect())
}

fn load_manifest(root: &Path, relative: &str) -> Result<Manifest, Error> {
    let text = load_text(root, relative)?;
    Manifest::parse(relative, &text).map_err(|source| Error::Manifest {
        path: root.join(relative),
        source: Box::new(source),
    })
}

/// Each line begins with a package's name; repeated ones end in `(*)`.
fn names_in_cargo_tree(text: &str) -> Vec<String> {
    let mut names: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_are_read_from_cargo_tree() {
        let text =
            "foldwright-ports v0.1.0 (/x/crates/ports)\nbytes v1.10.1\nserde v1.0.0\nbytes v1.10.1 (*)\n";
        assert_eq!(names_in_cargo_tree(text), ["bytes", "foldwright-ports", "serde"]);
    }
}
