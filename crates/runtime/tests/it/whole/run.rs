//! One run: commands come in while processes come and go, then all is worked off and judged.
use super::{oracle, plan::plan};
use crate::support::{
    All, Anything, Bench, Count, Ear, Ends, Faults, Finish, Heard, Journal, Note, Odds, Parity, Reaction,
    Run, RunEvent, Seeded, Sibling, Story, Suite, Supple, Take, Total, Totals, Usage, idle,
};
use foldwright_domain::Dispatch;
use foldwright_ports::StateRow;
use foldwright_runtime::{Global, Kernel, KernelBuilder, Pipeline, Role, WorkerSettings};
use std::{sync::Arc, time::Duration};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weather {
    /// Few calls fail, and each process dies early.
    Deadly,
    /// Many calls fail, and processes live on.
    Stormy,
}

/// What the subscribers of all processes have heard.
pub(super) struct Ears {
    pub(super) totals: Arc<Heard<Total>>,
    pub(super) story: Arc<Heard<Vec<u64>>>,
    pub(super) settled: Arc<Heard<Vec<u64>>>,
    pub(super) odds: Arc<Heard<u64>>,
    pub(super) usage: Arc<Heard<Total>>,
}

impl Ears {
    fn new() -> Self {
        Self {
            totals: Heard::new(),
            story: Heard::new(),
            settled: Heard::new(),
            odds: Heard::new(),
            usage: Heard::new(),
        }
    }

    /// The service under test.
    fn wire(&self, builder: KernelBuilder) -> KernelBuilder {
        let quiet = Dispatch::debounce(Duration::from_millis(700));
        let runs = Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .command::<Finish>()
            .decider::<Take>()
            .fold::<Totals>(|f| f.subscriber(Ear::<RunEvent, _, All>::new(&self.totals), Dispatch::each()))
            .fold::<Story>(|f| {
                f.subscriber(Ear::<RunEvent, _, All>::new(&self.story), Dispatch::each())
                    .subscriber(Ear::<RunEvent, _, Sibling>::new(&self.settled), quiet)
            })
            .fold::<Ends>(|f| f)
            .fold::<Supple>(|f| f)
            .keyed::<Parity>(|f| f)
            .map::<Odds>(|m| m.subscriber(Ear::<RunEvent, _, All>::new(&self.odds), Dispatch::each()))
            .build()
            .unwrap();
        let suites = Pipeline::<Suite>::define("suites")
            .declares::<Count>()
            .build()
            .unwrap();
        let all = Global::define("all")
            .keyed::<Usage>(|f| {
                f.subscriber(
                    Ear::<Anything, _, All>::new(&self.usage),
                    Dispatch::delayed(Duration::from_secs(2)),
                )
            })
            .map::<Journal>(|m| m)
            .build()
            .unwrap();
        builder.pipeline(runs).pipeline(suites).global(all)
    }
}

/// Runs a seed and judges it; answers all rows of one fold, so that two runs can be compared.
pub(crate) async fn run(weather: Weather, seed: u64) -> Vec<StateRow> {
    let mut seeded = Seeded::new(seed);
    let bench = Bench::seeded(seed);
    let ears = Ears::new();
    for heard in [&ears.totals, &ears.usage] {
        let bad = [Reaction::Retry, Reaction::Slow(Duration::from_millis(300))];
        heard.react(
            (0..seeded.below(6))
                .map(|_| *seeded.pick(&bad))
                .collect::<Vec<_>>(),
        );
    }
    let web = ears.wire(bench.with_role(Role::Web)).start().unwrap();
    let commands = 30 + seeded.below(60);
    let mut sent = plan(&mut seeded, commands);
    let rounds = 2 + seeded.below(5);
    let size = sent.len().div_ceil(usize::try_from(rounds).unwrap());
    for part in sent.chunks_mut(size) {
        let processes: Vec<_> = (0..=seeded.below(2))
            .map(|_| process(&bench, &ears, weather, &mut seeded))
            .collect();
        for one in part {
            one.send(&web).await;
            if seeded.one_in(3) {
                tokio::time::sleep(Duration::from_millis(seeded.below(900))).await;
            }
        }
        let patience = Duration::from_millis(seeded.below(20_000));
        for (kernel, faults) in processes {
            tokio::select! {
                biased;
                () = faults.died() => {}
                () = tokio::time::sleep(patience) => {}
            }
            drop(kernel);
        }
        if seeded.one_in(2) {
            tokio::time::sleep(Duration::from_millis(seeded.below(60_000))).await;
        }
    }
    let last = ears.wire(bench.kernel()).start().unwrap();
    idle(&last).await;
    assert!(bench.blocked().await.is_empty(), "{:?}", bench.blocked().await);
    assert!(bench.ports.queue_admin.depth().await.unwrap().is_empty());
    oracle::judge(&bench, &sent, &ears).await;
    last.close().await;
    oracle::rows(&bench, "story").await
}

/// A process whose calls go wrong.
fn process(bench: &Bench, ears: &Ears, weather: Weather, seeded: &mut Seeded) -> (Kernel, Arc<Faults>) {
    let (one_in, effects) = match weather {
        Weather::Deadly => (40, 120),
        Weather::Stormy => (6, 1_000_000),
    };
    let faults = Arc::new(Faults::random(seeded.next(), one_in, effects));
    let settings = WorkerSettings {
        bulk_lanes: 1 + usize::try_from(seeded.below(2)).unwrap(),
        max_jobs_per_group: *seeded.pick(&[1, 3, 500]),
        max_groups: *seeded.pick(&[1, 4, 128]),
        ..WorkerSettings::default()
    };
    let kernel = ears.wire(bench.faulty(&faults)).worker(settings).start().unwrap();
    (kernel, faults)
}
