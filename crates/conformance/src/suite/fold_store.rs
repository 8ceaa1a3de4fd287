//! States of folds.
use crate::{
    Fixture,
    kit::{all_pages, in_pages, tenant},
};
use bytes::Bytes;
use foldwright_domain::{EventId, Millis, Position};
use foldwright_ports::{Fence, FoldStore, Limits, Revision, StateKey, StateRow, Stored};
use std::sync::Arc;
use tokio::task::JoinSet;

fn key(owner: &str, projection: &str, key: &str) -> StateKey {
    StateKey {
        tenant: tenant(owner),
        projection: projection.into(),
        key: key.into(),
    }
}

fn revision(fence: u64, write: u32) -> Revision {
    Revision {
        fence: Fence(fence),
        write,
    }
}

fn row(of: &StateKey, fence: u64, write: u32) -> StateRow {
    StateRow {
        key: of.clone(),
        state: Bytes::from(format!("{{\"fence\":{fence},\"write\":{write}}}")),
        fold_version: 3,
        revision: revision(fence, write),
        events: fence + 7,
        last_applied: Some(Position {
            occurred_at: Millis(-5),
            id: EventId::from_u128(u128::MAX),
        }),
        created_at: Millis(11),
        updated_at: Millis(12),
        ledger: Bytes::from_static(&[0, 1, 255, 0]),
    }
}

async fn store(folds: &dyn FoldStore, row: StateRow) -> Stored {
    let mut answers = folds.store(vec![row]).await;
    assert_eq!(answers.len(), 1, "an answer for each row");
    answers.pop().unwrap().unwrap()
}

async fn load(folds: &dyn FoldStore, key: &StateKey) -> Option<StateRow> {
    let mut rows = folds.load(std::slice::from_ref(key)).await.unwrap();
    assert_eq!(rows.len(), 1, "an answer for each key");
    rows.pop().unwrap()
}

/// X-13, G3: every field comes back, and tokens use all of their 64 bits.
pub async fn a_state_is_loaded_as_it_was_stored(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let folds = &*harness.ports.folds;
    for (name, fence) in [("a", 1), ("b", 1_764_500_000_000_000), ("c", u64::MAX >> 1)] {
        let row = row(&key("acme", "totals", name), fence, u32::MAX);
        assert_eq!(store(folds, row.clone()).await, Stored::Yes);
        assert_eq!(load(folds, &row.key).await, Some(row));
    }
    let mut bare = row(&key("acme", "totals", "bare"), 1, 1);
    bare.last_applied = None;
    bare.state = Bytes::from(vec![b'x'; 1 << 20]);
    assert_eq!(store(folds, bare.clone()).await, Stored::Yes);
    assert_eq!(load(folds, &bare.key).await, Some(bare));
}

/// a state that looks empty is present; only what was never stored is absent.
pub async fn an_empty_state_is_not_an_absent_one(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let folds = &*harness.ports.folds;
    let [empty, null, absent] = ["empty", "null", "absent"].map(|name| key("acme", "totals", name));
    let rows = [(&empty, ""), (&null, "null")].map(|(of, state)| StateRow {
        state: Bytes::from_static(state.as_bytes()),
        events: 0,
        last_applied: None,
        ledger: Bytes::new(),
        ..row(of, 1, 1)
    });
    for row in &rows {
        assert_eq!(store(folds, row.clone()).await, Stored::Yes);
    }
    let loaded = folds.load(&[absent, empty, null]).await.unwrap();
    let [empty, null] = rows;
    assert_eq!(loaded, [None, Some(empty), Some(null)]);
}

/// X-10, G4: a strictly higher revision alone replaces a row; by token first, then by the write.
pub async fn the_higher_revision_stands(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let folds = &*harness.ports.folds;
    let of = key("acme", "totals", "a");
    let mut stands = revision(0, 0);
    for (fence, write) in [
        (5, 1),
        (5, 1),
        (4, 9),
        (5, 2),
        (5, 1),
        (6, 1),
        (5, 3),
        (6, 1),
        (7, 1),
        (1 << 40, 1),
        (8, 2),
    ] {
        let stored = store(folds, row(&of, fence, write)).await;
        let mine = revision(fence, write);
        if mine > stands {
            assert_eq!(stored, Stored::Yes, "{mine:?} over {stands:?}");
            stands = mine;
        } else {
            assert_eq!(
                stored,
                Stored::Superseded { by: stands },
                "{mine:?} under {stands:?}"
            );
        }
        let loaded = load(folds, &of).await.unwrap();
        assert_eq!(
            loaded,
            row(&of, stands.fence.0, stands.write),
            "nothing else changed"
        );
    }
}

/// a worker that wakes up late changes nothing, through whichever handle it writes.
pub async fn a_late_writer_loses_through_any_handle(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let second = fixture.reopen(&harness).await;
    let of = key("acme", "totals", "a");
    assert_eq!(store(&*harness.ports.folds, row(&of, 10, 1)).await, Stored::Yes);
    assert_eq!(load(&*second.folds, &of).await.unwrap().revision, revision(10, 1));
    assert_eq!(store(&*second.folds, row(&of, 20, 1)).await, Stored::Yes);
    let by = revision(20, 1);
    assert_eq!(
        store(&*harness.ports.folds, row(&of, 10, 2)).await,
        Stored::Superseded { by }
    );
    assert_eq!(load(&*harness.ports.folds, &of).await, Some(row(&of, 20, 1)));
}

