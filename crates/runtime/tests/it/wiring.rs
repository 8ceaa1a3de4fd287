//! Putting kernels together, and builds of one service that know different parts of it.
use crate::support::{
    All, Bench, Ear, Ends, Evens, Faults, Finish, Heard, Note, Odds, Op, Parity, Run, RunEvent, Sibling,
    Story, Total, Totals, Usage, What, finish, idle, note, tenant,
};
use foldwright_domain::{Commutative, Dispatch, Fold, Map, RawEvent, Recorded, TenantId};
use foldwright_ports::{Cursor, EventLog, Limits, LogCapabilities, Page, RecordTable, Route, Selection};
use foldwright_runtime::{
    Global, KillSwitch, Pipeline, Role, SendRefused, SubscriberOptions, Switch, WorkerSettings,
};
use std::{error::Error, sync::Arc, time::Duration};

async fn waiting(bench: &Bench, route: &str) -> u64 {
    let depth = bench.ports.queue_admin.depth().await.unwrap();
    depth
        .get(&Route::parse(route).unwrap())
        .map_or(0, |depth| depth.waiting)
}

/// C-10, G12
#[test]
fn a_definition_lists_every_name_that_it_declares_twice() {
    let twice = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .fold::<Totals>(|f| f)
        .map::<Odds>(|m| m)
        .map::<Odds>(|m| m)
        .build();
    let faults = twice.err().unwrap();
    assert_eq!(faults.0.len(), 3);
    for (fault, name) in faults
        .0
        .iter()
        .zip(["command `note`", "fold `totals`", "map `odds`"])
    {
        assert!(fault.contains(name), "{fault}");
    }
    let globals = Global::define("all")
        .keyed::<Usage>(|f| f)
        .keyed::<Usage>(|f| f)
        .build();
    assert_eq!(globals.err().unwrap().0.len(), 1);
}

/// A table that is bound to nothing.
struct NoTable;

#[async_trait::async_trait]
impl RecordTable<u64> for NoTable {
    async fn append(&self, _: Vec<foldwright_ports::Record<u64>>) -> Vec<foldwright_ports::Result<()>> {
        Vec::new()
    }
}

/// A source of kill switches that is bound to nothing.
struct NoSource;

impl KillSwitch for NoSource {
    fn look_up(&self, _: &Route, _: &TenantId) -> Result<Switch, Box<dyn Error + Send + Sync>> {
        Ok(Switch::On)
    }
}

/// A log with a small pool.
struct Pooled(Arc<dyn EventLog>);

#[async_trait::async_trait]
impl EventLog for Pooled {
    fn connections(&self) -> Option<usize> {
        Some(11)
    }

    fn capabilities(&self) -> LogCapabilities {
        self.0.capabilities()
    }

    async fn append(
        &self,
        appends: Vec<foldwright_ports::Append>,
    ) -> Vec<Result<Vec<foldwright_ports::Appended>, foldwright_ports::AppendError>> {
        self.0.append(appends).await
    }

    async fn load(
        &self,
        stream: &foldwright_domain::StreamKey,
        from: Option<Cursor>,
        limits: Limits,
    ) -> foldwright_ports::Result<Page<RawEvent>> {
        self.0.load(stream, from, limits).await
    }

    async fn find(
        &self,
        events: &[foldwright_ports::EventRef],
    ) -> foldwright_ports::Result<Vec<Option<RawEvent>>> {
        self.0.find(events).await
    }

