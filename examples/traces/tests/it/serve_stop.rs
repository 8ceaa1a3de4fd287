//! Stopping `traces serve`, and starting it with settings that cannot work.
use crate::{
    command::Traces,
    http::{Client, JSON, get, json_request, post},
    server::{Process, until},
};
use std::{
    collections::BTreeSet,
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
};

const ACME: (&str, &str) = ("x-tenant-id", "acme");

/// After a signal readiness says no, then no connection is taken any more, and what is in flight is answered.
#[test]
fn a_request_in_flight_is_answered_before_the_end() {
    let traces = Traces::new();
    let server = Process::start(&traces, None, &["--stop-delay", "500ms", "--stop-budget", "1m"]);
    let body = json_request(1, 1);
    let (first, second) = body.split_at(10);
    let mut slow = Client::connect(server.address).unwrap();
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\nx-tenant-id: acme\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    slow.write(&[head.as_bytes(), first].concat()).unwrap();
    // The server has taken it once it says that one is in flight.
    until(|| server.metric("traces_exports_in_flight") == Some(1.0));
    server.terminate();
    until(|| get(server.address, "/readyz").status == 503);
    assert_eq!(
        post(server.address, &[JSON, ACME], b"{}").status,
        200,
        "still open"
    );
    until(|| TcpStream::connect(server.address).is_err());
    slow.write(second).unwrap();
    let reply = slow.reply().unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text());
    let status = server.wait();
    assert!(status.success(), "{status}");
    let server = Process::start(&traces, None, &[]);
    server.caught_up();
    server.stop();
    assert!(traces.show_json().contains(&format!("{:032x}", 1)));
}

/// A second signal does not wait for anything.
#[test]
fn a_second_signal_ends_it_at_once() {
    let traces = Traces::new();
    let server = Process::start(&traces, None, &["--stop-delay", "60m"]);
    server.terminate();
    until(|| get(server.address, "/readyz").status == 503);
    server.terminate();
    assert_eq!(server.wait().code(), Some(130));
}

/// G1: stopped in the middle of load, every span whose export got a 200 is there afterwards.
#[test]
fn stopped_under_load_nothing_that_was_accepted_is_lost() {
    let traces = Traces::new();
    let server = Process::start(&traces, None, &[]);
    let address = server.address;
    let acknowledged = AtomicU64::new(0);
    let accepted: BTreeSet<u128> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..4_u128)
            .map(|sender| {
                let acknowledged = &acknowledged;
                scope.spawn(move || {
                    let mut accepted = BTreeSet::new();
                    let Ok(mut client) = Client::connect(address) else {
                        return accepted;
                    };
                    for number in 0.. {
                        let trace = (sender + 1) << 64 | number;
                        let sent = client.send("POST", "/v1/traces", &[JSON, ACME], &json_request(trace, 1));
                        match sent {
                            Ok(reply) if reply.status == 200 => accepted.insert(trace),
                            Ok(reply) => panic!("{}: {}", reply.status, reply.text()),
                            Err(_) => break,
                        };
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                    }
                    accepted
                })
            })
            .collect();
        until(|| acknowledged.load(Ordering::Relaxed) > 200);
        server.stop();
        senders
            .into_iter()
            .flat_map(|sender| sender.join().unwrap())
            .collect()
    });
    assert!(accepted.len() > 200);
    let server = Process::start(&traces, None, &[]);
    server.caught_up();
    server.stop();
    let shown: BTreeSet<u128> = traces
        .show_json()
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            u128::from_str_radix(line["trace_id"].as_str().unwrap(), 16).unwrap()
        })
        .collect();
    let lost: Vec<_> = accepted.difference(&shown).collect();
    assert_eq!(lost, Vec::<&u128>::new());
}

/// G12: settings that cannot work, or are none, are refused with their names.
#[test]
fn settings_that_cannot_work_are_refused() {
    let traces = Traces::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let failed = |args: &[&str], env: &[(&str, &str)]| {
        let output = traces
            .command(&[&["serve"], args].concat())
            .envs(env.iter().copied())
            .output()
            .unwrap();
        assert!(!output.status.success(), "{args:?} {env:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (args, env, says) in [
        (&["--listen", "nowhere"][..], &[][..], "--listen"),
        (&["--lease", "5"], &[], "a time ends in ms, s or m"),
        (&["--lease", "5ms", "--listen", "127.0.0.1:0"], &[], "`lease`"),
        (&["--max-body", "1MB"], &[], "a size ends in"),
        (&["--max-exports", "0"], &[], "max-exports is 0"),
        (&["--body-timeout", "0s"], &[], "body-timeout must not be zero"),
        (&["--default-tenant", "a/b"], &[], "tenant id"),
        (&["--listen", &taken], &[], "cannot listen on"),
        (&[], &[("TRACES_LEASE", "soon")], "--lease"),
        (&[], &[("TRACES_LEESE", "5s")], "TRACES_LEESE"),
    ] {
        let said = failed(args, env);
        assert!(said.contains(says), "{args:?} {env:?}: {said}");
    }
    let both = failed(&["--max-reads", "0", "--max-connections", "0"], &[]);
    assert!(
        both.contains("max-reads") && both.contains("max-connections"),
        "{both}"
    );
    let server = traces
        .command(&["serve", "--max-body", "1KiB", "--max-memory", "1KiB"])
        .env("TRACES_LISTEN", "127.0.0.1:0")
        .output()
        .unwrap();
    assert!(String::from_utf8(server.stderr).unwrap().contains("max-memory"));
}
