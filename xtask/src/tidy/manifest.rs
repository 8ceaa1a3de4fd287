use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// What tidy has to know of a `Cargo.toml`.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// Relative to the workspace root.
    pub(crate) path: String,
    pub(crate) has_description: bool,
    pub(crate) inherits_lints: bool,
    /// Of `[workspace.lints.rust]`, so only a workspace root can say yes.
    pub(crate) forbids_unsafe_everywhere: bool,
    pub(crate) dependencies: Vec<Entry>,
}

/// A dependency as it is written down.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) inherits_version: bool,
}

const SECTIONS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

impl Manifest {
    pub(crate) fn parse(path: impl Into<String>, text: &str) -> Result<Self, Error> {
        let parsed = DeTable::parse(text)?;
        let root = parsed.get_ref();
        let mut dependencies = Vec::new();
        let targets = child(root, "target")
            .into_iter()
            .flat_map(|targets| targets.values());
        let tables = std::iter::once(root).chain(targets.filter_map(|target| target.get_ref().as_table()));
        for section in tables.flat_map(|table| SECTIONS.iter().filter_map(|name| child(table, name))) {
            dependencies.extend(section.iter().map(|(key, value)| {
                Entry {
                    key: key.get_ref().to_string(),
                    line: line_at(text, key.span().start),
                    inherits_version: value
                        .get_ref()
                        .as_table()
                        .is_some_and(|spec| is_true(spec, "workspace")),
                }
            }));
        }
        dependencies.sort_by_key(|entry| entry.line);
        Ok(Self {
            path: path.into(),
            has_description: child(root, "package")
                .is_some_and(|package| text_of(package, "description").is_some()),
            inherits_lints: child(root, "lints").is_some_and(|lints| is_true(lints, "workspace")),
            forbids_unsafe_everywhere: child(root, "workspace")
                .and_then(|workspace| child(workspace, "lints"))
                .and_then(|lints| child(lints, "rust"))
                .is_some_and(|rust| text_of(rust, "unsafe_code") == Some("forbid")),
            dependencies,
        })
    }

    /// The line that names a dependency, or the first one when the manifest does not.
    pub(crate) fn line_of(&self, key: &str) -> usize {
        self.dependencies
            .iter()
            .find(|entry| entry.key == key)
            .map_or(1, |entry| entry.line)
    }
}

fn lookup<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeValue<'i>> {
    table.get(key).map(Spanned::get_ref)
}

fn child<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    lookup(table, key)?.as_table()
}

fn text_of<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    lookup(table, key)?
        .as_str()
        .filter(|text| !text.trim().is_empty())
}

fn is_true(table: &DeTable<'_>, key: &str) -> bool {
    lookup(table, key).and_then(DeValue::as_bool) == Some(true)
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_found_in_every_section_and_form() {
        let text = r#"[package]
name = "x"

[dependencies]
a.workspace = true
b = "1"

[dev-dependencies]
c = { workspace = true, features = ["f"] }

[target.'cfg(unix)'.dependencies]
d = { version = "1", path = "../d" }

[build-dependencies.e]
git = "https://example.org/e"
"#;
        let manifest = Manifest::parse("x/Cargo.toml", text).unwrap();
        let entries: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|entry| (entry.key.as_str(), entry.line, entry.inherits_version))
            .collect();
        assert_eq!(
            entries,
            [
                ("a", 5, true),
                ("b", 6, false),
                ("c", 9, true),
                ("d", 12, false),
                ("e", 14, false)
            ]
        );
        assert_eq!(manifest.line_of("c"), 9);
        assert_eq!(manifest.line_of("absent"), 1);
    }

    #[test]
    fn package_facts_are_read() {
        let full = "[package]\nname = \"x\"\ndescription = \"What it is.\"\n[lints]\nworkspace = true\n";
        let manifest = Manifest::parse("x/Cargo.toml", full).unwrap();
        assert!(manifest.has_description && manifest.inherits_lints && !manifest.forbids_unsafe_everywhere);

        let bare = "[package]\nname = \"x\"\ndescription = \" \"\n[lints.rust]\nunsafe_code = \"forbid\"\n";
        let manifest = Manifest::parse("x/Cargo.toml", bare).unwrap();
        assert!(!manifest.has_description && !manifest.inherits_lints && !manifest.forbids_unsafe_everywhere);
    }

    #[test]
    fn the_workspace_may_forbid_unsafe_code() {
        let root = "[workspace]\nmembers = []\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
        assert!(
            Manifest::parse("Cargo.toml", root)
                .unwrap()
                .forbids_unsafe_everywhere
        );
        let weaker = "[workspace.lints.rust]\nunsafe_code = \"warn\"\n";
        assert!(
            !Manifest::parse("Cargo.toml", weaker)
                .unwrap()
                .forbids_unsafe_everywhere
        );
    }

    #[test]
    fn a_broken_manifest_is_an_error() {
        assert!(Manifest::parse("Cargo.toml", "[package").is_err());
    }
}
