//! Bodies, in both tiers.
use crate::{
    Fixture, Harness,
    kit::{all_pages, secs, tenant},
};
use bytes::Bytes;
use foldwright_domain::Millis;
use foldwright_ports::{BlobEntry, BlobHash, BlobRef, BlobStore, Limits};

fn of(owner: &str, raw: &[u8]) -> BlobRef {
    BlobRef {
        tenant: tenant(owner),
        hash: BlobHash::of(raw),
    }
}

fn tiers(harness: &Harness) -> [&dyn BlobStore; 2] {
    [&*harness.ports.hot_blobs, &*harness.ports.cold_blobs]
}

async fn list(blobs: &dyn BlobStore, before: Millis, items: usize) -> Vec<BlobEntry> {
    all_pages(Limits::items(items), |from, limits| {
        blobs.list(before, from, limits)
    })
    .await
}

/// B-05, B-24: every byte comes back; absent is absent.
pub async fn a_body_comes_back_byte_for_byte(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    for (n, blobs) in tiers(&harness).into_iter().enumerate() {
        let tier = [u8::try_from(n).unwrap()];
        let every_byte: Vec<u8> = (0..=255).chain(tier).collect();
        let large: Vec<u8> = tier
            .into_iter()
            .chain((0..2 << 20).map(|n: u32| n.to_be_bytes()[2]))
            .collect();
        for raw in [b"".as_slice(), b"\0", b"null", &every_byte, &large] {
            let named: Vec<u8> = [&tier, raw].concat();
            let blob = of("acme", &named);
            assert_eq!(blobs.get(&blob).await.unwrap(), None);
            blobs.put(&blob, Bytes::copy_from_slice(raw)).await.unwrap();
            assert_eq!(blobs.get(&blob).await.unwrap().as_deref(), Some(raw));
        }
    }
}

/// B-05: the second put changes nothing but when it was touched.
pub async fn a_second_put_only_touches(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    for (n, blobs) in tiers(&harness).into_iter().enumerate() {
        let blob = of("acme", format!("raw {n}").as_bytes());
        let first = Bytes::from_static(b"stored as one compressor writes it");
        blobs.put(&blob, first.clone()).await.unwrap();
        let before = list(blobs, Millis(i64::MAX), 10).await;
        let entry = before.iter().find(|entry| entry.blob == blob).unwrap().clone();
        assert_eq!(entry.bytes, first.len() as u64);
        fixture.elapse(&harness, secs(5)).await;
        let second = Bytes::from_static(b"as another one writes it");
        blobs.put(&blob, second).await.unwrap();
        assert_eq!(blobs.get(&blob).await.unwrap(), Some(first));
        let after = list(blobs, Millis(i64::MAX), 10).await;
        let again = after.iter().find(|entry| entry.blob == blob).unwrap();
        assert_eq!((after.len(), again.bytes), (before.len(), entry.bytes));
        assert!(
            again.touched_at >= entry.touched_at.plus(secs(5)),
            "{again:?} after {entry:?}"
        );
    }
}

/// B-09, T-05, G11: equal bytes of two tenants are two bodies.
pub async fn tenants_have_their_own_bodies(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    for (n, blobs) in tiers(&harness).into_iter().enumerate() {
        let raw = format!("shared {n}");
        let [acme, globex] = ["acme", "globex"].map(|owner| of(owner, raw.as_bytes()));
        let stored = Bytes::from(raw);
        blobs.put(&acme, stored.clone()).await.unwrap();
        assert_eq!(blobs.get(&globex).await.unwrap(), None);
        assert!(!blobs.delete_untouched(&globex, Millis(i64::MAX)).await.unwrap());
        blobs.put(&globex, stored.clone()).await.unwrap();
        assert!(blobs.delete_untouched(&acme, Millis(i64::MAX)).await.unwrap());
        assert_eq!(blobs.get(&acme).await.unwrap(), None);
        assert_eq!(blobs.get(&globex).await.unwrap(), Some(stored));
    }
}