/// of many that write at once the highest stands, and it was told so.
pub async fn of_concurrent_writers_the_highest_stands(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let second = fixture.reopen(&harness).await;
    let of = key("acme", "totals", "a");
    let mut tasks = JoinSet::new();
    for fence in 1..=50 {
        let folds = Arc::clone(if fence % 2 == 0 {
            &harness.ports.folds
        } else {
            &second.folds
        });
        let row = row(&of, fence * 7 % 53, 1);
        tasks.spawn(async move { (row.revision, store(&*folds, row).await) });
    }
    let answers = tasks.join_all().await;
    let highest = answers.iter().map(|(revision, _)| *revision).max().unwrap();
    assert!(answers.contains(&(highest, Stored::Yes)));
    assert_eq!(load(&*harness.ports.folds, &of).await.unwrap().revision, highest);
}

/// a row that loses does not fail its neighbours, and answers come in the order of the call.
pub async fn rows_are_answered_one_by_one(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let folds = &*harness.ports.folds;
    let keys: Vec<_> = (0..20)
        .map(|n| key(["acme", "globex"][n % 2], "totals", &format!("k{n}")))
        .collect();
    store(folds, row(&keys[7], 100, 1)).await;
    let rows = keys.iter().map(|of| row(of, 50, 1)).collect();
    let answers: Vec<_> = folds.store(rows).await.into_iter().map(Result::unwrap).collect();
    let by = revision(100, 1);
    let mut expected = vec![Stored::Yes; 20];
    expected[7] = Stored::Superseded { by };
    assert_eq!(answers, expected);
    let mut asked = keys.clone();
    asked.reverse();
    asked.insert(3, key("acme", "totals", "absent"));
    let loaded = folds.load(&asked).await.unwrap();
    let of: Vec<_> = loaded
        .iter()
        .map(|row| row.as_ref().map(|row| row.key.clone()))
        .collect();
    let mut expected: Vec<_> = asked.into_iter().map(Some).collect();
    expected[3] = None;
    assert_eq!(of, expected);
}

/// of one call's rows for one key, the higher revision stands, whatever their order.
pub async fn one_key_twice_in_a_call_keeps_the_higher(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let folds = &*harness.ports.folds;
    for (name, writes) in [("up", [1, 2]), ("down", [2, 1])] {
        let of = key("acme", "totals", name);
        let answers = folds.store(writes.map(|write| row(&of, 5, write)).into()).await;
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(load(folds, &of).await, Some(row(&of, 5, 2)));
    }
}

/// T-02, T-05, G11: keys never meet, across tenants, folds and odd texts.
pub async fn keys_never_meet(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let folds = &*harness.ports.folds;
    let longest = "x".repeat(512);
    let keys = [
        key("acme", "totals", "a"),
        key("acme2", "totals", "a"),
        key("acme", "totals2", "a"),
        key("acme", "totals", "a/b"),
        key("acme", "totals", "a%2Fb"),
        key("acme", "totals", "a:b"),
        key("acme", "totals", "A"),
        key("acme", "totals", "a\0b"),
        key("acme", "totals", "[\"a\",1]"),
        key("acme", "totals", &longest),
    ];
    for (fence, of) in (1..).zip(&keys) {
        assert_eq!(load(folds, of).await, None);
        assert_eq!(store(folds, row(of, fence, 1)).await, Stored::Yes);
    }
    for (fence, of) in (1..).zip(&keys) {
        assert_eq!(load(folds, of).await, Some(row(of, fence, 1)));
    }
}

/// T-05: one fold of one tenant, by the bytes of the key, in pages of any size.
pub async fn states_are_listed_by_key(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let folds = &*harness.ports.folds;
    let mut names = vec![
        "b", "a", "ab", "B", "é", "z", "a:b", "a/b", "0", "~", "日本", "a b",
    ];
    let rows = names
        .iter()
        .map(|name| row(&key("acme", "totals", name), 1, 1))
        .collect();
    assert!(folds.store(rows).await.iter().all(Result::is_ok));
    for other in [key("acme", "other", "a"), key("globex", "totals", "a")] {
        store(folds, row(&other, 1, 1)).await;
    }
    names.sort_unstable_by_key(|name| name.as_bytes());
    let expected: Vec<_> = names
        .iter()
        .map(|name| row(&key("acme", "totals", name), 1, 1))
        .collect();
    let owner = tenant("acme");
    for items in [1, 5, 12, 50] {
        let limits = Limits::items(items);
        let listed = all_pages(limits, |from, limits| folds.list(&owner, "totals", from, limits)).await;
        assert_eq!(listed, expected);
    }
    let tight = Limits { items: 50, bytes: 1 };
    let pages = in_pages(tight, |from, limits| folds.list(&owner, "totals", from, limits)).await;
    assert!(
        pages.iter().all(|page| page.len() <= 1),
        "a first row that is too large comes alone"
    );
    assert_eq!(pages.concat(), expected);
    let nobody = tenant("nobody");
    assert_eq!(
        all_pages(Limits::items(5), |from, limits| folds
            .list(&nobody, "totals", from, limits))
        .await,
        []
    );
}

/// G3: a stored state survives the process.
pub async fn states_outlive_the_process(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let row = row(&key("acme", "totals", "a"), 5, 1);
    store(&*harness.ports.folds, row.clone()).await;
    assert_eq!(load(&*harness.ports.folds, &row.key).await, Some(row.clone()));
    let harness = fixture.restart(harness).await;
    let kept = load(&*harness.ports.folds, &row.key).await;
    assert_eq!(kept, fixture.declares().durable.then_some(row));
}
