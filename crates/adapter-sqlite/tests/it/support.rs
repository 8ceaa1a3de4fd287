//! Values that the tests are made of.
use bytes::Bytes;
use foldwright_adapter_sqlite::{Sqlite, SqliteSettings};
use foldwright_domain::{
    AggregateId, Batch, CommandId, EventId, Identity, Meta, Millis, Position, RawEvent, StreamKey, TenantId,
};
use foldwright_ports::{
    Append, Body, Capabilities, Capability, Expect, GroupId, JobId, NewJob, Nonce, Route, Want,
};
use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;

pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// A directory with the path of a file in it that is not there yet.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    (directory, path)
}

pub(crate) fn open(path: &Path) -> Sqlite {
    Sqlite::open(path, SqliteSettings::default()).unwrap()
}

/// A store that moves its write-ahead file after so few pages.
pub(crate) fn open_with_checkpoints(path: &Path, checkpoint_pages: u32) -> Sqlite {
    let settings = SqliteSettings {
        checkpoint_pages,
        ..SqliteSettings::default()
    };
    Sqlite::open(path, settings).unwrap()
}

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub(crate) fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

pub(crate) fn route() -> Route {
    Route::parse("shop/fold/totals").unwrap()
}

/// Nonces that differ within one process.
pub(crate) fn nonce() -> Nonce {
    static LAST: AtomicU64 = AtomicU64::new(1);
    Nonce(u128::from(std::process::id()) << 64 | u128::from(LAST.fetch_add(1, Ordering::Relaxed)))
}

pub(crate) fn group(tenant_name: &str, key: &str) -> GroupId {
    GroupId {
        tenant: tenant(tenant_name),
        path: route().path().into(),
        key: key.into(),
    }
}

pub(crate) fn command(n: u64) -> CommandId {
    CommandId::from_u128(u128::from(n) << 12)
}

/// Job number `n`; the number is its place in line too.
pub(crate) fn job(n: u64, group: &GroupId) -> NewJob {
    NewJob {
        id: JobId::of_command(command(n), &route()),
        route: route(),
        group: group.clone(),
        position: None,
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: 1,
        header: Bytes::from_static(b"header"),
        body: Body::Inline(Bytes::from(format!("body {n}"))),
        context: None,
    }
}

pub(crate) fn want(groups: usize, jobs: usize) -> Want {
    let routes = [(route(), Capability { version: 1 })].into_iter().collect();
    Want {
        capabilities: Arc::new(Capabilities { routes, format: 1 }),
        max_groups: groups,
        max_jobs_per_group: jobs,
        max_bytes: u64::MAX,
        lease: LEASE,
    }
}

pub(crate) fn stream(tenant_name: &str, id: &str) -> StreamKey {
    StreamKey {
        tenant: tenant(tenant_name),
        aggregate_type: "order".into(),
        id: AggregateId::parse(id).unwrap(),
    }
}

/// Event number `n` of a stream.
pub(crate) fn event(n: u64, stream: &StreamKey) -> RawEvent {
    let id = command(n).event(0).unwrap();
    RawEvent {
        meta: Meta {
            id,
            identity: Identity::of_id(id),
            stream: stream.clone(),
            event_type: "shop.sales.order.placed".into(),
            version: "2026-03-01".into(),
            occurred_at: Millis(1_764_500_000_000),
            accepted_at: Millis(1_764_500_000_000),
            idempotency_key: None,
            correlation_id: command(n),
            causation_id: EventId::from_u128(7),
            trace_context: None,
        },
        data: Bytes::from(format!("{{\"n\":{n}}}")),
    }
}

pub(crate) fn append(n: u64, stream: &StreamKey) -> Append {
    Append {
        batch: Batch::new(stream, vec![event(n, stream)]).unwrap(),
        expect: Expect::Any,
    }
}

pub(crate) fn position(n: u64) -> Position {
    Position {
        occurred_at: Millis(1),
        id: command(n).event(0).unwrap(),
    }
}
