use super::tree::Tree;
use super::violation::Violation;

const RULE: &str = "feature-graph";

/// The crates that everything else may depend on, and that must stay light for it.
pub(crate) const PURE_CRATES: [&str; 2] = ["foldwright-domain", "foldwright-ports"];

/// Runtimes, drivers, clients, and sources of time and randomness. A name that ends in `*` stands for all that
/// begin so.
const HEAVY: [&str; 28] = [
    "async-std",
    "aws-*",
    "chrono",
    "clickhouse*",
    "deadpool*",
    "diesel*",
    "fastrand",
    "fred",
    "futures-executor",
    "getrandom",
    "hyper*",
    "libsqlite3-sys",
    "mio",
    "native-tls",
    "object_store",
    "openssl*",
    "postgres*",
    "rand",
    "rand_*",
    "redis",
    "reqwest",
    "rusqlite",
    "rustls*",
    "smol",
    "socket2",
    "sqlx*",
    "time",
    "tokio*",
];

/// What cargo resolves for a pure crate alone, with the features that the workspace asks for, stays free of them.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, resolved) in &tree.resolved {
        let manifest = tree.members.iter().find(|member| member.package.name == *name);
        let path = manifest.map_or_else(|| "Cargo.toml".to_owned(), |member| member.manifest.path.clone());
        found.extend(resolved.iter().filter(|package| is_heavy(package)).map(|heavy| Violation {
            path: path.clone(),
            line: 1,
            rule: RULE,
            message: format!("{name} pulls in `{heavy}`"),
            remedy: format!(
                "find the way it comes in with `cargo tree -p {name} -e features -i {heavy}`, and drop that dependency \
                 or the feature that the workspace asks of it"
            ),
        }));
    }
    found
}

fn is_heavy(package: &str) -> bool {
    HEAVY.iter().any(|heavy| match heavy.strip_suffix('*') {
        Some(prefix) => package.starts_with(prefix),
        None => package == *heavy,
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{member, members, places};
    use super::*;

    #[test]
    fn heavy_packages_are_found_however_they_come_in() {
        let mut tree = members(vec![member("foldwright-ports", "crates/ports", &[])]);
        let resolved = ["bytes", "getrandom", "serde", "tokio-util", "operand"].map(str::to_owned);
        tree.resolved.insert("foldwright-ports", resolved.into());
        let found = check(&tree);
        assert_eq!(
            places(&found),
            ["crates/ports/Cargo.toml:1", "crates/ports/Cargo.toml:1"]
        );
        assert!(found[0].message.contains("`getrandom`") && found[1].message.contains("`tokio-util`"));
    }

    #[test]
    fn a_light_graph_passes() {
        let mut tree = members(Vec::new());
        tree.resolved.insert(
            "foldwright-domain",
            ["bytes", "serde", "timely"].map(str::to_owned).into(),
        );
        assert_eq!(check(&tree), []);
    }
}
