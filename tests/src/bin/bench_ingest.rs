//! How many spans a second go through the whole kernel: send, command, log, two folds, a map, a debounced subscriber.
#![forbid(unsafe_code)]

use clap::Parser;
use foldwright::{Kernel, Role};
use foldwright_tests::{Composition, Ignore, Report, corpus_file, median};
use foldwright_traces::{
    ingest::{Input, Tenants, ingest},
    pipeline::pipeline,
};
use std::error::Error;

/// As the example services do: the kernel makes many small values on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Ingests the corpus into fresh stores.
#[derive(Parser)]
struct Cli {
    /// Only this composition: memory, sqlite or sqlite_normal.
    #[arg(long)]
    scenario: Option<String>,
    /// How often; the median counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let cli = Cli::parse();
    let wanted = |c: &Composition| cli.scenario.as_deref().is_none_or(|name| name == c.name());
    let chosen: Vec<_> = Composition::ALL.into_iter().filter(wanted).collect();
    if chosen.is_empty() {
        return Err(format!(
            "no such scenario, there are {:?}",
            Composition::ALL.map(Composition::name)
        )
        .into());
    }
    let mut rates = vec![Vec::new(); chosen.len()];
    // Rounds alternate between the compositions, so that a noisy minute hits all of them.
    for _ in 0..cli.rounds {
        for (composition, rates) in chosen.iter().zip(&mut rates) {
            rates.push(round(*composition).await?);
        }
    }
    for (composition, rates) in chosen.iter().zip(rates) {
        Report::new("ingest", composition.name())
            .figure("rounds_count", cli.rounds)
            .figure("median_spans_per_second", median(rates.clone()).round())
            .figure(
                "slowest_spans_per_second",
                rates.iter().copied().fold(f64::INFINITY, f64::min).round(),
            )
            .figure(
                "fastest_spans_per_second",
                rates.iter().copied().fold(0.0, f64::max).round(),
            )
            .print();
    }
    Ok(())
}

async fn round(composition: Composition) -> Result<f64, Box<dyn Error + Send + Sync>> {
    let stores = composition.open()?;
    let kernel = Kernel::builder(stores.ports.clone(), Role::All)
        .pipeline(pipeline(Ignore)?)
        .start()?;
    let input = Input {
        file: corpus_file("traces.otlp.jsonl.gz"),
        tenants: Tenants::File(corpus_file("requests.jsonl")),
    };
    let ingested = ingest(&kernel, input).await?;
    kernel.close().await;
    stores.close().await?;
    Ok(ingested.spans as f64 / ingested.elapsed.as_secs_f64())
}
