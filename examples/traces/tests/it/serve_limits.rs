//! Bounds of `traces serve`: on bodies, memory, requests, connections and time.
use crate::{
    http::{Client, GZIP, JSON, PROTOBUF, get, gzip, json_request, of_tenant, post},
    server::{InProcess, until},
};
use foldwright_traces::serve::Settings;
use std::time::Duration;

const ACME: (&str, &str) = ("x-tenant-id", "acme");
const SHORT: Duration = Duration::from_millis(300);

/// An export that has its place, and whose body does not go on.
fn begun(server: &InProcess) -> Client {
    let mut client = Client::connect(server.address).unwrap();
    client
        .write(
            b"POST /v1/traces HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\nx-tenant-id: acme\r\n\
              content-length: 2\r\nexpect: 100-continue\r\n\r\n",
        )
        .unwrap();
    // The body is asked for only once there is room for it.
    assert_eq!(client.reply().unwrap().status, 100);
    client.write(b"{").unwrap();
    client
}

/// A body may have so many bytes as it travels and so many once it is decompressed, and a bomb costs no more.
#[test]
fn large_bodies_and_bombs_are_refused() {
    let server = InProcess::start(Settings {
        max_body: 64 << 10,
        max_decompressed: 128 << 10,
        ..Settings::default()
    });
    let pad = |bytes: usize| [json_request(1, 1), vec![b' '; bytes - json_request(1, 1).len()]].concat();
    assert_eq!(post(server.address, &[JSON, ACME], &pad(64 << 10)).status, 200);
    let reply = post(server.address, &[JSON, ACME], &pad((64 << 10) + 1));
    assert_eq!((reply.status, reply.json()["code"].as_i64()), (413, Some(8)));
    assert_eq!(
        post(server.address, &[JSON, ACME, GZIP], &gzip(&pad(128 << 10))).status,
        200
    );
    for bomb in [pad((128 << 10) + 1), vec![0; 32 << 20]] {
        let reply = post(server.address, &[PROTOBUF, ACME, GZIP], &gzip(&bomb));
        assert_eq!(reply.status, 413, "{}", reply.text());
        assert_eq!(reply.header("content-type"), Some(PROTOBUF.1));
        assert_eq!(reply.header("retry-after"), None);
    }
    // Without a length that is told beforehand.
    let mut client = Client::connect(server.address).unwrap();
    client
        .write(b"POST /v1/traces HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\nx-tenant-id: acme\r\ntransfer-encoding: chunked\r\n\r\n")
        .unwrap();
    let chunk = [b"4000\r\n".to_vec(), vec![b' '; 0x4000], b"\r\n".to_vec()].concat();
    for _ in 0..5 {
        // It may have answered and closed before the last of them.
        let _ = client.write(&chunk);
    }
    assert_eq!(client.reply().unwrap().status, 413);
    assert_eq!(server.stop(), 0);
}

/// A few bytes that become hundreds each are counted before they are decoded.
#[test]
fn a_body_that_grows_when_it_is_decoded_is_refused() {
    let server = InProcess::start(Settings {
        max_body: 1 << 20,
        max_decompressed: 1 << 20,
        max_memory: 16 << 20,
        ..Settings::default()
    });
    let spans = "{},".repeat(300_000);
    let body = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{spans}{{}}]}}]}}]}}"#);
    let reply = post(server.address, &[JSON, ACME], body.as_bytes());
    assert_eq!(reply.status, 413, "{}", reply.text());
    assert_eq!(
        post(server.address, &[JSON, ACME], &json_request(1, 1)).status,
        200
    );
    assert_eq!(server.stop(), 0);
}

/// When so many exports run, the next hears when to come back; what runs is not disturbed, and probes still answer.
#[test]
fn too_many_exports_are_told_to_come_back() {
    let server = InProcess::start(Settings {
        max_exports: 1,
        ..Settings::default()
    });
    let mut slow = begun(&server);
    let last = post(server.address, &[JSON, ACME], b"{}");
    assert_eq!(last.status, 503, "{}", last.text());
    assert_eq!(last.header("retry-after"), Some("1"));
    assert_eq!(last.json()["code"], 14);
    assert_eq!(get(server.address, "/readyz").status, 200);
    slow.write(b"}").unwrap();
    assert_eq!(slow.reply().unwrap().status, 200);
    assert_eq!(post(server.address, &[JSON, ACME], b"{}").status, 200);
    assert_eq!(server.stop(), 0);
}

/// A body that does not arrive is given up, and its place is free again.
#[test]
fn a_body_that_does_not_arrive_is_given_up() {
    let server = InProcess::start(Settings {
        body_timeout: SHORT,
        max_exports: 1,
        ..Settings::default()
    });
    let mut slow = begun(&server);
    assert_eq!(slow.reply().unwrap().status, 408);
    assert_eq!(post(server.address, &[JSON, ACME], b"{}").status, 200);
    assert_eq!(server.stop(), 0);
}

/// A connection that sends no head, half a head or nothing more is closed.
#[test]
fn a_connection_that_says_nothing_is_closed() {
    let server = InProcess::start(Settings {
        header_timeout: SHORT,
        ..Settings::default()
    });
    for said in [&b""[..], b"GET /healthz HTTP/1.1\r\nhost"] {
        let mut client = Client::connect(server.address).unwrap();
        client.write(said).unwrap();
        client.rest();
    }
    let mut idle = Client::connect(server.address).unwrap();
    assert_eq!(idle.send("GET", "/healthz", &[], b"").unwrap().status, 200);
    assert_eq!(idle.rest(), b"");
    assert_eq!(server.stop(), 0);
}

/// Over the bound a connection is turned away at once; when one ends there is a place again.
#[test]
fn connections_are_bounded() {
    let server = InProcess::start(Settings {
        max_connections: 2,
        ..Settings::default()
    });
    let hello = || {
        let mut client = Client::connect(server.address).ok()?;
        let reply = client.send("GET", "/healthz", &[], b"").ok()?;
        (reply.status == 200).then_some(client)
    };
    let held = [hello().unwrap(), hello().unwrap()];
    assert!(hello().is_none());
    drop(held);
    until(|| hello().is_some());
    assert_eq!(server.stop(), 0);
}

/// No store, no 200: the sender is told to come back, and readiness says so too.
#[test]
fn without_a_store_nothing_is_accepted() {
    let server = InProcess::start(Settings::default());
    assert_eq!(get(server.address, "/readyz").status, 200);
    server.close_store();
    let reply = post(server.address, &[JSON, of_tenant("acme")], &json_request(1, 1));
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(reply.json()["code"], 14);
    assert_eq!(get(server.address, "/readyz").status, 503);
    assert_eq!(get(server.address, "/healthz").status, 200);
    assert_eq!(get(server.address, "/api/tenants").status, 503);
    assert_eq!(server.stop(), 0);
}

/// A request in flight that does not end is cut off when the time to stop is up.
#[test]
fn stopping_takes_no_longer_than_its_budget() {
    let server = InProcess::start(Settings {
        stop_budget: SHORT,
        ..Settings::default()
    });
    let _slow = begun(&server);
    assert_eq!(server.stop(), 1);
}
