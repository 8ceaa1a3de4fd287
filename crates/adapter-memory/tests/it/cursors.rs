//! Cursors that a list did not make.
use bytes::Bytes;
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::{
    AggregateId, Batch, CommandId, Identity, Meta, Millis, RawEvent, StreamKey, TenantId,
};
use foldwright_ports::{
    Append, BlobHash, BlobRef, Cursor, Error, Expect, Kind, Limits, Ports, QueueSettings, Selection,
};
use std::sync::Arc;

const ONE: Limits = Limits::items(1);

/// What every list answers to this cursor.
async fn refusals(ports: &Ports, cursor: &Cursor) -> Vec<(&'static str, Option<Error>)> {
    let from = || Some(cursor.clone());
    let tenant = TenantId::parse("acme").unwrap();
    let all = Selection::all(tenant.clone());
    let stream = stream("a");
    let end = Millis(i64::MAX);
    vec![
        ("load", ports.log.load(&stream, from(), ONE).await.err()),
        ("scan", ports.log.scan(&all, from(), ONE).await.err()),
        ("aggregates", ports.log.aggregates(&all, from(), ONE).await.err()),
        ("tenants", ports.log.tenants(from(), ONE).await.err()),
        ("folds", ports.folds.list(&tenant, "f", from(), ONE).await.err()),
        (
            "records",
            ports.records.list(&tenant, "m", None, from(), ONE).await.err(),
        ),
        ("blobs", ports.hot_blobs.list(end, from(), ONE).await.err()),
        (
            "blocked",
            ports.queue_admin.blocked(None, from(), ONE).await.err(),
        ),
        (
            "dead",
            ports.queue_admin.dead_letters(None, from(), ONE).await.err(),
        ),
    ]
}

fn open() -> Ports {
    Memory::new(Arc::new(VirtualClock::new(Millis(0))), QueueSettings::default()).ports()
}

fn stream(id: &str) -> StreamKey {
    StreamKey {
        tenant: TenantId::parse("acme").unwrap(),
        aggregate_type: "order".into(),
        id: AggregateId::parse(id).unwrap(),
    }
}

async fn append(ports: &Ports, n: u128) {
    let command = CommandId::from_u128(n << 12);
    let id = command.event(0).unwrap();
    let stream = stream(&n.to_string());
    let event = RawEvent {
        meta: Meta {
            id,
            identity: Identity::of_id(id),
            stream: stream.clone(),
            event_type: "shop.sales.order.placed".into(),
            version: "2026-01-01".into(),
            occurred_at: Millis(0),
            accepted_at: Millis(0),
            idempotency_key: None,
            correlation_id: command,
            causation_id: id,
            trace_context: None,
        },
        data: Bytes::from_static(b"{}"),
    };
    let batch = Batch::new(&stream, vec![event]).unwrap();
    let expect = Expect::Any;
    ports
        .log
        .append(vec![Append { batch, expect }])
        .await
        .remove(0)
        .unwrap();
}

#[tokio::test]
async fn bytes_that_are_no_cursor_are_refused() {
    let ports = open();
    for junk in [b"".as_slice(), b"p", b"junk", &[0xff; 41]] {
        for (list, error) in refusals(&ports, &Cursor(Bytes::copy_from_slice(junk))).await {
            let kind = error.map(|error| error.kind());
            assert_eq!(kind, Some(Kind::Invalid), "{list}: {junk:?}");
        }
    }
}

/// A cursor of one kind of list says so to another, instead of beginning somewhere.
#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let ports = open();
    append(&ports, 1).await;
    append(&ports, 2).await;
    let all = Selection::all(stream("a").tenant);
    let cursor = ports.log.scan(&all, None, ONE).await.unwrap().next.unwrap();
    let accepting: Vec<_> = refusals(&ports, &cursor)
        .await
        .into_iter()
        .filter(|(_, error)| error.is_none())
        .map(|(list, _)| list)
        .collect();
    assert_eq!(accepting, ["load", "scan"], "both go by canonical order");
}

/// B-15: a sweep goes on behind a body that was deleted meanwhile.
#[tokio::test]
async fn a_list_goes_on_behind_what_was_deleted() {
    let ports = open();
    for raw in ["a", "b", "c"] {
        let tenant = TenantId::parse("acme").unwrap();
        let hash = BlobHash::of(raw.as_bytes());
        ports
            .hot_blobs
            .put(&BlobRef { tenant, hash }, Bytes::new())
            .await
            .unwrap();
    }
    let (end, mut from, mut seen) = (Millis(i64::MAX), None, 0);
    loop {
        let page = ports.hot_blobs.list(end, from, ONE).await.unwrap();
        for entry in page.items {
            seen += 1;
            assert!(ports.hot_blobs.delete_untouched(&entry.blob, end).await.unwrap());
        }
        match page.next {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, 3);
}