    async fn scan(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> foldwright_ports::Result<Page<RawEvent>> {
        self.0.scan(selection, from, limits).await
    }

    async fn aggregates(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> foldwright_ports::Result<Page<foldwright_domain::StreamKey>> {
        self.0.aggregates(selection, from, limits).await
    }

    async fn tenants(
        &self,
        from: Option<Cursor>,
        limits: Limits,
    ) -> foldwright_ports::Result<Page<TenantId>> {
        self.0.tenants(from, limits).await
    }

    async fn erase(&self, selection: &Selection, limit: usize) -> foldwright_ports::Result<usize> {
        self.0.erase(selection, limit).await
    }

    async fn retain(
        &self,
        retention: &foldwright_ports::Retention,
        limit: usize,
    ) -> foldwright_ports::Result<usize> {
        self.0.retain(retention, limit).await
    }
}

/// C-10: a pool that the worker's tasks would wait for.
#[tokio::test(start_paused = true)]
async fn a_pool_too_small_for_the_worker_is_a_fault() {
    let mut bench = Bench::new();
    bench.ports.log = Arc::new(Pooled(bench.ports.log.clone()));
    let runs = || Pipeline::<Run>::define("runs").fold::<Totals>(|f| f);
    let faults = bench.kernel().pipeline(runs()).start().unwrap_err();
    assert_eq!(faults.0.len(), 1);
    assert!(
        faults.0[0].contains("the log serves 11 calls at a time and the worker has 13 tasks"),
        "{faults}"
    );
    let fewer = WorkerSettings {
        effect_lanes: 6,
        ..WorkerSettings::default()
    };
    assert!(bench.kernel().pipeline(runs()).worker(fewer).start().is_ok());
    assert!(bench.with_role(Role::Web).pipeline(runs()).start().is_ok());
}

/// C-10, G12
#[tokio::test(start_paused = true)]
async fn a_composition_lists_every_fault_at_once() {
    let bench = Bench::new();
    let heard: Arc<Heard<Total>> = Heard::new();
    let pipeline = |name| {
        let nothing = Dispatch::debounce(Duration::ZERO);
        let often = SubscriberOptions::new(Dispatch::throttle(Duration::ZERO)).run_in([Role::Web]);
        Pipeline::<Run>::define(name)
            .fold::<Totals>(|f| {
                f.subscriber(Ear::<_, _, All>::new(&heard), nothing)
                    .subscriber_with(Ear::<_, _, Sibling>::new(&heard), often)
            })
            .build()
            .unwrap()
    };
    let settings = WorkerSettings {
        max_groups: 0,
        lease: Duration::ZERO,
        ..WorkerSettings::default()
    };
    let table: Arc<dyn RecordTable<u64>> = Arc::new(NoTable);
    let faults = bench
        .kernel()
        .pipeline(pipeline("one"))
        .pipeline(pipeline("two"))
        .pipeline(Pipeline::<Run>::define("No Name").declares::<Note>())
        .record_table::<Odds>(table.clone())
        .record_table::<Odds>(table)
        .kill_switch::<Ear<RunEvent, Total, Evens>>(Arc::new(NoSource))
        .write_format(9)
        .worker(settings)
        .start()
        .unwrap_err();
    let expected = [
        "a throttle needs a time that is not zero",
        "`run_in` [Web] names no role that takes work",
        "a kill switch is bound to subscriber `evens`, which no pipeline declares",
        "envelope format 9 cannot be written: this build writes 1 to 1",
        "two tables are bound to map `odds`",
        "a debounce needs a time that is not zero",
        "`fold/totals` is declared twice: as one/fold/totals and as two/fold/totals",
        "\"No Name/command/note\" is no route",
        "a table is bound to map `odds`, which no pipeline declares",
        "`max_groups` must not be zero",
        "`lease` is 0ns",
    ];
    for text in expected {
        assert!(
            faults.0.iter().any(|fault| fault.contains(text)),
            "{text} is missing in {faults}"
        );
    }
    assert_eq!(
        bench.kernel().start().unwrap_err().0,
        ["no command and no projection: a kernel needs a pipeline that declares one"]
    );
    let nameless = Pipeline::<Run>::define("No Name").declares::<Note>().build();
    assert_eq!(
        nameless.err().unwrap().0,
        ["pipeline `No Name`: a name is 1-64 bytes of [a-z0-9_]"]
    );
}

/// G12: a kernel that works needs a runtime, and says so instead of panicking.
#[test]
fn a_kernel_outside_a_runtime_is_a_fault() {
    let memory = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async { Bench::new() });
    let runs = Pipeline::<Run>::define("runs").fold::<Totals>(|f| f);
    let faults = memory.kernel().pipeline(runs).start().unwrap_err();
    assert!(faults.to_string().contains("no tokio runtime"), "{faults}");
}

/// C-11
#[tokio::test(start_paused = true)]
async fn a_kernel_refuses_commands_that_it_does_not_know() {
    let bench = Bench::new();
    let kernel = bench
        .kernel()
        .pipeline(Pipeline::<Run>::define("runs").fold::<Totals>(|f| f))
        .start()
        .unwrap();
    let error = kernel.send(note("r", 0, 1)).await.unwrap_err();
    assert!(
        matches!(error.refused, SendRefused::NotRegistered { command: "note" }),
        "{error}"
    );
    assert_eq!(error.intents.len(), 1);
    assert!(!error.refused.is_retryable());
}

/// Names as [`Finish`] does, and is another type.
#[derive(serde::Serialize, serde::Deserialize)]
struct NotFinish;

impl foldwright_domain::Command for NotFinish {
    type Of = Run;
    const NAME: &'static str = "finish";

