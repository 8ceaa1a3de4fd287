//! Reading many streams.
use crate::{
    Fixture,
    kit::{Events, all_pages, append, in_pages, stream_of, tenant},
};
use bytes::Bytes;
use foldwright_domain::{Millis, RawEvent, StreamKey, TenantId};
use foldwright_ports::{EventLog, Limits, Selection};
use std::collections::BTreeSet;

/// Events of three streams and two types in canonical order, beside those of another tenant.
async fn stored(log: &dyn EventLog) -> Vec<RawEvent> {
    let mut events = Events::new();
    let streams = [
        stream_of("acme", "order", "b"),
        stream_of("acme", "order", "a"),
        stream_of("acme", "basket", "z"),
    ];
    let mut all = Vec::new();
    for n in 0..60 {
        let mut event = events.next(&streams[usize::try_from(n).unwrap() % 3], n / 4 - 3);
        if n % 5 == 0 {
            event.meta.event_type = "shop.sales.order.paid".into();
        }
        all.push(event);
    }
    let mut mixed = all.clone();
    mixed.reverse();
    mixed.push(events.next(&stream_of("globex", "order", "a"), 0));
    for answer in log
        .append(mixed.into_iter().map(|event| append(vec![event])).collect())
        .await
    {
        answer.unwrap();
    }
    all
}

async fn scan(log: &dyn EventLog, selection: &Selection, items: usize) -> Vec<RawEvent> {
    all_pages(Limits::items(items), |from, limits| {
        log.scan(selection, from, limits)
    })
    .await
}

fn all() -> Selection {
    Selection::all(tenant("acme"))
}

/// L-10, L-05
pub async fn a_scan_has_no_gap_and_no_repeat(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let stored = stored(log).await;
    for items in [1, 2, 7, 59, 60, 61] {
        assert_eq!(scan(log, &all(), items).await, stored, "pages of {items}");
    }
}

/// L-10: bytes limit a page, and a first event that is larger comes alone.
pub async fn a_scan_is_paged_by_bytes(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let stored: Vec<_> = (0..)
        .zip([300, 6_000, 300, 300, 6_000])
        .map(|(at, bytes)| {
            let mut event = events.next(&stream_of("acme", "order", &format!("o{at}")), at);
            event.data = Bytes::from(format!("\"{}\"", "x".repeat(bytes)));
            event
        })
        .collect();
    for answer in log
        .append(stored.iter().map(|event| append(vec![event.clone()])).collect())
        .await
    {
        answer.unwrap();
    }
    for bytes in [1, 700, 6_500] {
        let selection = all();
        let limits = Limits { items: 100, bytes };
        let pages = in_pages(limits, |from, limits| log.scan(&selection, from, limits)).await;
        for page in &pages {
            let size: usize = page.iter().map(|event| event.data.len()).sum();
            assert!(
                page.len() <= 1 || size <= bytes,
                "{} events of {size} bytes",
                page.len()
            );
        }
        assert_eq!(pages.concat(), stored);
    }
}

/// L-10, Y-07: by aggregate type, by event type, by business time, and by all of them.
pub async fn a_scan_selects(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let stored = stored(log).await;
    let mut by_aggregate = all();
    by_aggregate.aggregate_types = vec!["order".into()];
    let mut by_type = all();
    by_type.event_types = vec!["shop.sales.order.paid".into(), "no.such.event.type".into()];
    let mut by_time = all();
    by_time.occurred = Some(Millis(-2)..Millis(4));
    let both_types = Selection {
        aggregate_types: vec!["order".into(), "basket".into()],
        ..by_time.clone()
    };
    let by_all = Selection {
        aggregate_types: vec!["order".into()],
        event_types: vec!["shop.sales.order.paid".into()],
        ..by_time.clone()
    };
    for selection in [by_aggregate, by_type, by_time, both_types, by_all] {
        let wanted = |of: &[_], name| of.is_empty() || of.contains(name);
        let expected: Vec<_> = stored
            .iter()
            .filter(|event| wanted(&selection.aggregate_types, &event.meta.stream.aggregate_type))
            .filter(|event| wanted(&selection.event_types, &event.meta.event_type))
            .filter(|event| {
                selection
                    .occurred
                    .as_ref()
                    .is_none_or(|r| r.contains(&event.meta.occurred_at))
            })
            .cloned()
            .collect();
        assert!(!expected.is_empty() && expected.len() < stored.len());
        for items in [3, 100] {
            assert_eq!(scan(log, &selection, items).await, expected, "{selection:?}");
        }
    }
    let mut nothing = all();
    nothing.occurred = Some(Millis(5)..Millis(5));
    assert_eq!(scan(log, &nothing, 10).await, []);
}

/// L-10: each stream once, ordered by type and id, whatever the page.
pub async fn streams_are_listed_once_and_in_order(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let stored = stored(log).await;
    let mut paid = all();
    paid.event_types = vec!["shop.sales.order.paid".into()];
    let mut orders = all();
    orders.aggregate_types = vec!["order".into()];
    let mut early = all();
    early.occurred = Some(Millis(-3)..Millis(-2));
    let mut first = all();
    first.occurred = Some(Millis(-9)..Millis(-3));
    for (selection, picks) in [
        (all(), (|_| true) as fn(&RawEvent) -> bool),
        (paid, |event| &*event.meta.event_type == "shop.sales.order.paid"),
        (orders, |event| &*event.meta.stream.aggregate_type == "order"),
        (early, |event| event.meta.occurred_at == Millis(-3)),
        (first, |_| false),
    ] {
        let streams = stored.iter().filter(|event| picks(event));
        let expected: BTreeSet<StreamKey> = streams.map(|event| event.meta.stream.clone()).collect();
        for items in [1, 2, 10] {
            let limits = Limits::items(items);
            let listed = all_pages(limits, |from, limits| log.aggregates(&selection, from, limits)).await;
            assert_eq!(listed, expected.iter().cloned().collect::<Vec<_>>());
        }
    }
}

/// T-05: each tenant once, in order of the names.
pub async fn tenants_are_listed_once_and_in_order(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let names = ["-x", "A", "Z.z", "a", "a-b", "a.b", "aa", "b"];
    let mut appends = Vec::new();
    for name in ["b", "a", "aa", "a.b", "a-b", "Z.z", "A", "-x", "b", "a"] {
        appends.push(append(vec![events.next(&stream_of(name, "order", "o"), 1)]));
        appends.push(append(vec![events.next(&stream_of(name, "basket", "o"), 1)]));
    }
    for answer in log.append(appends).await {
        answer.unwrap();
    }
    let expected: Vec<TenantId> = names.map(tenant).into();
    for items in [1, 3, 8, 20] {
        let limits = Limits::items(items);
        let listed = all_pages(limits, |from, limits| log.tenants(from, limits)).await;
        assert_eq!(listed, expected);
    }
}
