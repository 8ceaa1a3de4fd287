//! What goes wrong in a run, drawn from its seed.
use crate::support::{Seeded, Trouble};
use std::time::Duration;

/// The trouble of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// What happens to the calls of each process.
    pub(super) trouble: Trouble,
    /// Whether the clock of all stores jumps between commands.
    pub(super) clock_jumps: bool,
    /// Whether an operator is at work.
    pub(super) operator: bool,
    /// Whether subscribers fail and panic.
    pub(super) bad_subscribers: bool,
}

impl Weather {
    pub(super) fn of(seeded: &mut Seeded) -> Self {
        let none = Trouble::NEVER;
        Self {
            trouble: Trouble {
                fails_one_in: *seeded.pick(&[6, 12, 40, none]),
                waits_one_in: *seeded.pick(&[2, 4, 16, none]),
                freezes_one_in: *seeded.pick(&[60, 200, none, none]),
                effects: *seeded.pick(&[10, 40, 120, none]),
            },
            clock_jumps: seeded.one_in(3),
            operator: seeded.one_in(2),
            bad_subscribers: seeded.one_in(2),
        }
    }

    /// How far the clock jumps: more than a lease either way, or a little.
    pub(super) fn jump(seeded: &mut Seeded) -> i64 {
        let far = Duration::from_secs(if seeded.one_in(3) { 90 } else { 2 });
        let far = i64::try_from(far.as_millis()).unwrap();
        far - i64::try_from(seeded.below(2 * far.unsigned_abs())).unwrap()
    }
}
