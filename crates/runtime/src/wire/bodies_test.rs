//! Tiers, names and tenants of bodies.
use super::{Bodies, BodyError, WireError};
use bytes::Bytes;
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{BlobEntry, BlobHash, BlobRef, BlobStore, Body, Limits, Ports, QueueSettings};
use std::{sync::Arc, time::Duration};

fn store() -> (Ports, Bodies) {
    let clock = Arc::new(VirtualClock::new(Millis(0)));
    let ports = Memory::new(clock, QueueSettings::default()).ports();
    let bodies = Bodies::new(ports.hot_blobs.clone(), ports.cold_blobs.clone());
    (ports, bodies)
}

fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

/// Bytes that do not compress.
fn noise(length: usize) -> Bytes {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

async fn held(tier: &Arc<dyn BlobStore>) -> Vec<BlobEntry> {
    tier.list(Millis(i64::MAX), None, Limits::items(100))
        .await
        .unwrap()
        .items
}

/// B-01, B-03
#[tokio::test(start_paused = true)]
async fn the_stored_size_picks_the_tier() {
    const KIB: usize = 1 << 10;
    let sizes = [
        (0, 0, 0),
        (4 * KIB, 0, 0),
        (4 * KIB + 1, 1, 0),
        (256 * KIB, 1, 0),
        (256 * KIB + 1, 0, 1),
    ];
    for (bytes, hot, cold) in sizes {
        let (ports, bodies) = store();
        let raw = noise(bytes);
        let written = bodies.write(&tenant("a"), &raw).await.unwrap();
        assert_eq!(bodies.read(&tenant("a"), &written.body).await.unwrap(), raw);
        assert_eq!(
            (
                held(&ports.hot_blobs).await.len(),
                held(&ports.cold_blobs).await.len()
            ),
            (hot, cold),
            "{bytes}"
        );
        assert_eq!(written.body.blob().is_some(), hot + cold > 0);
        assert_eq!(
            (written.info.blob, written.info.raw_bytes),
            (written.body.blob(), bytes as u64)
        );
    }
    // What compresses well stays inline, however large it was.
    let (_, bodies) = store();
    let written = bodies
        .write(&tenant("a"), &Bytes::from(vec![7; 100_000]))
        .await
        .unwrap();
    assert!(matches!(written.body, Body::Inline(_)));
}

/// B-05
#[tokio::test(start_paused = true)]
async fn equal_bodies_are_one_and_a_second_put_changes_nothing() {
    let (ports, bodies) = store();
    let raw = noise(10_000);
    let first = bodies.write(&tenant("a"), &raw).await.unwrap();
    let before = held(&ports.hot_blobs).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let second = bodies.write(&tenant("a"), &raw).await.unwrap();
    assert_eq!(first.body, second.body);
    let after = held(&ports.hot_blobs).await;
    assert_eq!(
        (after.len(), after[0].bytes, &after[0].blob),
        (1, before[0].bytes, &before[0].blob)
    );
    assert_eq!(after[0].blob.hash, BlobHash::of(&raw));
    assert_eq!(after[0].touched_at, Millis(1_000));
}

/// B-05: another build compresses differently, and the body of the first writer serves both.
#[tokio::test(start_paused = true)]
async fn a_body_says_itself_how_it_is_stored() {
    let (ports, bodies) = store();
    let raw = Bytes::from(noise(3_000).repeat(2));
    let blob = BlobRef {
        tenant: tenant("a"),
        hash: BlobHash::of(&raw),
    };
    let plain: Bytes = std::iter::once(1).chain(raw.iter().copied()).collect();
    ports.hot_blobs.put(&blob, plain).await.unwrap();
    let mut written = bodies.write(&tenant("a"), &raw).await.unwrap().body;
    if let Body::Inline(_) = written {
        written = Body::Blob {
            hash: blob.hash,
            bytes: 5_000,
        };
    }
    assert_eq!(bodies.read(&tenant("a"), &written).await.unwrap(), raw);
}

/// B-20: a body of an encoding that only a newer build knows says so, and one of none does not.
#[tokio::test(start_paused = true)]
async fn a_newer_encoding_is_told_apart_from_garbage() {
    let (_, bodies) = store();
    for (tag, newer) in [(0, false), (3, true), (255, true)] {
        let body = Body::Inline(Bytes::from(vec![tag, b'x']));
        let Err(BodyError::Wire(error)) = bodies.read(&tenant("a"), &body).await else {
            panic!("tag {tag} was read");
        };
        assert_eq!(
            matches!(error, WireError::Newer { version, .. } if version == tag),
            newer,
            "{error}"
        );
        assert_eq!(matches!(error, WireError::Foreign { .. }), !newer, "{error}");
    }
}

/// B-09
#[tokio::test(start_paused = true)]
async fn equal_bodies_of_two_tenants_are_two() {
    let (ports, bodies) = store();
    let raw = noise(10_000);
    let mine = bodies.write(&tenant("a"), &raw).await.unwrap();
    let theirs = bodies.write(&tenant("b"), &raw).await.unwrap();
    assert_eq!(held(&ports.hot_blobs).await.len(), 2);
    let blob = BlobRef {
        tenant: tenant("b"),
        hash: theirs.body.blob().unwrap(),
    };
    assert!(
        ports
            .hot_blobs
            .delete_untouched(&blob, Millis(i64::MAX))
            .await
            .unwrap()
    );
    assert_eq!(bodies.read(&tenant("a"), &mine.body).await.unwrap(), raw);
    assert!(matches!(
        bodies.read(&tenant("b"), &theirs.body).await,
        Err(BodyError::Missing { .. })
    ));
}

/// B-10, G11
#[tokio::test(start_paused = true)]
async fn a_reference_is_read_under_the_tenant_of_its_job_alone() {
    let (ports, bodies) = store();
    let raw = noise(10_000);
    let theirs = bodies.write(&tenant("b"), &raw).await.unwrap();
    assert!(matches!(
        bodies.read(&tenant("a"), &theirs.body).await,
        Err(BodyError::Missing { .. })
    ));
    // Other bytes under the name of a body are not handed out.
    let blob = BlobRef {
        tenant: tenant("a"),
        hash: theirs.body.blob().unwrap(),
    };
    ports
        .hot_blobs
        .put(&blob, Bytes::from_static(b"\x01forged"))
        .await
        .unwrap();
    assert!(matches!(
        bodies.read(&tenant("a"), &theirs.body).await,
        Err(BodyError::Forged { .. })
    ));
    // A size that names the wrong tier finds nothing there.
    let moved = Body::Blob {
        hash: blob.hash,
        bytes: 1 << 20,
    };
    assert!(matches!(
        bodies.read(&tenant("b"), &moved).await,
        Err(BodyError::Missing { .. })
    ));
}

/// B-04
#[tokio::test(start_paused = true)]
async fn nothing_is_stored_of_a_body_that_is_too_large() {
    let (ports, bodies) = store();
    let error = bodies
        .write(&tenant("a"), &Bytes::from(vec![0; (50 << 20) + 1]))
        .await
        .unwrap_err();
    assert!(matches!(error, BodyError::TooLarge(_)));
    assert!(held(&ports.hot_blobs).await.is_empty() && held(&ports.cold_blobs).await.is_empty());
}
