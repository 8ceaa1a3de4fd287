//! Records of maps.
use crate::{
    Fixture,
    kit::{all_pages, in_pages, stream_of, tenant},
};
use bytes::Bytes;
use foldwright_domain::{EventId, Identity, Millis, Position};
use foldwright_ports::{AppendStore, Limits, Record};
use std::sync::Arc;
use tokio::task::JoinSet;

fn record(owner: &str, id: &str, n: u128, version: u32) -> Record {
    let event = EventId::from_u128(n << 12);
    Record {
        stream: stream_of(owner, "order", id),
        projection: "rows".into(),
        version,
        identity: Identity::of_id(event),
        position: Position {
            occurred_at: Millis(i64::try_from(n).unwrap() / 2 - 3),
            id: event,
        },
        record: Bytes::from(format!("{{\"n\":{n},\"version\":{version}}}")),
    }
}

async fn append(records: &dyn AppendStore, these: &[Record]) {
    let answers = records.append(these.to_vec()).await;
    assert_eq!(answers.len(), these.len(), "an answer for each record");
    for answer in answers {
        answer.unwrap();
    }
}

async fn list(records: &dyn AppendStore, owner: &str, id: Option<&str>, items: usize) -> Vec<Record> {
    let owner = tenant(owner);
    let limits = Limits::items(items);
    all_pages(limits, |from, limits| {
        records.list(&owner, "rows", id, from, limits)
    })
    .await
}

/// M-02: as often as it is appended, alone, in one call and at once.
pub async fn a_record_appended_again_stays_one(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let second = fixture.reopen(&harness).await;
    let records = &*harness.ports.records;
    let one = record("acme", "a", 1, 1);
    append(records, std::slice::from_ref(&one)).await;
    append(records, &[one.clone(), one.clone()]).await;
    let mut tasks = JoinSet::new();
    for n in 0..10 {
        let records = Arc::clone(if n % 2 == 0 {
            &harness.ports.records
        } else {
            &second.records
        });
        let one = one.clone();
        tasks.spawn(async move { append(&*records, &[one]).await });
    }
    tasks.join_all().await;
    let again = Record {
        record: Bytes::from_static(b"{\"other\":true}"),
        ..one.clone()
    };
    append(records, &[again]).await;
    assert_eq!(list(records, "acme", None, 10).await, [one]);
}

/// M-02: readers see the highest version of each record, whatever came first.
pub async fn the_highest_version_is_seen(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let records = &*harness.ports.records;
    append(records, &[record("acme", "a", 1, 2), record("acme", "a", 2, 1)]).await;
    append(
        records,
        &[
            record("acme", "a", 1, 1),
            record("acme", "a", 2, 3),
            record("acme", "a", 3, 1),
        ],
    )
    .await;
    append(records, &[record("acme", "a", 2, 2)]).await;
    let expected = [
        record("acme", "a", 1, 2),
        record("acme", "a", 2, 3),
        record("acme", "a", 3, 1),
    ];
    for items in [1, 2, 10] {
        assert_eq!(list(records, "acme", None, items).await, expected);
    }
}

/// M-03, T-05: a call with several tenants is split, never refused.
pub async fn records_of_several_tenants_land_under_their_own(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let records = &*harness.ports.records;
    let owners = ["acme", "acme2", "globex"];
    let mixed: Vec<_> = (0..30)
        .map(|n| record(owners[usize::try_from(n).unwrap() % 3], "a", n, 1))
        .collect();
    append(records, &mixed).await;
    for owner in owners {
        let expected: Vec<_> = mixed
            .iter()
            .filter(|one| one.stream.tenant == tenant(owner))
            .cloned()
            .collect();
        assert_eq!(list(records, owner, None, 7).await, expected);
    }
    assert_eq!(list(records, "nobody", None, 7).await, []);
    let mut same = record("globex", "a", 0, 1);
    same.record = Bytes::from_static(b"{\"theirs\":true}");
    append(records, std::slice::from_ref(&same)).await;
    assert_eq!(
        list(records, "acme", None, 100).await[0],
        mixed[0],
        "one identity, two tenants"
    );
    assert_eq!(list(records, "globex", None, 100).await[0], same);
}

/// M-02, L-05: canonical order in pages of any size, by items and by bytes.
pub async fn records_are_listed_in_canonical_order(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let records = &*harness.ports.records;
    let expected: Vec<_> = (0..20)
        .map(|n| record("acme", ["b", "a"][usize::try_from(n).unwrap() % 2], n, 1))
        .collect();
    let mut shuffled = expected.clone();
    shuffled.reverse();
    shuffled.swap(1, 13);
    append(records, &shuffled).await;
    for items in [1, 3, 20, 21] {
        assert_eq!(list(records, "acme", None, items).await, expected);
    }
    let owner = tenant("acme");
    let tight = Limits { items: 100, bytes: 1 };
    let pages = in_pages(tight, |from, limits| {
        records.list(&owner, "rows", None, from, limits)
    })
    .await;
    assert!(
        pages.iter().all(|page| page.len() <= 1),
        "a first record that is too large comes alone"
    );
    assert_eq!(pages.concat(), expected);
}

/// M-02, T-02: of one aggregate, and of one map alone.
pub async fn records_are_listed_by_aggregate_and_map(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let records = &*harness.ports.records;
    let odd = ["a", "ab", "a/b", "a%2Fb", "a:b", "A"];
    let all: Vec<_> = (0..)
        .zip(odd)
        .flat_map(|(n, id)| [record("acme", id, 2 * n, 1), record("acme", id, 2 * n + 1, 1)])
        .collect();
    append(records, &all).await;
    let other = Record {
        projection: "other".into(),
        ..record("acme", "a", 0, 9)
    };
    append(records, std::slice::from_ref(&other)).await;
    for id in odd {
        let expected: Vec<_> = all
            .iter()
            .filter(|one| one.stream.id.as_str() == id)
            .cloned()
            .collect();
        for items in [1, 10] {
            assert_eq!(list(records, "acme", Some(id), items).await, expected);
        }
    }
    assert_eq!(list(records, "acme", Some("absent"), 10).await, []);
    let owner = tenant("acme");
    let limits = Limits::items(10);
    let listed = all_pages(limits, |from, limits| {
        records.list(&owner, "other", None, from, limits)
    })
    .await;
    assert_eq!(listed, [other]);
}

/// G2: a record survives the process.
pub async fn records_outlive_the_process(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let one = record("acme", "a", 1, 1);
    append(&*harness.ports.records, std::slice::from_ref(&one)).await;
    assert_eq!(
        list(&*harness.ports.records, "acme", None, 10).await,
        vec![one.clone()]
    );
    let harness = fixture.restart(harness).await;
    let kept = list(&*harness.ports.records, "acme", None, 10).await;
    let expected = if fixture.declares().durable {
        vec![one]
    } else {
        Vec::new()
    };
    assert_eq!(kept, expected);
}
