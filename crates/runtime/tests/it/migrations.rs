//! Processes that run their own commands.
use crate::support::{
    All, Bench, Ear, Faults, Finish, Heard, Hook, Hooked, Note, Odds, Op, Run, Story, Take, Total, Totals,
    What, at, finish, idle, key, keyed_note, note, take, tenant,
};
use foldwright_domain::{Dispatch, Intent};
use foldwright_ports::{Kind, Limits};
use foldwright_runtime::{Answered, Kernel, Pipeline, Role, SendRefused};
use std::{sync::Arc, time::Duration};

const SECOND: Duration = Duration::from_secs(1);

fn pipeline(story: &Arc<Heard<Vec<u64>>>, odds: &Arc<Heard<u64>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .command::<Hooked>()
        .decider::<Take>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f.subscriber(Ear::<_, _, All>::new(story), Dispatch::each()))
        .map::<Odds>(|m| m.subscriber(Ear::<_, _, All>::new(odds), Dispatch::each()))
        .build()
        .unwrap()
}

struct Service {
    bench: Bench,
    story: Arc<Heard<Vec<u64>>>,
    odds: Arc<Heard<u64>>,
}

impl Service {
    fn new() -> Self {
        Self {
            bench: Bench::new(),
            story: Heard::new(),
            odds: Heard::new(),
        }
    }

    fn kernel(&self, role: Role) -> Kernel {
        let pipeline = pipeline(&self.story, &self.odds);
        self.bench.with_role(role).pipeline(pipeline).start().unwrap()
    }

    async fn stored(&self, run: &str) -> usize {
        let stream = key::<Run>("a", run).erase();
        let page = self
            .bench
            .ports
            .log
            .load(&stream, None, Limits::items(1_000))
            .await;
        page.unwrap().items.len()
    }
}

/// C-13: it decides while it sends, takes no work, and no subscriber is asked about what it did.
#[tokio::test(start_paused = true)]
async fn a_migration_runs_its_commands_and_tells_no_subscriber() {
    let service = Service::new();
    let migration = service.kernel(Role::Migration);
    let receipt = migration.send(note("r", 1, 7)).await.unwrap();
    assert_eq!(service.stored("r").await, 1);
    let Answered::Events(stored) = receipt.decided(Duration::ZERO).await.unwrap() else {
        panic!("it led to an event");
    };
    assert_eq!(stored.ids, [receipt.command.event(0).unwrap()]);
    assert!(stored.ids[0].is_migrated());
    let receipts = migration
        .send_all([take("r", 2, 2), take("r", 3, 2)])
        .await
        .unwrap();
    assert!(matches!(
        receipts[0].decided(Duration::ZERO).await.unwrap(),
        Answered::Events(_)
    ));
    assert!(matches!(
        receipts[1].decided(Duration::ZERO).await.unwrap(),
        Answered::Rejected(_)
    ));
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let backlog = migration.backlog().await.unwrap();
    assert_eq!(
        (
            backlog.commands.waiting,
            backlog.folds.waiting,
            backlog.maps.waiting
        ),
        (0, 4, 2)
    );
    let worker = service.kernel(Role::Worker);
    idle(&worker).await;
    assert!(receipts[0].applied::<Story>(SECOND).await.is_ok());
    assert_eq!(service.bench.state::<Story>("r").await, Some(vec![7, 2]));
    assert_eq!(
        service.bench.state::<Totals>("r").await,
        Some(Total { events: 2, sum: 9 })
    );
    assert!(service.story.runs().is_empty() && service.odds.runs().is_empty());
    assert_eq!(worker.counters().runs_migrated.get(), 3);
    // What others send is told as always, also where a refold brings the migrated ones along.
    worker.send_all([note("r", 5, 5), note("r", 0, 3)]).await.unwrap();
    idle(&worker).await;
    assert_eq!(service.bench.state::<Story>("r").await, Some(vec![3, 7, 2, 5]));
    let mut heard = service.story.numbers();
    heard.sort_unstable();
    assert_eq!(heard, [3, 5]);
}

/// C-13, G7: a refold between a migrated event's append and its own job does not tell of it either.
#[tokio::test(start_paused = true)]
async fn a_refold_does_not_tell_of_what_a_migration_did() {
    let service = Service::new();
    let worker = service.kernel(Role::All);
    worker.send(note("r", 10, 1)).await.unwrap();
    idle(&worker).await;
    let faults = Arc::new(Faults::new());
    faults.always(Op::Stage, "", What::Fail(Kind::Invalid));
    let ports = crate::support::faulty(&service.bench.ports, &faults);
    let migration = Kernel::builder(ports, Role::Migration)
        .ids(service.bench.ids.clone())
        .pipeline(pipeline(&service.story, &service.odds))
        .start()
        .unwrap();
    let error = migration.send(keyed_note("r", 5, 3, "k")).await.unwrap_err();
    assert!(matches!(error.refused, SendRefused::Store(_)), "{error}");
    assert_eq!(service.stored("r").await, 2, "its event stands, no job brings it");
    worker.send(note("r", 7, 9)).await.unwrap();
    idle(&worker).await;
    assert_eq!(service.bench.state::<Story>("r").await, Some(vec![3, 9, 1]));
    assert_eq!(service.story.numbers(), [1, 9]);
    // Run again under its key, it makes good what was lost.
    assert_eq!(service.bench.state::<Totals>("r").await.unwrap().events, 2);
    faults.clear();
    let again = migration.send(keyed_note("r", 5, 3, "k")).await.unwrap();
    assert!(matches!(
        again.decided(SECOND).await.unwrap(),
        Answered::Duplicate(_)
    ));
    idle(&worker).await;
    assert_eq!(
        service.bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 13 })
    );
    assert_eq!(
        (service.story.numbers(), service.odds.numbers()),
        (vec![1, 9], vec![1, 9])
    );
}

/// C-13: what fails is the caller's to see, and nothing is left in the queue.
#[tokio::test(start_paused = true)]
async fn a_command_that_fails_in_a_migration_comes_back() {
    let service = Service::new();
    let migration = service.kernel(Role::Migration);
    let hooked = |run: &str, then| {
        let run = run.into();
        Intent::new(tenant("a"), at(0), Hooked { run, then })
    };
    let three = [
        hooked("r", Hook::Event),
        hooked("s", Hook::PanicInHandle),
        hooked("t", Hook::Event),
    ];
    let error = migration.send_all(three).await.unwrap_err();
    assert!(
        matches!(&error.refused, SendRefused::Failed { error } if error.contains("the handler panics")),
        "{error}"
    );
    let left: Vec<_> = error
        .intents
        .iter()
        .map(|intent| intent.payload.run.as_str())
        .collect();
    assert_eq!(left, ["s", "t"]);
    assert_eq!((service.stored("r").await, service.stored("t").await), (1, 0));
    let no = finish(&migration, "no", 1).await;
    assert!(matches!(no.decided(SECOND).await.unwrap(), Answered::Rejected(_)));
    assert_eq!(migration.backlog().await.unwrap().commands.waiting, 0);
    migration.close().await;
}
