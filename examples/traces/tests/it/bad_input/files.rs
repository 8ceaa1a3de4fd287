//! What `traces ingest` does with input that is wrong in part, and with files that do not fit.
use crate::{command::Traces, http::json_request};
use std::{fs, path::PathBuf};

fn file(traces: &Traces, name: &str, lines: &[&str]) -> PathBuf {
    let path = traces.path(name);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

/// What it wrote to standard output and standard error, and whether it succeeded.
fn ingest(traces: &Traces, args: &[&str]) -> (String, String, bool) {
    let output = traces.run(&[&["ingest"], args].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.success())
}

/// A span from the far future is refused and named, everything else is stored, and the status says so.
#[test]
fn a_span_from_the_far_future_stops_nothing_else() {
    let traces = Traces::new();
    let good = |id| String::from_utf8(json_request(1, id)).unwrap().replace('\n', " ");
    let far = good(2).replace("\"1764500000000000000\"", "\"4000000000000000000\"");
    let path = file(&traces, "spans", &[&good(1), &far, &good(3)]);
    let (said, complained, succeeded) = ingest(&traces, &[path.to_str().unwrap()]);
    assert!(!succeeded);
    assert!(said.contains("3 spans of 3 requests"), "{said}");
    for named in [
        format!("trace {:032x} span {:016x}: ", 1, 2),
        "at most 24 h are accepted".to_owned(),
        "1 of 3 spans were refused, all others are stored".to_owned(),
    ] {
        assert!(complained.contains(&named), "{named}: {complained}");
    }
    assert!(traces.show_json().contains("\"span_count\":2"));
}

/// A file of JSON that says nothing of traces is no empty file: its line is named.
#[test]
fn json_that_is_no_request_is_named() {
    let traces = Traces::new();
    for (lines, says) in [
        (
            &[r#"{"level":"info"}"#][..],
            "line 1 is JSON, but no OTLP trace request",
        ),
        (&["", r#"{"resourceLogs":[]}"#], "line 2"),
        (&[r#"{"resourceSpans":[]}"#, "{}", r#"{"spans":[]}"#], "line 3"),
    ] {
        let path = file(&traces, "other", lines);
        let (_, complained, succeeded) = ingest(&traces, &[path.to_str().unwrap()]);
        assert!(!succeeded && complained.contains(says), "{lines:?}: {complained}");
    }
}

/// Files that do not belong together are found before anything is stored.
#[test]
fn files_that_do_not_fit_are_found_first() {
    let traces = Traces::new();
    let spans = String::from_utf8(json_request(1, 1)).unwrap().replace('\n', " ");
    let requests = file(&traces, "spans", &[&spans, &spans]);
    let one = r#"{"tenant":"a"}"#;
    for (lines, says) in [
        (&[one][..], "has 1 lines, but the input has more"),
        (&[one, one, one], "has 3 lines, but the input has only 2"),
        (&[one, r#"{"tenant":"a/b"}"#], "line 2 of the requests file"),
        (&[one, "{}"], "line 2 of the requests file names no tenant"),
    ] {
        let tenants = file(&traces, "tenants", lines);
        let args = [
            requests.to_str().unwrap(),
            "--requests",
            tenants.to_str().unwrap(),
        ];
        let (_, complained, succeeded) = ingest(&traces, &args);
        assert!(!succeeded && complained.contains(says), "{lines:?}: {complained}");
        assert!(!traces.path("traces.db").exists(), "nothing was begun");
    }
}

/// A store that cannot be used says what to do.
#[test]
fn a_store_that_cannot_be_used_says_what_to_do() {
    let traces = Traces::new();
    let spans = String::from_utf8(json_request(1, 1)).unwrap().replace('\n', " ");
    let requests = file(&traces, "spans", &[&spans]);
    fs::write(
        traces.path("traces.db"),
        "this is a letter, not a database. ".repeat(100),
    )
    .unwrap();
    let (_, complained, succeeded) = ingest(&traces, &[requests.to_str().unwrap()]);
    assert!(
        !succeeded && complained.contains("name another with --store"),
        "{complained}"
    );
    let nowhere = traces.path("no/such/directory/traces.db");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_traces"))
        .args([
            "ingest",
            requests.to_str().unwrap(),
            "--store",
            nowhere.to_str().unwrap(),
        ])
        .output()
        .unwrap();
    let complained = String::from_utf8(output.stderr).unwrap();
    assert!(
        complained.contains("see that its directory exists"),
        "{complained}"
    );
}
