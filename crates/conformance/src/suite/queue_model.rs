//! Random sequences, side by side with a plain model.
use crate::{
    Fixture,
    kit::{Bed, Seeded},
    model::{SideBySide, Step},
};
use foldwright_ports::{BreakerSettings, Ladder, QueueBounds, QueueSettings};

/// Where a sequence went wrong, and how.
struct Failure {
    step: usize,
    why: String,
    trace: Vec<String>,
}

async fn run(fixture: &dyn Fixture, settings: &QueueSettings, steps: &[Step]) -> Result<(), Failure> {
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
    settings: &QueueSettings,
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

async fn agree(fixture: &dyn Fixture, settings: &QueueSettings, salt: u64) {
    let scale = fixture.scale();
    for seed in 0..scale.sequences.div_ceil(3) {
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

/// The breaker has a suite of its own.
fn settings() -> QueueSettings {
    let breaker = BreakerSettings {
        groups: 0,
        ..BreakerSettings::default()
    };
    QueueSettings {
        breaker,
        ..QueueSettings::default()
    }
}

/// D-02, D-04, R-04, R-09, B-13, F-02, F-04, F-07, F-13: after each step
/// everything that can be looked at equals the model.
pub async fn any_sequence_agrees_with_the_model(fixture: &dyn Fixture) {
    agree(fixture, &settings(), 1).await;
}

/// the same where a group is blocked after its third failure, or its fourth at
/// several jobs.
pub async fn any_sequence_agrees_under_a_short_ladder(fixture: &dyn Fixture) {
    let ladder = Ladder {
        attempts: 3,
        ..Ladder::default()
    };
    let short = QueueSettings {
        ladder,
        streak: 4,
        ..settings()
    };
    agree(fixture, &short, 2).await;
}

/// the same where there is little room.
pub async fn any_sequence_agrees_where_room_is_short(fixture: &dyn Fixture) {
    let bounds = QueueBounds {
        group_jobs: Some(4),
        group_bytes: Some(15_000),
        tenant_jobs: Some(9),
        tenant_bytes: Some(40_000),
        jobs: Some(12),
        bytes: None,
    };
    let bounded = QueueSettings { bounds, ..settings() };
    agree(fixture, &bounded, 3).await;
}
