//! Laws of exact folds over random histories.
use crate::support::{Bench, Note, Parity, Run, Story, Totals, idle, keyed_note, tenant};
use foldwright_domain::{Fold, KeyedFold};
use foldwright_ports::{StateKey, StateRow};
use foldwright_runtime::{Pipeline, WorkerSettings};
use proptest::prelude::*;

/// A number and when it occurred; the number is its idempotency key too.
type Sent = (u64, i64);

/// A history with every number once.
fn history() -> impl Strategy<Value = Vec<Sent>> {
    prop::collection::vec(0_i64..12, 1..24).prop_map(|times| {
        times
            .into_iter()
            .enumerate()
            .map(|(n, ms)| (n as u64, ms))
            .collect()
    })
}

/// What is sent, cut into groups of which each is worked off before the next, with some of it again.
fn deliveries() -> impl Strategy<Value = (Vec<Vec<Sent>>, usize)> {
    let cuts = prop::collection::vec(1_usize..7, 24);
    let again = prop::collection::vec(prop::bool::weighted(0.3), 24);
    let all = history().prop_flat_map(|sent| Just(sent).prop_shuffle());
    (all, cuts, again, 1_usize..6).prop_map(|(sent, cuts, again, limit)| {
        let mut parts = Vec::new();
        let mut rest = sent.as_slice();
        for size in cuts {
            let (part, tail) = rest.split_at(size.min(rest.len()));
            rest = tail;
            let earlier = sent
                .iter()
                .zip(&again)
                .take(sent.len() - rest.len())
                .filter(|(_, again)| **again);
            let resent = earlier.map(|(one, _)| *one);
            parts.push(part.iter().copied().chain(resent).collect());
            if rest.is_empty() {
                break;
            }
        }
        (parts, limit)
    })
}

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .keyed::<Parity>(|f| f)
        .build()
        .unwrap()
}

/// The rows after these deliveries.
fn rows(parts: &[Vec<Sent>], limit: usize) -> Vec<Option<StateRow>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let bench = Bench::new();
        let settings = WorkerSettings {
            max_jobs_per_group: limit,
            ..WorkerSettings::default()
        };
        let kernel = bench
            .kernel()
            .pipeline(pipeline())
            .worker(settings)
            .start()
            .unwrap();
        for part in parts {
            let intents = part
                .iter()
                .map(|(n, ms)| keyed_note("r", *ms, *n, &n.to_string()));
            kernel.send_all(intents).await.unwrap();
            idle(&kernel).await;
        }
        let key = |projection: &str, key: &str| StateKey {
            tenant: tenant("a"),
            projection: projection.into(),
            key: key.into(),
        };
        let keys = [
            key(Totals::NAME, "r"),
            key(Story::NAME, "r"),
            key(
                Parity::NAME,
                &serde_json::to_string::<<Parity as KeyedFold>::Key>(&0).unwrap(),
            ),
            key(Parity::NAME, "1"),
        ];
        bench.ports.folds.load(&keys).await.unwrap()
    })
}

fn bytes(rows: &[Option<StateRow>]) -> Vec<Option<(&[u8], u64)>> {
    rows.iter()
        .map(|row| row.as_ref().map(|row| (row.state.as_ref(), row.events)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// X-01, X-02, X-05, G3: whatever the order, the cuts, the batch limit and the redeliveries, the same bytes.
    #[test]
    fn any_delivery_leads_to_the_bytes_of_the_canonical_fold((parts, limit) in deliveries()) {
        let mut sent: Vec<Sent> = parts.concat();
        // Ids follow the order in which a number was sent first, so the sort by time keeps it.
        let mut seen = std::collections::BTreeSet::new();
        sent.retain(|(n, _)| seen.insert(*n));
        sent.sort_by_key(|(_, ms)| *ms);
        let rows = rows(&parts, limit);
        let story: Vec<u64> = serde_json::from_slice(&rows[1].as_ref().unwrap().state).unwrap();
        prop_assert_eq!(&story, &sent.iter().map(|(n, _)| *n).collect::<Vec<_>>());
        let one_by_one: Vec<_> = sent.iter().map(|one| vec![*one]).collect();
        let canonical = self::rows(&one_by_one, 1);
        prop_assert_eq!(bytes(&canonical)[0], bytes(&rows)[0]);
        prop_assert_eq!(bytes(&canonical)[2..].to_vec(), bytes(&rows)[2..].to_vec());
        // One by one in canonical order gives ids in another order at equal times, so the story is compared above.
        prop_assert_eq!(rows[1].as_ref().unwrap().events, sent.len() as u64);
        let one_batch = self::rows(&[parts.concat()], 500);
        prop_assert_eq!(bytes(&one_batch), bytes(&rows));
    }
}
