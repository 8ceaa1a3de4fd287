//! Traces on their way out.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it did not expect"
)]

use foldwright_runtime::TraceParent;
use foldwright_telemetry::{Otlp, OtlpError, OtlpSettings};
use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
    time::Duration,
};
use tracing::info_span;
use tracing_subscriber::prelude::*;

fn settings(endpoint: String) -> OtlpSettings {
    OtlpSettings {
        timeout: Duration::from_millis(500),
        ..OtlpSettings::to(endpoint, "orders")
    }
}

/// An address at which nobody listens.
fn nobody() -> String {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", free.local_addr().unwrap())
}

#[test]
fn a_span_goes_on_the_trace_that_came_with_its_job() {
    let otlp = Otlp::start(&settings(nobody())).unwrap();
    let propagation = otlp.propagation();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(otlp.layer()), || {
        let send = info_span!("send");
        let context = propagation.context_of(&send).unwrap();
        let sent: TraceParent = context.parse().unwrap();
        assert!(sent.sampled);
        // Elsewhere, later: all that came along is the text.
        let effect = info_span!("effect");
        propagation.go_on(&effect, &context);
        let ran: TraceParent = propagation.context_of(&effect).unwrap().parse().unwrap();
        assert_eq!(ran.trace_id, sent.trace_id);
        assert_ne!(ran.span_id, sent.span_id);
        propagation.go_on(&info_span!("other"), "no context at all");
    });
}

#[test]
fn without_a_layer_there_is_no_trace() {
    let otlp = Otlp::start(&settings(nobody())).unwrap();
    let span = info_span!("send");
    otlp.propagation()
        .go_on(&span, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    assert_eq!(otlp.propagation().context_of(&span), None);
}

#[test]
fn spans_reach_the_collector_with_the_last_flush() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    let collector = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut chunk = [0; 4_096];
        // The name of the service stands in the body, behind the head.
        while !contains(&request, b"orders") {
            let read = stream.read(&mut chunk).unwrap();
            assert!(read > 0, "the exporter hung up");
            request.extend_from_slice(&chunk[..read]);
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .unwrap();
        request
    });
    let otlp = Otlp::start(&OtlpSettings::to(endpoint, "orders")).unwrap();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(otlp.layer()), || {
        drop(info_span!("send"));
    });
    otlp.flush().unwrap();
    let request = collector.join().unwrap();
    assert!(request.starts_with(b"POST /v1/traces HTTP/1.1\r\n"));
    assert!(contains(&request, b"send"));
}

/// G-09: nobody waits for it, and the process ends in good order.
#[test]
fn a_collector_that_is_away_costs_its_traces_alone() {
    let otlp = Otlp::start(&settings(nobody())).unwrap();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(otlp.layer()), || {
        for _ in 0..10_000 {
            drop(info_span!("send"));
        }
    });
    otlp.flush().unwrap();
}

#[test]
fn a_part_that_is_none_is_refused() {
    let half = OtlpSettings {
        sampled: 1.5,
        ..settings(nobody())
    };
    assert!(matches!(Otlp::start(&half), Err(OtlpError::Sampled(_))));
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
