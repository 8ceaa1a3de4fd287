//! Running until a signal, with signals that a test sends.
use super::*;
use crate::{pipeline::Pipeline, role::Role, shutdown::ShutdownBudget};
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::{Aggregate, AggregateId, AggregateType, Declares, InvalidId, Millis};
use foldwright_macros::Event;
use foldwright_ports::QueueSettings;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

enum Lamp {}

impl Aggregate for Lamp {
    const TYPE: AggregateType = AggregateType::new("lamp");
    type Event = LampEvent;
}

#[derive(Event)]
#[event(aggregate = Lamp, prefix = "test.sim.lamp", crate = foldwright_domain)]
enum LampEvent {
    #[event(name = "lit", version = "2026-01-01")]
    Lit(Lit),
}

#[derive(Clone, Serialize, Deserialize)]
struct Lit {}

enum Light {}

impl Declares for Light {
    type Of = Lamp;
    type Data = Lit;
    const NAME: &'static str = "light";

    fn aggregate_id(_: &Lit) -> Result<AggregateId, InvalidId> {
        AggregateId::parse("1")
    }
}

/// A kernel that takes so long to start.
async fn start(after: u64) -> Result<Kernel, Box<dyn Error + Send + Sync>> {
    tokio::time::sleep(Duration::from_secs(after)).await;
    let memory = Memory::new(Arc::new(VirtualClock::new(Millis(0))), QueueSettings::default());
    let pipeline = Pipeline::<Lamp>::define("lamps").declares::<Light>().build()?;
    Ok(Kernel::builder(memory.ports(), Role::All)
        .pipeline(pipeline)
        .start()?)
}

/// Signals at these seconds, and no end of its own.
async fn run(signals: &[u64], start_takes: u64, shutdown: Shutdown) -> (Exit, u64) {
    let (exit, _, after) = run_for(u64::MAX / 2, signals, start_takes, shutdown).await;
    (exit, after)
}

/// Signals at these seconds, and work that takes so many.
async fn run_for(
    work: u64,
    signals: &[u64],
    start_takes: u64,
    shutdown: Shutdown,
) -> (Exit, Option<&'static str>, u64) {
    let began = Instant::now();
    let mut signals = signals.iter();
    let signal = async || match signals.as_slice().first() {
        Some(second) => {
            tokio::time::sleep_until(began + Duration::from_secs(*second)).await;
            signals.next();
        }
        None => std::future::pending().await,
    };
    let work = async |_: &Kernel| {
        tokio::time::sleep(Duration::from_secs(work)).await;
        "done"
    };
    let (exit, done) = drive(signal, start(start_takes), work, || shutdown).await;
    (exit, done, began.elapsed().as_secs())
}

fn hanging(phases: usize) -> Shutdown {
    (0..phases).fold(Shutdown::new(ShutdownBudget::development()), |shutdown, _| {
        shutdown.then("stores", std::future::pending::<Result<(), io::Error>>())
    })
}

/// H-01, H-06
#[tokio::test(start_paused = true)]
async fn the_first_signal_begins_a_stop_in_good_order() {
    let (exit, after) = run(&[7], 1, hanging(0)).await;
    assert!(matches!(exit, Exit::Clean), "{exit:?}");
    assert_eq!(after, 7);
}

/// H-06
#[tokio::test(start_paused = true)]
async fn a_signal_during_start_up_is_honoured() {
    let (exit, after) = run(&[2], 100, hanging(0)).await;
    assert!(matches!(exit, Exit::BeforeStart), "{exit:?}");
    assert_eq!(after, 2);
}

/// H-06
#[tokio::test(start_paused = true)]
async fn a_second_signal_ends_at_once() {
    let (exit, after) = run(&[7, 8], 1, hanging(2)).await;
    assert!(matches!(exit, Exit::AtOnce), "{exit:?}");
    assert_eq!(after, 8);
}

/// H-04, H-05: what hangs is left; past the whole time there is a reason.
#[tokio::test(start_paused = true)]
async fn a_stop_that_takes_too_long_ends_with_a_reason() {
    let (exit, after) = run(&[7], 1, hanging(2)).await;
    assert!(matches!(exit, Exit::Clean), "{exit:?}");
    assert_eq!(after, 13);
    let (exit, after) = run(&[7], 1, hanging(20)).await;
    assert!(
        matches!(&exit, Exit::Overdue(error) if error.phase == "stores"),
        "{exit:?}"
    );
    assert_eq!(after, 7 + ShutdownBudget::development().total().as_secs());
    assert_eq!(exit.code(), ExitCode::FAILURE);
}

/// H-01: work that has an end stops the kernel itself, also where it fails to stop in time.
#[tokio::test(start_paused = true)]
async fn work_that_is_done_ends_in_good_order() {
    let (exit, done, after) = run_for(5, &[], 1, hanging(0)).await;
    assert!(matches!(exit, Exit::Clean), "{exit:?}");
    assert_eq!((done, after), (Some("done"), 6));
    assert!(exit.result().is_ok());
    let (exit, done, _) = run_for(5, &[], 1, hanging(20)).await;
    assert_eq!(done, Some("done"));
    assert!(exit.result().unwrap_err().to_string().contains("stores"));
}

/// H-06
#[tokio::test(start_paused = true)]
async fn a_signal_drops_the_work_and_stops_in_good_order() {
    let (exit, done, after) = run_for(100, &[7], 1, hanging(1)).await;
    assert!(matches!(exit, Exit::Clean), "{exit:?}");
    assert_eq!((done, after), (None, 10));
}

/// H-06: it stops already, so one signal more changes nothing.
#[tokio::test(start_paused = true)]
async fn after_its_work_it_takes_two_signals_to_end_at_once() {
    let (exit, done, after) = run_for(5, &[7], 1, hanging(1)).await;
    assert!(matches!(exit, Exit::Clean), "{exit:?}");
    assert_eq!((done, after), (Some("done"), 9));
    let (exit, done, after) = run_for(5, &[7, 8], 1, hanging(1)).await;
    assert!(matches!(exit, Exit::AtOnce), "{exit:?}");
    assert_eq!((done, after), (Some("done"), 8));
}
