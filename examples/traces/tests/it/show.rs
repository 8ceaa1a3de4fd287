//! What the `traces` command says to people, and when something is wrong.
use crate::command::{Traces, printed};
use std::{path::Path, process::Output};

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name)
        .to_str()
        .unwrap()
        .to_owned()
}

fn failed(output: &Output) -> String {
    assert!(
        !output.status.success(),
        "it succeeded: {}",
        String::from_utf8_lossy(&output.stdout)
    );
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn with_sample() -> Traces {
    let traces = Traces::new();
    let requests = sample("sample.requests.jsonl");
    printed(&traces.run(&["ingest", &sample("sample.otlp.jsonl.gz"), "--requests", &requests]));
    traces
}

/// T-05: a tenant's table holds its own traces alone; the whole table holds all of them.
#[test]
fn a_tenant_sees_its_own_traces() {
    let traces = with_sample();
    let all = printed(&traces.run(&["show", "--json"]));
    let mut by_tenant = String::new();
    for tenant in ["tenant-a", "tenant-b", "tenant-c", "tenant-d"] {
        let own = printed(&traces.run(&["show", "--json", "--tenant", tenant]));
        assert!(
            own.lines()
                .all(|line| line.contains(&format!("\"tenant\":\"{tenant}\"")))
        );
        by_tenant.push_str(&own);
    }
    assert_eq!(by_tenant, all);
    let table = printed(&traces.run(&["show"]));
    assert_eq!(table.lines().count(), all.lines().count() + 1);
}

/// M-01: one trace as a tree shows every span once, children below their parents.
#[test]
fn one_trace_is_a_tree() {
    let traces = with_sample();
    let all = printed(&traces.run(&["show", "--json"]));
    let widest = all
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .max_by_key(|trace| trace["span_count"].as_u64())
        .unwrap();
    let id = widest["trace_id"].as_str().unwrap();
    let tree = printed(&traces.run(&["show", "--trace", id]));
    let spans = widest["span_count"].as_u64().unwrap() as usize;
    assert_eq!(tree.lines().count(), spans + 1, "{tree}");
    if let Some(root) = widest["root_name"].as_str() {
        assert!(
            tree.lines().any(|line| line.contains(&format!(" · {root}"))),
            "{tree}"
        );
    }
    let json = printed(&traces.run(&["show", "--json", "--trace", id]));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(json.trim()).unwrap(),
        widest
    );
}

/// K-18: what is not there is said to be not there.
#[test]
fn unknown_things_are_not_found() {
    let traces = Traces::new();
    assert!(failed(&traces.run(&["show"])).contains("there is no store at"));
    let traces = with_sample();
    assert!(failed(&traces.run(&["show", "--trace", "ff"])).contains("trace ff not found"));
    assert!(failed(&traces.run(&["show", "--tenant", "nobody"])).contains("tenant nobody not found"));
}

/// T-01, C-17: bad input is named, and nothing of it is stored.
#[test]
fn bad_input_is_named() {
    let traces = Traces::new();
    let file = sample("sample.otlp.jsonl.gz");
    assert!(failed(&traces.run(&["ingest", &file, "--tenant", "a/b"])).contains("tenant id"));
    assert!(failed(&traces.run(&["ingest", "no-such-file"])).contains("no-such-file"));
    assert!(
        !traces.path("traces.db").exists(),
        "no store is made for input that is not there"
    );
    let garbage = traces.path("garbage");
    std::fs::write(&garbage, b"{\"resourceSpans\": 7}\n").unwrap();
    assert!(failed(&traces.run(&["ingest", garbage.to_str().unwrap()])).contains("request 0"));
    let short = traces.path("short.requests.jsonl");
    std::fs::write(&short, "{\"tenant\":\"tenant-a\"}\n").unwrap();
    let said = failed(&traces.run(&["ingest", &file, "--requests", short.to_str().unwrap()]));
    assert!(said.contains("1 line"), "{said}");
}

/// Without a file of tenants all spans belong to the tenant `default`, or to the one that is named.
#[test]
fn one_tenant_takes_all() {
    for (args, tenant) in [(&[][..], "default"), (&["--tenant", "acme"][..], "acme")] {
        let traces = Traces::new();
        let file = sample("sample.otlp.jsonl.gz");
        let said = printed(&traces.run(&[&["ingest", file.as_str()], args].concat()));
        assert_eq!(
            said.lines().filter(|line| line.starts_with(tenant)).count(),
            1,
            "{said}"
        );
        assert_eq!(said.lines().count(), 3, "{said}");
    }
}

/// What the repository's first page shows is what the command prints, but for the time it took.
#[test]
fn the_first_page_shows_what_is_printed() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let traces = Traces::new();
    let requests = sample("sample.requests.jsonl");
    let args = ["ingest", &sample("sample.otlp.jsonl.gz"), "--requests", &requests];
    let said = printed(&traces.run(&args));
    let (table, _rate) = said.split_once("1566 spans of 24 requests in ").unwrap();
    assert!(page.contains(table), "{table}");
}

/// Each command of the repository's first page is one that the program takes: it reads all words before `--help`.
#[test]
fn the_first_page_names_commands_and_flags_that_exist() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let lines = page
        .lines()
        .filter_map(|line| line.split_once("--bin traces -- "));
    let mut tried = 0;
    for (_, words) in lines {
        let asked: Vec<_> = words.split_whitespace().chain(["--help"]).collect();
        let said = printed(&Traces::new().run(&asked));
        assert!(said.contains("Usage: traces "), "{words}: {said}");
        tried += 1;
    }
    assert!(tried >= 4, "only {tried} commands were tried");
}
