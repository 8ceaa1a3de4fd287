//! The corpus through the kernel as a library, on every composition, against the totals.
use flate2::read::GzDecoder;
use foldwright::{Kernel, Reader, Role, domain::TenantId, ports::Limits};
use foldwright_tests::{Composition, Ignore, corpus_file};
use foldwright_traces::{
    ingest::{Input, Tenants, ingest},
    pipeline::pipeline,
    service_usage::{ServiceUsage, Usage},
    show::{Query, show},
    spans::Spans,
};
use std::{collections::BTreeMap, fs::File, io::Read};

/// G2, G3, M-02, X-06: summaries, the keyed fold and the map agree with the right answers, wherever they are kept.
async fn corpus_is_exact(composition: Composition) {
    let stores = composition.open().unwrap();
    let pipeline = pipeline(Ignore).unwrap();
    let kernel = Kernel::builder(stores.ports.clone(), Role::All)
        .pipeline(pipeline)
        .start()
        .unwrap();
    let input = Input {
        file: corpus_file("traces.otlp.pb.gz"),
        tenants: Tenants::File(corpus_file("requests.jsonl")),
    };
    ingest(&kernel, input).await.unwrap();
    let reader = kernel.reader();
    let mut shown = Vec::new();
    show(
        &reader,
        &Query {
            tenant: None,
            trace: None,
            json: true,
        },
        &mut shown,
    )
    .await
    .unwrap();
    assert_eq!(
        String::from_utf8(shown).unwrap(),
        unzipped("trace_summaries.jsonl.gz")
    );

    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(corpus_file("expected.json")).unwrap()).unwrap();
    let mut by_service: BTreeMap<String, u64> = BTreeMap::new();
    let mut total = Usage::default();
    for tenant in reader.tenants().await.unwrap() {
        let spans = count_spans(&reader, &tenant).await;
        assert_eq!(expected["spans_by_tenant"][tenant.as_str()], spans);
        for row in reader
            .states::<ServiceUsage>(&tenant, None, Limits::items(1_000))
            .await
            .unwrap()
            .items
        {
            let row = row.unwrap();
            let key: serde_json::Value = serde_json::from_str(&row.key.key).unwrap();
            *by_service
                .entry(key["service"].as_str().unwrap().into())
                .or_default() += row.state.spans;
            total.errors += row.state.errors;
            total.tokens += row.state.tokens;
        }
    }
    assert_eq!(
        serde_json::to_value(by_service).unwrap(),
        expected["spans_by_service"]
    );
    assert_eq!(total.errors, expected["error_spans"]);
    let tokens = expected["input_tokens"].as_u64().unwrap() + expected["output_tokens"].as_u64().unwrap();
    assert_eq!(total.tokens, tokens);
    kernel.close().await;
    stores.close().await.unwrap();
}

async fn count_spans(reader: &Reader, tenant: &TenantId) -> u64 {
    let (mut count, mut from) = (0, None);
    loop {
        let page = reader
            .records::<Spans>(tenant, None, from, Limits::items(1_000))
            .await
            .unwrap();
        count += page.items.len() as u64;
        from = page.next;
        if from.is_none() {
            return count;
        }
    }
}

fn unzipped(name: &str) -> String {
    let mut text = String::new();
    GzDecoder::new(File::open(corpus_file(name)).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn corpus_is_exact_in_memory() {
    corpus_is_exact(Composition::Memory).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn corpus_is_exact_on_sqlite() {
    corpus_is_exact(Composition::Sqlite).await;
}
