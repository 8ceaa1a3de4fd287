//! The traces of the service itself, on their way to a collector.
use crate::{
    command::Traces,
    http::{JSON, json_request, post},
    server::Process,
};
use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::Duration,
};

const ACME: (&str, &str) = ("x-tenant-id", "acme");
const TRACE: [u8; 16] = [0xab; 16];

fn traceparent() -> String {
    format!("00-{}-00f067aa0ba902b7-01", hex::encode(TRACE))
}

/// A collector on the loopback that takes every export; ends with the test.
fn collector() -> (SocketAddr, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (taken, exports) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let taken = taken.clone();
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                while let Some(body) = export(&mut stream) {
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                        .unwrap();
                    // An error means that the test has ended.
                    let _ = taken.send(body);
                }
            });
        }
    });
    (address, exports)
}

/// The body of the next export on a connection; `None` at its end.
fn export(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return None;
        }
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    Some(body)
}

/// The names of spans of [`TRACE`]: each span begins with its trace, and its name comes before the next one does.
fn names(export: &[u8]) -> BTreeSet<&'static str> {
    let starts: Vec<_> = (0..export.len().saturating_sub(16))
        .filter(|at| export[*at..].starts_with(&TRACE))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([export.len()]);
    let spans = starts.iter().zip(ends).map(|(start, end)| &export[*start..end]);
    let known = ["send", "append", "job", "effect"];
    spans
        .filter_map(|span| known.into_iter().find(|name| holds(span, &named(name))))
        .collect()
}

/// A span's name as protobuf has it: field 5, its length, its text.
fn named(name: &str) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    [&[0x2a, length][..], name.as_bytes()].concat()
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// G-01: a request's trace goes on over send, append and job to the effect, and the end of the process flushes it.
#[test]
fn a_request_and_what_follows_from_it_are_one_trace() {
    let traces = Traces::new();
    let (address, exports) = collector();
    let endpoint = format!("http://{address}");
    let server = Process::start(&traces, None, &["--otlp-endpoint", &endpoint]);
    let parent = traceparent();
    let headers = [JSON, ACME, ("traceparent", parent.as_str())];
    assert_eq!(post(server.address, &headers, &json_request(1, 1)).status, 200);
    server.caught_up();
    let mut seen = BTreeSet::new();
    // The subscriber runs once its trace has been quiet for a while.
    while !seen.contains("effect") {
        let export = exports.recv_timeout(Duration::from_secs(60)).unwrap();
        seen.extend(names(&export));
    }
    server.stop();
    for export in exports.try_iter() {
        seen.extend(names(&export));
    }
    assert_eq!(seen, ["append", "effect", "job", "send"].into());
}

/// G-09, H-05: a collector that takes connections and never answers holds up neither the work nor the end.
#[test]
fn a_collector_that_never_answers_holds_nothing_up() {
    let traces = Traces::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let server = Process::start(&traces, None, &["--otlp-endpoint", &endpoint]);
    for trace in 1..=50 {
        let reply = post(server.address, &[JSON, ACME], &json_request(trace, 20));
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    server.caught_up();
    server.stop();
}

/// What is no URL is refused at the start.
#[test]
fn an_endpoint_that_is_none_is_refused() {
    let output = Traces::new().run(&["serve", "--otlp-endpoint", "no url at all"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the endpoint is a URL"), "{said}");
}
