//! Random sequences, side by side with a plain model.
use crate::{
    Fixture,
    kit::{Bed, Seeded},
    model::{SideBySide, Step},
};
use foldwright_ports::{Ladder, QueueSettings};

/// Where a sequence went wrong, and how.
struct Failure {
    step: usize,
    why: String,
    trace: Vec<String>,
}

async fn run(fixture: &dyn Fixture, settings: QueueSettings, steps: &[Step]) -> Result<(), Failure> {
    let mut pair = SideBySide::new(Bed::open_with(fixture, settings).await);
    for (at, step) in steps.iter().enumerate() {
        if let Err(why) = pair.step(step).await {
            return Err(Failure {
                step: at,
                why,
                trace: pair.into_trace(),
            });
        }
    }
    Ok(())
}

/// Drops steps as long as it still fails.
async fn shrink(
    fixture: &dyn Fixture,
    settings: QueueSettings,
    mut steps: Vec<Step>,
    mut failure: Failure,
) -> Failure {
    steps.truncate(failure.step + 1);
    let mut at = steps.len();
    while at > 0 {
        at -= 1;
        let mut fewer = steps.clone();
        fewer.remove(at);
        if let Err(smaller) = run(fixture, settings, &fewer).await {
            fewer.truncate(smaller.step + 1);
            at = at.min(fewer.len());
            (steps, failure) = (fewer, smaller);
        }
    }
    failure
}

async fn agree(fixture: &dyn Fixture, settings: QueueSettings, salt: u64) {
    let scale = fixture.scale();
    for seed in 0..scale.sequences.div_ceil(2) {
        let mut random = Seeded::new(seed << 8 | salt);
        let steps: Vec<_> = (0..scale.steps).map(|_| Step::random(&mut random)).collect();
        if let Err(failure) = run(fixture, settings, &steps).await {
            let failure = shrink(fixture, settings, steps, failure).await;
            panic!(
                "seed {seed}: {}\nafter\n{}",
                failure.why,
                failure.trace.join("\n")
            );
        }
    }
}

/// D-02, D-04, R-04, R-09, B-13: after each step everything that can
/// be looked at equals the model.
pub async fn any_sequence_agrees_with_the_model(fixture: &dyn Fixture) {
    agree(fixture, QueueSettings::default(), 1).await;
}

/// the same where a group is blocked after its third failure.
pub async fn any_sequence_agrees_under_a_short_ladder(fixture: &dyn Fixture) {
    let ladder = Ladder {
        attempts: 3,
        ..Ladder::default()
    };
    let settings = QueueSettings {
        ladder,
        ..QueueSettings::default()
    };
    agree(fixture, settings, 2).await;
}
