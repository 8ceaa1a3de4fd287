//! One run: commands come in while processes come and go, then all is worked off and judged.
use super::{
    clock::JumpyClock, history::History, operator::Operator, oracle, plan::plan, watch::Watch,
    weather::Weather,
};
use crate::support::{
    All, Anything, Bench, Count, Ear, Ends, Faults, Finish, Heard, Journal, Note, Odds, Parity, Reaction,
    Run, RunEvent, START, Seeded, Sibling, Story, Suite, Supple, Take, Total, Totals, Usage,
};
use foldwright_adapter_memory::Memory;
use foldwright_domain::{Dispatch, Millis};
use foldwright_ports::QueueSettings;
use foldwright_runtime::{Global, Kernel, KernelBuilder, Pipeline, Role, WorkerSettings};
use std::{sync::Arc, time::Duration};

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

    /// What the next runs do instead of hearing.
    fn misbehave(&self, seeded: &mut Seeded) {
        let bad = [
            Reaction::Retry,
            Reaction::Fatal,
            Reaction::Panic,
            Reaction::Slow(Duration::from_millis(300)),
            Reaction::Slow(Duration::from_secs(40)),
        ];
        let mut some = || {
            (0..seeded.below(6))
                .map(|_| *seeded.pick(&bad))
                .collect::<Vec<_>>()
        };
        self.totals.react(some());
        self.story.react(some());
        self.settled.react(some());
        self.odds.react(some());
        self.usage.react(some());
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

/// Runs a seed and judges it.
pub(crate) async fn run(seed: u64, history: &History) {
    let mut seeded = Seeded::new(seed);
    let weather = Weather::of(&mut seeded);
    history.note(format!("seed {seed}: {weather:?}"));
    let clock = Arc::new(JumpyClock::new(Millis(START)));
    let memory = Memory::new(clock.clone(), QueueSettings::default());
    let (watch, ports) = Watch::over(&memory.ports());
    let bench = Bench::over(ports, seed);
    let ears = Ears::new();
    if weather.bad_subscribers {
        ears.misbehave(&mut seeded);
    }
    let web = ears.wire(bench.with_role(Role::Web)).start().unwrap();
    let mut operator = Operator::new(&web, history);
    let commands = 5 + seeded.below(45);
    let mut sent = plan(&mut seeded, commands);
    let rounds = 1 + seeded.below(4);
    let size = sent.len().div_ceil(usize::try_from(rounds).unwrap());
    for part in sent.chunks_mut(size) {
        let processes: Vec<_> = (0..=seeded.below(2))
            .map(|_| process(&bench, &ears, weather, &mut seeded, history))
            .collect();
        for one in part {
            one.send(&web, seeded.one_in(2)).await;
            history.note(format!("sent {:?} of {}", one.command, one.tenant));
            watch.assert_unbroken();
            if weather.clock_jumps && seeded.one_in(8) {
                let ms = Weather::jump(&mut seeded);
                history.note(format!("the clock jumps by {ms} ms"));
                clock.jump(ms);
            }
            if weather.operator && seeded.one_in(6) {
                operator.act(&mut seeded).await;
            }
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
            history.note("a process is gone");
            drop(kernel);
        }
        if seeded.one_in(2) {
            tokio::time::sleep(Duration::from_millis(seeded.below(60_000))).await;
        }
    }
    history.note("the weather clears");
    operator.let_all_go().await;
    let last = ears.wire(bench.kernel()).start().unwrap();
    operator.settle_down(&last).await;
    assert!(bench.ports.queue_admin.depth().await.unwrap().is_empty());
    oracle::judge(&bench, &sent, &ears, &watch).await;
    last.close().await;
    watch.assert_unbroken();
}

/// A process whose calls go wrong.
fn process(
    bench: &Bench,
    ears: &Ears,
    weather: Weather,
    seeded: &mut Seeded,
    history: &History,
) -> (Kernel, Arc<Faults>) {
    let (seed, history) = (seeded.next(), history.clone());
    let name = format!("p{:03}", seed % 1_000);
    history.note(format!("{name} starts"));
    let note = move |line| history.note(format!("{name} {line}"));
    let faults = Arc::new(Faults::random(seed, weather.trouble, note));
    let settings = WorkerSettings {
        bulk_lanes: 1 + usize::try_from(seeded.below(2)).unwrap(),
        max_jobs_per_group: *seeded.pick(&[1, 3, 500]),
        max_groups: *seeded.pick(&[1, 4, 128]),
        ..WorkerSettings::default()
    };
    let kernel = ears.wire(bench.faulty(&faults)).worker(settings).start().unwrap();
    (kernel, faults)
}
