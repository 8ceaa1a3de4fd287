//! Where subscribers run, switching them off, and what is counted of them.
use crate::support::{
    All, Bench, Ear, Evens, Faults, Heard, Manner, Note, Op, Run, RunEvent, Sibling, Total, Totals, What,
    idle, note, tenant,
};
use foldwright_domain::{Dispatch, TenantId};
use foldwright_ports::{Kind, Route};
use foldwright_runtime::{Kernel, KillSwitch, Pipeline, Role, SubscriberCounts, SubscriberOptions, Switch};
use std::{
    error::Error,
    sync::{Arc, Mutex},
    time::Duration,
};

fn with<M: Manner>(heard: &Arc<Heard<Total>>, options: &SubscriberOptions) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber_with(Ear::<RunEvent, Total, M>::new(heard), options.clone()))
        .build()
        .unwrap()
}

fn counts<'a>(kernel: &'a Kernel, name: &str) -> &'a SubscriberCounts {
    let mut all = kernel.subscriber_counts().iter();
    all.find(|(route, _)| route.name() == name).unwrap().1
}

/// What went wrong of `declined + staged + collapsed + failed = routed`.
fn balance(counts: &SubscriberCounts) -> (u64, u64) {
    let parts = [
        &counts.declined,
        &counts.staged,
        &counts.collapsed,
        &counts.failed,
    ];
    (parts.iter().map(|part| part.get()).sum(), counts.routed.get())
}

/// S-09
#[tokio::test(start_paused = true)]
async fn an_effect_runs_in_the_roles_it_names() {
    let bench = Bench::new();
    let heard = Heard::new();
    let in_all = SubscriberOptions::new(Dispatch::each()).run_in([Role::All]);
    let in_worker = SubscriberOptions::new(Dispatch::each()).run_in([Role::Worker]);
    let other = bench
        .with_role(Role::Worker)
        .pipeline(with::<All>(&heard, &in_all))
        .start()
        .unwrap();
    other.send(note("r", 1, 1)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(heard.calls(), 0, "the worker leaves it in the queue");
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 1, sum: 1 })
    );
    assert_eq!(other.backlog().await.unwrap().subscribers.waiting, 1);
    other.close().await;
    let web = bench
        .with_role(Role::Web)
        .pipeline(with::<All>(&heard, &in_worker))
        .start()
        .unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(heard.calls(), 0, "inert in `Web`");
    web.close().await;
    let worker = bench
        .with_role(Role::Worker)
        .pipeline(with::<All>(&heard, &in_worker))
        .start()
        .unwrap();
    idle(&worker).await;
    assert_eq!(heard.numbers(), [1]);
    worker.close().await;
    let all = bench
        .with_role(Role::All)
        .pipeline(with::<All>(&heard, &in_worker))
        .start()
        .unwrap();
    all.send(note("r", 2, 2)).await.unwrap();
    idle(&all).await;
    assert_eq!(heard.numbers(), [1, 2], "`All` satisfies every list");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Off(&'static str),
    On,
    Down,
    Panics,
}

struct Flags(Mutex<Source>);

impl Flags {
    fn new(source: Source) -> Arc<Self> {
        Arc::new(Self(Mutex::new(source)))
    }

    fn set(&self, source: Source) {
        *self.0.lock().unwrap() = source;
    }
}

impl KillSwitch for Flags {
    fn look_up(&self, subscriber: &Route, tenant: &TenantId) -> Result<Switch, Box<dyn Error + Send + Sync>> {
        assert_eq!(subscriber.name(), "evens");
        let source = *self.0.lock().unwrap();
        match source {
            Source::Off(name) if tenant.as_str() == name => Ok(Switch::Off),
            Source::Off(_) | Source::On => Ok(Switch::On),
            Source::Down => Err("the flag service is away".into()),
            Source::Panics => panic!("the flag service panics"),
        }
    }
}

async fn send_as(kernel: &Kernel, owner: &str, n: u64) {
    let mut intent = note("r", n as i64, n);
    intent.tenant = tenant(owner);
    kernel.send(intent).await.unwrap();
}

/// S-10, G-07
#[tokio::test(start_paused = true)]
async fn a_subscriber_is_switched_off_for_one_tenant_without_a_restart() {
    let bench = Bench::new();
    let heard = Heard::new();
    let flags = Flags::new(Source::On);
    let options = SubscriberOptions::new(Dispatch::delayed(Duration::from_secs(60)));
    let kernel = bench
        .kernel()
        .pipeline(with::<Evens>(&heard, &options))
        .kill_switch::<Ear<RunEvent, Total, Evens>>(flags.clone())
        .start()
        .unwrap();
    send_as(&kernel, "a", 2).await;
    kernel.caught_up(|_| {}).await.unwrap();
    flags.set(Source::Off("a"));
    // `when` panics at 13, and is not asked.
    send_as(&kernel, "a", 13).await;
    send_as(&kernel, "b", 4).await;
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [4]);
    let evens = counts(&kernel, "evens");
    assert_eq!((evens.switched_off.get(), evens.declined.get()), (1, 1));
    assert_eq!(
        evens.killed.get(),
        1,
        "the run that waited is dropped and counted"
    );
    assert_eq!(kernel.counters().guards_failed.get(), 0);
    for (source, n) in [(Source::Down, 6), (Source::Panics, 8), (Source::On, 10)] {
        flags.set(source);
        send_as(&kernel, "a", n).await;
        idle(&kernel).await;
    }
    assert_eq!(heard.numbers(), [4, 6, 8, 10], "a source that fails means on");
    assert_eq!(
        kernel.counters().switches_failed.get(),
        4,
        "before staging and before running"
    );
    assert_eq!(balance(evens), (6, 6));
}

/// G-07: also where states cannot be stored, rows are superseded and batches come again.
#[tokio::test(start_paused = true)]
async fn what_a_subscriber_did_adds_up_to_what_was_routed_to_it() {
    let bench = Bench::new();
    let (evens, all) = (Heard::new(), Heard::new());
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| {
            f.subscriber(
                Ear::<_, _, Evens>::new(&evens),
                Dispatch::debounce(Duration::from_secs(5)),
            )
            .subscriber(Ear::<_, _, Sibling>::new(&all), Dispatch::each())
        })
        .build()
        .unwrap();
    let faults = Arc::new(Faults::new());
    faults.once(Op::StoreRows, "totals", What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline).start().unwrap();
    for round in 0..4 {
        let notes = (1..=10).map(|n| note("r", round * 10 + n, n as u64));
        kernel.send_all(notes).await.unwrap();
        idle(&kernel).await;
    }
    let (evens, all) = (counts(&kernel, "evens"), counts(&kernel, "sibling"));
    for counts in [evens, all] {
        let (sum, routed) = balance(counts);
        assert_eq!(sum, routed);
        assert!(routed >= 40 && counts.failed.get() > 0, "{counts:?}");
    }
    assert_eq!(all.staged.get(), 40);
    assert!(
        evens.collapsed.get() > 0 && evens.declined.get() >= 20,
        "{evens:?}"
    );
}
