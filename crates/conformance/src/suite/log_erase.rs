//! Removing events.
use crate::{
    Fixture,
    kit::{Events, all_pages, append, stream_of, tenant},
};
use foldwright_domain::{Millis, RawEvent};
use foldwright_ports::{Appended, EventLog, Limits, Retention, Selection};
use std::sync::Arc;
use tokio::task::JoinSet;

async fn store(log: &dyn EventLog, events: &[RawEvent]) -> Vec<Appended> {
    let appends = events.iter().map(|event| append(vec![event.clone()])).collect();
    let answers = log.append(appends).await;
    answers.into_iter().flat_map(Result::unwrap).collect()
}

async fn scan(log: &dyn EventLog, owner: &str) -> Vec<RawEvent> {
    let selection = Selection::all(tenant(owner));
    all_pages(Limits::items(100), |from, limits| {
        log.scan(&selection, from, limits)
    })
    .await
}

/// Ten orders and ten baskets of two tenants; the first half of each was accepted before 1,000.
fn mixed() -> Vec<RawEvent> {
    let mut events = Events::new();
    let mut all = Vec::new();
    for owner in ["acme", "globex"] {
        for kind in ["order", "basket"] {
            for n in 0..10 {
                let mut event = events.next(&stream_of(owner, kind, &format!("{}", n % 2)), n);
                event.meta.accepted_at = Millis(if n < 5 { 999 } else { 1_000 });
                all.push(event);
            }
        }
    }
    all
}

fn of(events: &[RawEvent], owner: &str, keep: impl Fn(&RawEvent) -> bool) -> Vec<RawEvent> {
    let mut kept: Vec<_> = events
        .iter()
        .filter(|event| event.meta.stream.tenant == tenant(owner) && keep(event))
        .cloned()
        .collect();
    kept.sort_by_key(|event| event.meta.position());
    kept
}

/// T-06: bounded steps; fewer than asked for means that none is left.
pub async fn erasing_takes_what_is_selected_in_steps(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let events = mixed();
    store(log, &events).await;
    let orders = Selection {
        aggregate_types: vec!["order".into()],
        ..Selection::all(tenant("acme"))
    };
    let mut steps = Vec::new();
    while steps.last() != Some(&0) && steps.len() < 10 {
        steps.push(log.erase(&orders, 4).await.unwrap());
    }
    assert_eq!(steps, [4, 4, 2, 0]);
    let baskets = |event: &RawEvent| &*event.meta.stream.aggregate_type == "basket";
    assert_eq!(scan(log, "acme").await, of(&events, "acme", baskets));
    assert_eq!(scan(log, "globex").await, of(&events, "globex", |_| true));

    assert_eq!(
        log.erase(&Selection::all(tenant("acme")), 1_000).await.unwrap(),
        10
    );
    let tenants = log.tenants(None, Limits::items(10)).await.unwrap().items;
    assert_eq!(tenants, [tenant("globex")], "an erased tenant is not listed");
}

/// T-06: nothing of a removed event is left that would refuse it.
pub async fn a_removed_event_may_come_again(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let kept = events.next(&stream_of("acme", "basket", "o"), 0);
    let mut erased = events.next(&stream_of("acme", "order", "o"), 1);
    erased.meta.accepted_at = Millis(0);
    store(log, std::slice::from_ref(&kept)).await;
    let orders = Selection {
        aggregate_types: vec!["order".into()],
        ..Selection::all(tenant("acme"))
    };
    let old = Retention {
        tenant: tenant("acme"),
        aggregate_types: Vec::new(),
        accepted_before: Millis(1),
    };
    for way in ["erased", "retained"] {
        let again = std::slice::from_ref(&erased);
        assert_eq!(store(log, again).await, [Appended::Fresh], "{way}");
        assert_eq!(scan(log, "acme").await, [kept.clone(), erased.clone()]);
        let removed = match way {
            "erased" => log.erase(&orders, 10).await,
            _ => log.retain(&old, 10).await,
        };
        assert_eq!(removed.unwrap(), 1, "{way}");
        assert_eq!(scan(log, "acme").await, std::slice::from_ref(&kept));
    }
    assert_eq!(store(log, &[erased]).await, [Appended::Fresh]);
}

/// L-17
pub async fn retention_takes_only_what_is_past_it(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let events = mixed();
    store(log, &events).await;
    let orders = Retention {
        tenant: tenant("acme"),
        aggregate_types: vec!["order".into()],
        accepted_before: Millis(1_000),
    };
    let mut steps = Vec::new();
    while steps.last() != Some(&0) && steps.len() < 10 {
        steps.push(log.retain(&orders, 2).await.unwrap());
    }
    assert_eq!(steps, [2, 2, 1, 0]);
    let kept = |event: &RawEvent| {
        &*event.meta.stream.aggregate_type == "basket" || event.meta.accepted_at >= Millis(1_000)
    };
    assert_eq!(scan(log, "acme").await, of(&events, "acme", kept));
    let every_type = Retention {
        aggregate_types: Vec::new(),
        ..orders
    };
    assert_eq!(log.retain(&every_type, 100).await.unwrap(), 5);
    let young = |event: &RawEvent| event.meta.accepted_at >= Millis(1_000);
    assert_eq!(scan(log, "acme").await, of(&events, "acme", young));
    assert_eq!(scan(log, "globex").await, of(&events, "globex", |_| true));
}

/// L-17: appends and loads go on meanwhile, and what is young stays.
pub async fn appends_go_on_while_retention_runs(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &harness.ports.log;
    let mut events = Events::new();
    let stream = stream_of("acme", "order", "o");
    let old: Vec<_> = (0..200)
        .map(|n| {
            let mut event = events.next(&stream, n);
            event.meta.accepted_at = Millis(0);
            event
        })
        .collect();
    store(&**log, &old).await;
    let young: Vec<_> = (0..100).map(|n| events.next(&stream, n)).collect();
    let mut appending = JoinSet::new();
    let (writer, to_write) = (Arc::clone(log), young.clone());
    appending.spawn(async move {
        for event in to_write {
            assert_eq!(store(&*writer, &[event]).await, [Appended::Fresh]);
        }
    });
    let retention = Retention {
        tenant: tenant("acme"),
        aggregate_types: Vec::new(),
        accepted_before: Millis(1),
    };
    let mut removed = 0;
    loop {
        let step = log.retain(&retention, 7).await.unwrap();
        assert!(step <= 7);
        removed += step;
        log.load(&stream, None, Limits::items(5)).await.unwrap();
        if step < 7 {
            break;
        }
    }
    appending.join_all().await;
    assert_eq!(removed, old.len());
    assert_eq!(scan(&**log, "acme").await, of(&young, "acme", |_| true));
}
