use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::rust_source::{self, Line};

/// A Rust file of the checkout.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the workspace root, with `/` on every platform.
    pub(crate) path: String,
    pub(crate) lines: Vec<Line>,
}

impl SourceFile {
    pub(crate) fn new(path: impl Into<String>, text: &str) -> Self {
        Self {
            path: path.into(),
            lines: rust_source::split(text),
        }
    }

    /// The lines with their numbers, which start at 1.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines
            .iter()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

/// Every `.rs` file under `root`, by path. Build output and hidden directories are no part of the sources.
pub(crate) fn load(root: &Path) -> Result<Vec<SourceFile>, Error> {
    let paths = paths(root)?;
    let rust = paths.iter().filter(|path| {
        let extension = Path::new(path).extension();
        extension.is_some_and(|extension| extension == "rs") && root.join(path).is_file()
    });
    rust.map(|relative| {
        let path = root.join(relative);
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        Ok(SourceFile::new(relative, &text))
    })
    .collect()
}

/// Every file and directory under `root`, relative to it. Build output and hidden directories are left out.
pub(crate) fn paths(root: &Path) -> Result<BTreeSet<String>, Error> {
    let mut paths = BTreeSet::new();
    visit(root, "", &mut paths)?;
    Ok(paths)
}

fn visit(directory: &Path, prefix: &str, paths: &mut BTreeSet<String>) -> Result<(), Error> {
    for entry in fs::read_dir(directory).map_err(Error::file(directory))? {
        let entry = entry.map_err(Error::file(directory))?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let relative = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(Error::file(&path))?;
        if kind.is_dir() {
            if name != "target" && !name.starts_with('.') {
                visit(&path, &format!("{relative}/"), paths)?;
                paths.insert(relative);
            }
        } else if kind.is_file() {
            paths.insert(relative);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_output_and_hidden_directories_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "b/src/lib.rs",
            "a/src/lib.rs",
            "target/debug/x.rs",
            ".git/y.rs",
            "a/README.md",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "fn f() {}\n").unwrap();
        }
        let paths: Vec<_> = load(root.path())
            .unwrap()
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(paths, ["a/src/lib.rs", "b/src/lib.rs"]);
    }
}
