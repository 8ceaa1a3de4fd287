//! The note that a trace has settled.
use foldwright::{Reader, domain::TenantId, ports::Limits};
use foldwright_traces::{
    ingest::{Input, Tenants, ingest},
    store::Store,
    trace_settled::SettledTraces,
    trace_summary::TraceSummary,
};
use std::{path::Path, time::Duration};

fn sample(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

async fn traces_of(reader: &Reader, tenant: &TenantId) -> u64 {
    let page = reader
        .states::<TraceSummary>(tenant, None, Limits::items(10_000))
        .await
        .unwrap();
    assert!(page.next.is_none());
    page.items.len() as u64
}

/// S-11, S-01: every trace settles once its spans have stopped coming, and is noted once with all of its spans.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_trace_settles() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("traces.db")).unwrap();
    let kernel = store.start().await.unwrap();
    let tenants = Tenants::File(sample("sample.requests.jsonl"));
    let input = Input {
        file: sample("sample.otlp.jsonl.gz"),
        tenants,
    };
    let ingested = ingest(&kernel, input).await.unwrap();
    loop {
        let subscribers = kernel.backlog().await.unwrap().subscribers;
        assert_eq!((subscribers.blocked, subscribers.dead), (0, 0));
        if subscribers.waiting + subscribers.leased == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let settled = SettledTraces::open(store.sqlite().clone()).await.unwrap();
    for totals in &ingested.tenants {
        let expected = traces_of(&kernel.reader(), &totals.tenant).await;
        assert_eq!(
            settled.count(&totals.tenant).await.unwrap(),
            (expected, totals.spans)
        );
    }
    kernel.close().await;
    store.close().await.unwrap();
}
