//! The read API of `traces serve`, and its probes.
use crate::{
    command::{Traces, corpus, expected_summaries},
    http::{Client, JSON, get, get_as, of_tenant, post},
    server::Process,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A server over the whole corpus.
fn with_corpus() -> (Traces, Process) {
    let traces = Traces::new();
    traces.ingest(&corpus("traces.otlp.pb.gz"), &corpus("requests.jsonl"));
    let server = Process::start(&traces, None, &[]);
    (traces, server)
}

/// All pages of a list.
fn all(server: &Process, path: &str, list: &str, limit: usize) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(server.address, &format!("{path}?limit={limit}{cursor}")).json();
        let page_items = page[list].as_array().unwrap();
        assert!(page_items.len() <= limit);
        items.extend_from_slice(page_items);
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return items,
        }
    }
}

/// G3, T-05: lists, single traces and usage are the right answers, page by page, each tenant apart.
#[test]
fn what_is_read_is_exact() {
    let (_traces, server) = with_corpus();
    let expected: Vec<Value> = expected_summaries()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let totals: Value = serde_json::from_slice(&std::fs::read(corpus("expected.json")).unwrap()).unwrap();
    let tenants = get(server.address, "/api/tenants").json();
    let (mut read, mut by_service) = (Vec::new(), BTreeMap::<String, u64>::new());
    for tenant in tenants["tenants"].as_array().unwrap() {
        let tenant = tenant.as_str().unwrap();
        let of_tenant = all(&server, &format!("/api/tenants/{tenant}/traces"), "traces", 97);
        assert!(of_tenant.iter().all(|trace| trace["tenant"] == tenant));
        read.extend(of_tenant);
        for service in all(&server, &format!("/api/tenants/{tenant}/services"), "services", 3) {
            let spans = service["spans"].as_u64().unwrap();
            *by_service
                .entry(service["service"].as_str().unwrap().into())
                .or_default() += spans;
        }
    }
    assert_eq!(read, expected);
    assert_eq!(
        serde_json::to_value(by_service).unwrap(),
        totals["spans_by_service"]
    );

    let widest = expected
        .iter()
        .max_by_key(|trace| trace["span_count"].as_u64())
        .unwrap();
    let path = format!(
        "/api/tenants/{}/traces/{}",
        widest["tenant"].as_str().unwrap(),
        widest["trace_id"].as_str().unwrap()
    );
    assert_eq!(&get(server.address, &path).json()["trace"], widest);
    let spans = all(&server, &path, "spans", 10);
    assert_eq!(Some(spans.len() as u64), widest["span_count"].as_u64());
    server.stop();
}

/// T-05, T-01: nothing of another tenant is reached, and what is not there or no question is said to be so.
#[test]
fn reads_are_checked() {
    let (_traces, server) = with_corpus();
    let line = expected_summaries();
    let one: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let (owner, trace) = (one["tenant"].as_str().unwrap(), one["trace_id"].as_str().unwrap());
    assert_ne!(owner, "tenant-d");
    let of = |tenant: &str, rest: &str| format!("/api/tenants/{tenant}/traces{rest}");
    for (path, status, says) in [
        (of("tenant-d", &format!("/{trace}")), 404, "not found"),
        (of("nobody", ""), 404, "tenant nobody not found"),
        (
            "/api/tenants/nobody/services".to_owned(),
            404,
            "tenant nobody not found",
        ),
        (of(owner, &format!("/{}", "0".repeat(32))), 404, "not found"),
        (of(owner, "/ff"), 400, "32 lower-case hex digits"),
        (of("a%2Fb", ""), 400, "names no tenant"),
        (of("", ""), 400, "names no tenant"),
        (of(owner, "?limit=0"), 400, "from 1 to 1000"),
        (of(owner, "?limit=1001"), 400, "from 1 to 1000"),
        (of(owner, "?limit=x"), 400, "from 1 to 1000"),
        (of(owner, "?cursor=zz"), 400, "cursor"),
        (of(owner, "?cursor=ffff"), 400, "cursor"),
        (of(owner, "?page=2"), 400, "nothing else"),
        ("/api".to_owned(), 404, "POST /v1/traces"),
        ("/".to_owned(), 404, "POST /v1/traces"),
    ] {
        let reply = get(server.address, &path);
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
        assert!(
            reply.json()["error"].as_str().unwrap().contains(says),
            "{path}: {}",
            reply.text()
        );
    }
    // A header that a proxy has set is the word on who asks.
    let path = of(owner, "");
    assert_eq!(get_as(server.address, &path, &[of_tenant(owner)]).status, 200);
    assert_eq!(
        get_as(server.address, &path, &[of_tenant("tenant-d")]).status,
        403
    );
    assert_eq!(get_as(server.address, &path, &[of_tenant("a/b")]).status, 400);
    let own = get_as(server.address, "/api/tenants", &[of_tenant("tenant-d")]).json();
    assert_eq!(own["tenants"], serde_json::json!(["tenant-d"]));

    for (method, path, allowed) in [
        ("GET", "/v1/traces", "POST"),
        ("POST", "/api/tenants", "GET, HEAD"),
        ("DELETE", "/healthz", "GET, HEAD"),
    ] {
        let reply = Client::connect(server.address)
            .unwrap()
            .send(method, path, &[], b"")
            .unwrap();
        assert_eq!(
            (reply.status, reply.header("allow")),
            (405, Some(allowed)),
            "{path}"
        );
    }
    server.stop();
}

/// The probes answer, and the metrics hold what was sent, how it was answered and what the kernel did.
#[test]
fn probes_and_metrics_say_what_happened() {
    let traces = Traces::new();
    let server = Process::start(&traces, None, &["--default-tenant", "acme"]);
    assert_eq!(get(server.address, "/healthz").status, 200);
    assert_eq!(get(server.address, "/readyz").status, 200);
    let body = crate::http::json_request(1, 1);
    for _ in 0..2 {
        assert_eq!(post(server.address, &[JSON], &body).status, 200);
    }
    assert_eq!(post(server.address, &[JSON], b"{").status, 400);
    server.caught_up();
    for (name, value) in [
        ("foldwright_events_fresh_total", 1.0),
        ("foldwright_events_duplicate_total", 1.0),
        ("traces_store_up", 1.0),
        ("traces_backlog_open", 0.0),
        ("traces_spans_total{outcome=\"accepted\"}", 2.0),
        ("traces_spans_total{outcome=\"refused\"}", 0.0),
        (
            "traces_http_requests_total{route=\"/v1/traces\",status=\"200\"}",
            2.0,
        ),
        (
            "traces_http_requests_total{route=\"/v1/traces\",status=\"400\"}",
            1.0,
        ),
        ("traces_export_seconds_count", 3.0),
        ("traces_exports_in_flight", 0.0),
        ("traces_export_memory_bytes", 0.0),
    ] {
        assert_eq!(server.metric(name), Some(value), "{name}");
    }
    server.stop();
}
