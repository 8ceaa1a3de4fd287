use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::workspace::Workspace;

/// What cargo says of the workspace's own packages. Paths are relative to the workspace root, with `/`.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// The key in the manifest, where it is not the package's name.
    pub(crate) rename: Option<String>,
    pub(crate) optional: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: String,
}

impl Metadata {
    pub(crate) fn load(workspace: &Workspace) -> Result<Self, Error> {
        let text = workspace.cargo_output(&["metadata", "--no-deps", "--format-version", "1"])?;
        let mut metadata: Self = serde_json::from_str(&text).map_err(|source| Error::Json {
            command: "cargo metadata".to_owned(),
            source,
        })?;
        for package in &mut metadata.packages {
            make_relative(&mut package.manifest_path, workspace.root());
            for target in &mut package.targets {
                make_relative(&mut target.src_path, workspace.root());
            }
        }
        Ok(metadata)
    }
}

/// Cargo names files from the root of the machine; the tasks name them from the root of the workspace.
fn make_relative(path: &mut String, root: &Path) {
    if let Ok(relative) = Path::new(path.as_str()).strip_prefix(root) {
        *path = relative.to_string_lossy().replace('\\', "/");
    }
}

impl Package {
    /// Whether other crates, and so documentation tests, can use it.
    pub(crate) fn has_library(&self) -> bool {
        const LIBRARY_KINDS: [&str; 3] = ["lib", "rlib", "proc-macro"];
        self.targets
            .iter()
            .flat_map(|target| &target.kind)
            .any(|kind| LIBRARY_KINDS.contains(&kind.as_str()))
    }
}

impl Dependency {
    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }

    /// The key under which the manifest names it.
    pub(crate) fn key(&self) -> &str {
        self.rename.as_deref().unwrap_or(&self.name)
    }
}
