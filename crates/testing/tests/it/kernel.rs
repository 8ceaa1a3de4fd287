//! The kernel under virtual time.
use crate::cart::{AddItem, Cart, CartEvent, Items, Total};
use foldwright_domain::{Dispatch, Recorded};
use foldwright_runtime::{EffectError, KernelBuilder, Pipeline, Subscriber};
use foldwright_testing::{Runs, START, TestKernel, watched};
use std::time::Duration;

/// Fails at first, when the cart is worth 13 cents.
struct Ring;

impl Subscriber for Ring {
    type On = crate::cart::Added;
    type State = u64;
    const NAME: &'static str = "ring";

    async fn run(&self, _event: &Recorded<crate::cart::Added>, cents: &u64) -> Result<(), EffectError> {
        match cents {
            13 => Err(EffectError::fatal("unlucky")),
            _ => Ok(()),
        }
    }
}

struct Wave;

impl Subscriber for Wave {
    type On = CartEvent;
    type State = String;
    const NAME: &'static str = "wave";

    async fn run(&self, _event: &Recorded<CartEvent>, _item: &String) -> Result<(), EffectError> {
        Ok(())
    }
}

const QUIET: Duration = Duration::from_secs(3_600);

type Seen = (Runs<u64>, Runs<String>);

fn shop(builder: KernelBuilder) -> (KernelBuilder, Seen) {
    let ((ring, rings), (wave, waves)) = (watched(Ring), watched(Wave));
    let carts = Pipeline::<Cart>::define("carts")
        .command::<AddItem>()
        .fold::<Total>(|fold| fold.subscriber(ring, Dispatch::debounce(QUIET)))
        .map::<Items>(|map| map.subscriber(wave, Dispatch::each()))
        .build()
        .unwrap();
    (builder.pipeline(carts), (rings, waves))
}

async fn start() -> (TestKernel, Seen) {
    let mut seen = None;
    let kernel = TestKernel::start(|builder| {
        let (builder, runs) = shop(builder);
        seen = Some(runs);
        builder
    })
    .await;
    (kernel, seen.unwrap())
}

fn add(name: &str, cents: u64) -> AddItem {
    AddItem {
        cart: "c-1".into(),
        name: name.into(),
        cents,
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_due_is_done_and_what_is_debounced_waits_for_its_time() {
    let (kernel, (rings, waves)) = start().await;
    assert_eq!(kernel.now(), START);
    kernel.send(add("tea", 450)).await;
    kernel.send(add("pin", 5)).await;
    kernel.settle().await;
    assert_eq!(kernel.state::<Total, Cart>("c-1").await, Some(455));
    assert_eq!(kernel.state::<Total, Cart>("c-2").await, None);
    assert_eq!(kernel.records::<Items>().await, ["tea"]);
    assert_eq!(kernel.events().await.len(), 2);
    assert_eq!((rings.count(), waves.count()), (0, 1));
    kernel
        .advance(QUIET.saturating_sub(Duration::from_secs(60)))
        .await;
    assert_eq!(rings.count(), 0);
    kernel.advance(Duration::from_secs(60)).await;
    let runs = rings.take();
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].state, &runs[0].outcome), (455, &Ok(())));
    assert_eq!(runs[0].event.stream.id.as_str(), "c-1");
    assert_eq!((rings.count(), waves.take()[0].state.as_str()), (0, "tea"));
    kernel.close().await;
}

#[tokio::test(start_paused = true)]
async fn decisions_and_failed_runs_are_seen() {
    let (kernel, (rings, _)) = start().await;
    assert_eq!(kernel.decide(add("tea", 0)).await.unwrap_err().code, "free");
    kernel.decide(add("tea", 13)).await.unwrap();
    kernel.advance(QUIET).await;
    kernel.settle().await;
    let [run] = rings.take().try_into().unwrap();
    assert_eq!(run.outcome, Err(EffectError::fatal("unlucky")));
    assert_eq!(kernel.backlog().await.stuck(), 1);
    kernel.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_keeps_the_store() {
    let (kernel, _) = start().await;
    kernel.decide(add("tea", 450)).await.unwrap();
    let kernel = kernel.restart(|builder| shop(builder).0).await;
    kernel.decide(add("cup", 900)).await.unwrap();
    assert_eq!(kernel.state::<Total, Cart>("c-1").await, Some(1_350));
    kernel.close().await;
}

/// The same test twice is the same test: ids, times and states.
#[test]
fn a_run_is_the_same_each_time() {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let (kernel, (rings, _)) = start().await;
            for cents in 1..40 {
                kernel.send(add("tea", cents)).await;
            }
            kernel.settle().await;
            kernel.advance(2 * QUIET).await;
            let seen = (kernel.events().await, kernel.now(), rings.take()[0].event.clone());
            kernel.close().await;
            seen
        })
    };
    assert_eq!(run(), run());
}

#[test]
#[should_panic(expected = "time is not frozen")]
fn time_that_runs_by_itself_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(start());
}
