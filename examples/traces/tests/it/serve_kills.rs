//! The whole corpus over HTTP, while the server is killed again and again.
use crate::{
    command::{Traces, corpus, expected_summaries, unzipped, unzipped_lines},
    http::{Client, GZIP, JSON, PROTOBUF, gzip, of_tenant},
    server::{Process, pause, until},
};
use std::{
    fs,
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering},
};

const SENDERS: usize = 4;
/// The server is killed each time when so many more requests were acknowledged.
const REQUESTS_BETWEEN_KILLS: usize = 25;

/// A request of the corpus in one of its encodings.
struct Export {
    tenant: String,
    headers: Vec<(&'static str, &'static str)>,
    body: Vec<u8>,
}

fn exports() -> Vec<Export> {
    let tenants = fs::read_to_string(corpus("requests.jsonl")).unwrap();
    let mut prefixed = &unzipped(&corpus("traces.otlp.pb.gz"))[..];
    let mut exports = Vec::new();
    for (number, (json, tenant)) in unzipped_lines(&corpus("traces.otlp.jsonl.gz"))
        .iter()
        .zip(tenants.lines())
        .enumerate()
    {
        let (length, rest) = prefixed.split_at(4);
        let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
        let protobuf = &rest[..length];
        prefixed = &rest[length..];
        let (headers, body) = match number % 4 {
            0 => (vec![PROTOBUF, GZIP], gzip(protobuf)),
            1 => (vec![JSON, GZIP], gzip(json.as_bytes())),
            2 => (vec![PROTOBUF], protobuf.to_vec()),
            _ => (vec![JSON], json.clone().into_bytes()),
        };
        let tenant: serde_json::Value = serde_json::from_str(tenant).unwrap();
        exports.push(Export {
            tenant: tenant["tenant"].as_str().unwrap().to_owned(),
            headers,
            body,
        });
    }
    assert!(prefixed.is_empty());
    exports
}

/// Sends it until it is acknowledged, as an exporter does.
fn send(address: SocketAddr, client: &mut Option<Client>, export: &Export) {
    let headers = [&export.headers[..], &[of_tenant(&export.tenant)]].concat();
    loop {
        if client.is_none() {
            *client = Client::connect(address).ok();
        }
        let sent = client
            .as_mut()
            .map(|client| client.send("POST", "/v1/traces", &headers, &export.body));
        match sent {
            Some(Ok(reply)) if reply.status == 200 => {
                assert!(matches!(&reply.body[..], b"" | b"{}"), "{}", reply.text());
                return;
            }
            Some(Ok(reply)) => assert!(
                matches!(reply.status, 502..=504),
                "{}: {}",
                reply.status,
                reply.text()
            ),
            _ => *client = None,
        }
        pause();
    }
}

/// G1, G2, G3, G4, C-02, X-03: retries, lost answers and a server that is killed again and again end in exact summaries.
#[test]
fn summaries_are_exact_after_kills_of_the_server() {
    let traces = Traces::new();
    let lease = ["--lease", "1s"];
    let mut server = Process::start(&traces, None, &lease);
    let address = server.address;
    let exports = exports();
    let acknowledged = AtomicUsize::new(0);
    let mut kills = 0;
    let server = std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (exports, acknowledged) = (&exports, &acknowledged);
            scope.spawn(move || {
                let mut client = None;
                for (number, export) in exports.iter().enumerate().skip(sender).step_by(SENDERS) {
                    send(address, &mut client, export);
                    // Now and then the answer is taken for lost.
                    if number % 7 == 0 {
                        send(address, &mut client, export);
                    }
                    acknowledged.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for next in (REQUESTS_BETWEEN_KILLS..exports.len()).step_by(REQUESTS_BETWEEN_KILLS) {
            until(|| acknowledged.load(Ordering::Relaxed) >= next);
            server.kill();
            server = Process::start(&traces, Some(address), &lease);
            kills += 1;
        }
        server
    });
    assert!(kills > 10, "{kills}");
    server.caught_up();
    server.stop();
    assert_eq!(traces.show_json(), expected_summaries());
}
