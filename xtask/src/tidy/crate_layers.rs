use super::tree::{Member, Tree};
use super::violation::Violation;
use crate::metadata::Dependency;

const RULE: &str = "crate-layers";

const ADAPTER: &str = "foldwright-adapter-";
const CONFORMANCE: &str = "foldwright-conformance";
const DOMAIN: &str = "foldwright-domain";
const FACADE: &str = "foldwright";
const MACROS: &str = "foldwright-macros";
const MEMORY: &str = "foldwright-adapter-memory";
const PORTS: &str = "foldwright-ports";
const RUNTIME: &str = "foldwright-runtime";
const TELEMETRY: &str = "foldwright-telemetry";
const TESTING: &str = "foldwright-testing";

/// What of other people's the domain may use, and why it stays pure with it.
const DOMAIN_MAY_USE: [(&str, &str); 6] = [
    ("bytes", "shared byte strings, no more"),
    ("serde", "describes data, reads and writes nothing"),
    ("serde_json", "a codec over values in memory"),
    ("sha2", "a pure function from bytes to a digest"),
    ("thiserror", "derives of error types"),
    (
        "uuid",
        "the type alone: no feature that draws at random or reads a clock",
    ),
];

/// What of the workspace a crate of the library may name.
struct Layer {
    normal: &'static [&'static str],
    /// On top of `normal`, in tests.
    dev: &'static [&'static str],
}

fn layer_of(name: &str) -> Option<Layer> {
    let layer = |normal, dev| Some(Layer { normal, dev });
    match name {
        DOMAIN => layer(&[], &[]),
        // The derives' tests compile code that uses what the derives describe.
        MACROS => layer(&[], &[DOMAIN]),
        PORTS => layer(&[DOMAIN], &[]),
        // The suites are themselves tried on the adapter that every other one is measured by.
        CONFORMANCE => layer(&[DOMAIN, PORTS], &[MEMORY]),
        // A test is a composition root, and the memory adapter is the one for tests.
        RUNTIME => layer(&[DOMAIN, PORTS, MACROS], &[MEMORY, CONFORMANCE]),
        TELEMETRY => layer(&[RUNTIME], &[]),
        // Equipment for tests: what it composes is a kernel in memory, and no user's service depends on it.
        TESTING => layer(&[DOMAIN, PORTS, RUNTIME, MEMORY], &[MACROS]),
        _ if name.starts_with(ADAPTER) => layer(&[DOMAIN, PORTS], &[CONFORMANCE]),
        _ => None,
    }
}

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let own: Vec<_> = tree
        .members
        .iter()
        .map(|member| member.package.name.as_str())
        .collect();
    tree.members
        .iter()
        .flat_map(|member| check_member(member, &own))
        .collect()
}

fn check_member(member: &Member, own: &[&str]) -> Vec<Violation> {
    let name = member.package.name.as_str();
    let mut found = Vec::new();
    for dependency in &member.package.dependencies {
        let fault = if own.contains(&dependency.name.as_str()) {
            own_fault(member, dependency)
        } else {
            foreign_fault(name, dependency)
        };
        found.extend(fault.map(|remedy| Violation {
            path: member.manifest.path.clone(),
            line: member.manifest.line_of(dependency.key()),
            rule: RULE,
            message: format!("{name} must not depend on `{}`", dependency.name),
            remedy,
        }));
    }
    found
}

/// What to do about a dependency on a crate of the workspace, where the rule forbids it.
fn own_fault(member: &Member, dependency: &Dependency) -> Option<String> {
    let is_adapter = dependency.name.starts_with(ADAPTER);
    let Some(layer) = layer_of(&member.package.name) else {
        return if member.package.name == FACADE {
            (is_adapter && !dependency.is_dev() && !dependency.optional)
                .then(|| "make it optional, behind a feature that the user picks".to_owned())
        } else {
            // Outside `crates/` are examples, tests and tools: composition roots, which may know every adapter.
            (is_adapter && !dependency.is_dev() && member.manifest.path.starts_with("crates/"))
                .then(|| "take the port as an argument: only a composition root knows adapters".to_owned())
        };
    };
    let name = dependency.name.as_str();
    let allowed = layer.normal.contains(&name) || (dependency.is_dev() && layer.dev.contains(&name));
    (!allowed).then(|| {
        let kind = if dependency.is_dev() { "in tests also " } else { "" };
        let more: &[&str] = if dependency.is_dev() { layer.dev } else { &[] };
        let names: Vec<_> = layer.normal.iter().chain(more).copied().collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        format!("move the code that needs it; of the workspace it may {kind}name: {names}")
    })
}