    fn aggregate_id(&self) -> Result<foldwright_domain::AggregateId, foldwright_domain::InvalidId> {
        foldwright_domain::AggregateId::parse("r")
    }
}

/// C-11: the registered type alone is accepted, because its group is found through its registration.
#[tokio::test(start_paused = true)]
async fn a_kernel_refuses_another_type_under_a_known_name() {
    let bench = Bench::new();
    let runs = Pipeline::<Run>::define("runs").command::<Finish>();
    let kernel = bench.kernel().pipeline(runs).start().unwrap();
    let intent = foldwright_domain::Intent::new(tenant("a"), crate::support::at(0), NotFinish);
    let error = kernel.send(intent).await.unwrap_err();
    assert!(
        matches!(error.refused, SendRefused::OtherType { command: "finish" }),
        "{error}"
    );
}

/// C-14
#[tokio::test(start_paused = true)]
async fn a_job_that_no_worker_knows_waits_for_one_that_does() {
    let bench = Bench::new();
    let whole = || {
        Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .fold::<Totals>(|f| f)
            .fold::<Story>(|f| f)
            .build()
            .unwrap()
    };
    let faults = Arc::new(Faults::new());
    faults.once(Op::LoadRows, "", What::Hang);
    let first = bench.faulty(&faults).pipeline(whole()).start().unwrap();
    first.send(note("r", 0, 7)).await.unwrap();
    faults.hung(1).await;
    drop(first);
    let part = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let second = bench.kernel().pipeline(part).start().unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 1, sum: 7 })
    );
    assert_eq!(bench.state::<Story>("r").await, None);
    assert_eq!(waiting(&bench, "runs/fold/story").await, 1);
    assert!(bench.blocked().await.is_empty());
    second.close().await;
    let third = bench.kernel().pipeline(whole()).start().unwrap();
    idle(&third).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![7]));
    assert_eq!(waiting(&bench, "runs/fold/story").await, 0);
}

/// C-14: an event that nobody wants is not stranded; it needs no job.
#[tokio::test(start_paused = true)]
async fn an_event_that_no_projection_reads_leads_to_no_job() {
    let bench = Bench::new();
    let ends = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Ends>(|f| f)
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(ends).start().unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(
        kernel.backlog().await.unwrap(),
        foldwright_runtime::Backlog::default()
    );
    assert_eq!(kernel.counters().jobs_completed.get(), 1);
}

/// The same fold as another Rust type.
enum Sums {}

impl Fold for Sums {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "totals";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Totals::init()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        Totals::apply(total, event)
    }
}

/// The same fold under another name.
enum Renamed {}

impl Fold for Renamed {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "sums";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Totals::init()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        Totals::apply(total, event)
    }
}

fn with<F: Fold<On = RunEvent, State = Total>>(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<F>(|f| {
            f.subscriber(
                Ear::<_, _, All>::new(heard),
                Dispatch::delayed(Duration::from_secs(60)),
            )
        })
        .build()
        .unwrap()
}

/// S-12
#[tokio::test(start_paused = true)]
async fn jobs_find_their_route_after_the_rust_type_was_renamed() {
    let bench = Bench::new();
    let heard = Heard::new();
    let old = bench.kernel().pipeline(with::<Totals>(&heard)).start().unwrap();
    finish(&old, "r", 1).await;
    old.caught_up(|_| {}).await.unwrap();
    old.close().await;
    assert_eq!(waiting(&bench, "runs/fold/totals/subscriber/all").await, 1);
    let new = bench.kernel().pipeline(with::<Sums>(&heard)).start().unwrap();
    new.send(note("r", 1, 2)).await.unwrap();
    idle(&new).await;
    assert_eq!(heard.numbers(), [0, 2]);
    assert_eq!(bench.state::<Sums>("r").await, Some(Total { events: 2, sum: 2 }));
    assert_eq!(new.counters().refolds.get(), 0);
}

/// S-12
#[tokio::test(start_paused = true)]
async fn jobs_of_a_changed_name_are_stranded_and_counted() {
    let bench = Bench::new();
    let heard = Heard::new();
    let old = bench.kernel().pipeline(with::<Totals>(&heard)).start().unwrap();
    finish(&old, "r", 1).await;
    old.caught_up(|_| {}).await.unwrap();
    old.close().await;
    let new = bench.kernel().pipeline(with::<Renamed>(&heard)).start().unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert!(heard.runs().is_empty());
    assert_eq!(waiting(&bench, "runs/fold/totals/subscriber/all").await, 1);
    assert_eq!(new.backlog().await.unwrap().subscribers.waiting, 1);
    new.close().await;
    let again = bench.kernel().pipeline(with::<Totals>(&heard)).start().unwrap();
    idle(&again).await;
    assert_eq!(heard.numbers(), [0]);
}

/// A deploy that adds projections: what the old build handles gets no job of them, what the new one handles does.
///
/// C-14
#[tokio::test(start_paused = true)]
async fn a_new_projection_sees_what_is_handled_after_it_came() {
    let bench = Bench::new();
    let old = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let old = bench.kernel().pipeline(old).start().unwrap();
    old.send(note("r", 0, 1)).await.unwrap();
    idle(&old).await;
    old.close().await;
    let new = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .map::<Odds>(|m| m)
        .keyed::<Parity>(|f| f)
        .build()
        .unwrap();
    let new = bench.with_role(Role::All).pipeline(new).start().unwrap();
    new.send(note("r", 1, 3)).await.unwrap();
    idle(&new).await;
    let page = bench
        .reader()
        .records::<Odds>(&tenant("a"), None, None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(page.items.iter().map(|row| row.record).collect::<Vec<_>>(), [3]);
    assert_eq!(Odds::VERSION, 1);
    assert_eq!(bench.keyed::<Parity>(&1).await, Some(Total { events: 1, sum: 3 }));
}
