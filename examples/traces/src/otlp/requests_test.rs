use std::fs;

use super::*;

/// A requests file with this content, and the directory that keeps it alive.
fn file(content: &str) -> (tempfile::TempDir, RequestTenants) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("requests.jsonl");
    fs::write(&path, content).unwrap();
    let tenants = RequestTenants::open(&path).unwrap();
    (dir, tenants)
}

#[test]
fn tenants_come_in_the_order_of_the_lines() {
    let (_dir, mut tenants) = file("{\"i\":0,\"tenant\":\"a\",\"dup_of\":null}\n\n{\"tenant\":\"b\"}");
    assert_eq!(tenants.next_tenant().unwrap(), "a");
    assert_eq!(tenants.next_tenant().unwrap(), "b");
    tenants.finish().unwrap();
}

#[test]
fn more_requests_than_lines_is_an_error_with_the_count() {
    let (_dir, mut tenants) = file("{\"tenant\":\"a\"}\n\n{\"tenant\":\"b\"}\n");
    tenants.next_tenant().unwrap();
    tenants.next_tenant().unwrap();
    let error = tenants.next_tenant().unwrap_err();
    assert!(
        matches!(error, RequestsError::TooFewLines { lines: 2 }),
        "{error:?}"
    );
}

#[test]
fn fewer_requests_than_lines_is_an_error_with_both_counts() {
    let (_dir, mut tenants) = file("{\"tenant\":\"a\"}\n{\"tenant\":\"b\"}\n{\"tenant\":\"c\"}\n");
    tenants.next_tenant().unwrap();
    let error = tenants.finish().unwrap_err();
    assert!(
        matches!(
            error,
            RequestsError::TooManyLines {
                lines: 3,
                requests: 1
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_line_without_a_tenant_is_named_as_an_editor_would() {
    for faulty in ["{}", "{\"tenant\":5}", "tenant-a", "{\"tenant\":\"a\""] {
        let (_dir, mut tenants) = file(&format!("{{\"tenant\":\"a\"}}\n\n{faulty}\n"));
        tenants.next_tenant().unwrap();
        let error = tenants.next_tenant().unwrap_err();
        assert!(
            matches!(error, RequestsError::Line { line: 3, .. }),
            "{faulty}: {error:?}"
        );
    }
}

#[test]
fn a_line_may_reach_the_limit_and_not_pass_it() {
    let line = |bytes: usize| {
        let object = "{\"tenant\":\"a\"}";
        format!("{object}{}\n", " ".repeat(bytes - object.len()))
    };
    let (_dir, mut tenants) = file(&line(MAX_LINE_BYTES));
    assert_eq!(tenants.next_tenant().unwrap(), "a");
    let (_dir, mut tenants) = file(&line(MAX_LINE_BYTES + 1));
    let error = tenants.next_tenant().unwrap_err();
    assert!(
        matches!(
            error,
            RequestsError::LineTooLong {
                line: 1,
                limit: MAX_LINE_BYTES
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_missing_file_is_named() {
    let Err(error) = RequestTenants::open("no/such.jsonl") else {
        panic!("opened")
    };
    assert!(matches!(error, RequestsError::Open { .. }));
    assert!(error.to_string().contains("no/such.jsonl"), "{error}");
}