/// What to do about a dependency on other people's code, where the rule forbids it.
fn foreign_fault(name: &str, dependency: &Dependency) -> Option<String> {
    let allowed = dependency.is_dev()
        || name != DOMAIN
        || DOMAIN_MAY_USE
            .iter()
            .any(|(allowed, _)| *allowed == dependency.name);
    (!allowed).then(|| {
        "move the code that needs it out of the domain; a crate that is as pure joins DOMAIN_MAY_USE in \
         xtask/src/tidy/crate_layers.rs with its reason"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{member, members};
    use super::*;

    /// The dependencies that are refused, of a crate beside all others.
    fn refused(name: &str, directory: &str, dependencies: &[(&str, Option<&str>)]) -> Vec<String> {
        let mut all: Vec<_> = [
            DOMAIN,
            MACROS,
            PORTS,
            CONFORMANCE,
            RUNTIME,
            FACADE,
            MEMORY,
            TESTING,
            "foldwright-adapter-sqlite",
        ]
        .into_iter()
        .filter(|other| *other != name)
        .map(|other| member(other, "crates/other", &[]))
        .collect();
        all.push(member(name, directory, dependencies));
        let found = check(&members(all));
        found
            .into_iter()
            .map(|violation| violation.message.split('`').nth(1).unwrap_or_default().to_owned())
            .collect()
    }

    const SQLITE: &str = "foldwright-adapter-sqlite";

    #[test]
    fn the_domain_stays_pure() {
        let dependencies = [
            ("serde", None),
            ("tokio", None),
            ("rand", Some("build")),
            ("proptest", Some("dev")),
            (PORTS, None),
        ];
        assert_eq!(
            refused(DOMAIN, "crates/domain", &dependencies),
            ["tokio", "rand", PORTS]
        );
    }

    #[test]
    fn ports_and_conformance_know_what_is_below_them() {
        assert_eq!(
            refused(
                PORTS,
                "crates/ports",
                &[(DOMAIN, None), (RUNTIME, None), (MEMORY, Some("dev"))]
            ),
            [RUNTIME, MEMORY]
        );
        let dependencies = [
            (DOMAIN, None),
            (PORTS, None),
            (MEMORY, None),
            (MEMORY, Some("dev")),
            (RUNTIME, None),
        ];
        assert_eq!(
            refused(CONFORMANCE, "crates/conformance", &dependencies),
            [MEMORY, RUNTIME]
        );
    }

    #[test]
    fn macros_know_nobody() {
        assert_eq!(
            refused(
                MACROS,
                "crates/macros",
                &[("syn", None), (DOMAIN, None), (DOMAIN, Some("dev"))]
            ),
            [DOMAIN]
        );
    }

    #[test]
    fn an_adapter_knows_no_adapter_and_no_runtime() {
        let dependencies = [
            (DOMAIN, None),
            (PORTS, None),
            ("rusqlite", None),
            (MEMORY, Some("dev")),
            (RUNTIME, None),
            (CONFORMANCE, Some("dev")),
            (CONFORMANCE, None),
        ];
        assert_eq!(
            refused(SQLITE, "crates/adapter-sqlite", &dependencies),
            [MEMORY, RUNTIME, CONFORMANCE]
        );
    }

    #[test]
    fn the_runtime_knows_an_adapter_in_tests_alone() {
        let dependencies = [
            (PORTS, None),
            (MACROS, None),
            (MEMORY, Some("dev")),
            (SQLITE, Some("dev")),
            (MEMORY, None),
        ];
        assert_eq!(
            refused(RUNTIME, "crates/runtime", &dependencies),
            [SQLITE, MEMORY]
        );
    }

    #[test]
    fn the_testing_kit_knows_the_adapter_for_tests_alone() {
        let dependencies = [
            (DOMAIN, None),
            (PORTS, None),
            (RUNTIME, None),
            (MEMORY, None),
            (MACROS, Some("dev")),
            (MACROS, None),
            (SQLITE, None),
            (FACADE, None),
        ];
        assert_eq!(
            refused(TESTING, "crates/testing", &dependencies),
            [MACROS, SQLITE, FACADE]
        );
        assert_eq!(
            refused(RUNTIME, "crates/runtime", &[(TESTING, Some("dev"))]),
            [TESTING]
        );
    }

    #[test]
    fn only_composition_roots_name_adapters() {
        assert_eq!(
            refused("foldwright-traces", "examples/traces", &[(SQLITE, None)]),
            Vec::<String>::new()
        );
        assert_eq!(
            refused("foldwright-tests", "tests", &[(SQLITE, None)]),
            Vec::<String>::new()
        );
        assert_eq!(
            refused("foldwright-cli", "crates/cli", &[(SQLITE, None), (RUNTIME, None)]),
            [SQLITE]
        );
    }

    #[test]
    fn the_facade_names_adapters_behind_features() {
        assert_eq!(
            refused(FACADE, "crates/foldwright", &[(SQLITE, None), (RUNTIME, None)]),
            [SQLITE]
        );
        let mut facade = member(FACADE, "crates/foldwright", &[(SQLITE, None)]);
        facade.package.dependencies[0].optional = true;
        assert_eq!(
            check(&members(vec![
                facade,
                member(SQLITE, "crates/adapter-sqlite", &[])
            ])),
            []
        );
    }
}