/// B-15: every body that was last put before an instant, of all tenants, once, in pages of any size.
pub async fn bodies_are_listed_by_touch(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let blobs = &*harness.ports.cold_blobs;
    let put = |raw: String| async move {
        let owner = if raw.len().is_multiple_of(2) {
            "acme"
        } else {
            "globex"
        };
        let blob = of(owner, raw.as_bytes());
        blobs.put(&blob, Bytes::from(raw)).await.unwrap();
        blob
    };
    let mut old = Vec::new();
    for n in 0..12 {
        old.push(put(format!("old {n}")).await);
    }
    fixture.elapse(&harness, secs(10)).await;
    let border = harness.ports.clock.now().minus(secs(5));
    let young = put("young".into()).await;
    old.sort();
    let mut orders = Vec::new();
    for items in [1, 5, 12, 50] {
        let listed: Vec<_> = list(blobs, border, items)
            .await
            .into_iter()
            .map(|entry| entry.blob)
            .collect();
        orders.push(listed.clone());
        let mut sorted = listed;
        sorted.sort();
        assert_eq!(sorted, old);
    }
    assert!(
        orders.windows(2).all(|pair| pair[0] == pair[1]),
        "the order is stable"
    );
    fixture.elapse(&harness, secs(5)).await;
    let all = list(blobs, harness.ports.clock.now(), 50).await;
    assert_eq!(all.len(), 13);
    assert!(all.iter().any(|entry| entry.blob == young));
}

/// B-11, B-16: a body that was put again meanwhile stays.
pub async fn a_body_that_was_put_again_is_not_deleted(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    for (n, blobs) in tiers(&harness).into_iter().enumerate() {
        let raw = format!("raw {n}");
        let blob = of("acme", raw.as_bytes());
        let stored = Bytes::from(raw);
        blobs.put(&blob, stored.clone()).await.unwrap();
        fixture.elapse(&harness, secs(10)).await;
        let judged = harness.ports.clock.now().minus(secs(5));
        blobs.put(&blob, stored.clone()).await.unwrap();
        assert!(!blobs.delete_untouched(&blob, judged).await.unwrap());
        assert_eq!(blobs.get(&blob).await.unwrap(), Some(stored));
        fixture.elapse(&harness, secs(10)).await;
        let judged = harness.ports.clock.now().minus(secs(5));
        assert!(blobs.delete_untouched(&blob, judged).await.unwrap());
        assert_eq!(blobs.get(&blob).await.unwrap(), None);
        assert!(
            !blobs.delete_untouched(&blob, judged).await.unwrap(),
            "it is gone already"
        );
        let left = list(blobs, Millis(i64::MAX), 10).await;
        assert!(left.iter().all(|entry| entry.blob != blob));
    }
}

/// B-12: nothing expires by itself.
pub async fn a_body_does_not_expire(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let blobs = &*harness.ports.hot_blobs;
    let blob = of("acme", b"raw");
    blobs.put(&blob, Bytes::from_static(b"raw")).await.unwrap();
    fixture.elapse(&harness, secs(30 * 24 * 60 * 60)).await;
    assert_eq!(
        blobs.get(&blob).await.unwrap().as_deref(),
        Some(b"raw".as_slice())
    );
}

/// B-24: what another handle has put is there, and outlives the process.
pub async fn bodies_outlive_the_process(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let second = fixture.reopen(&harness).await;
    let blob = of("acme", b"raw");
    let stored = Bytes::from_static(b"stored");
    second.cold_blobs.put(&blob, stored.clone()).await.unwrap();
    assert_eq!(
        harness.ports.cold_blobs.get(&blob).await.unwrap(),
        Some(stored.clone())
    );
    drop(second);
    let harness = fixture.restart(harness).await;
    let kept = harness.ports.cold_blobs.get(&blob).await.unwrap();
    assert_eq!(kept, fixture.declares().durable.then_some(stored));
}
