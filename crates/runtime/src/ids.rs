//! Ids for production and for simulations.
use foldwright_domain::{CommandId, CommandIds, Millis};
use foldwright_ports::{IdSource, Nonce};
use std::sync::{Mutex, PoisonError};

/// Ids from the operating system's randomness.
#[derive(Debug, Default)]
pub struct SystemIds {
    commands: Mutex<CommandIds>,
}

impl IdSource for SystemIds {
    fn command_id(&self, now: Millis) -> CommandId {
        self.commands
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next(now, random())
    }

    fn nonce(&self) -> Nonce {
        Nonce(u128::from(random()) << 64 | u128::from(random()))
    }
}

/// A process that cannot draw randomness cannot make ids that are safe to use.
#[expect(
    clippy::expect_used,
    reason = "without the operating system's randomness no id is safe"
)]
fn random() -> u64 {
    getrandom::u64().expect("the operating system gives randomness")
}

/// Ids that depend on a seed alone: the same seed gives the same ids. For tests and simulations.
#[derive(Debug)]
pub struct SeededIds {
    state: Mutex<Seeded>,
}

#[derive(Debug)]
struct Seeded {
    commands: CommandIds,
    random: u64,
}

impl SeededIds {
    /// Ids of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: Mutex::new(Seeded {
                commands: CommandIds::default(),
                random: seed,
            }),
        }
    }
}

impl Seeded {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl IdSource for SeededIds {
    fn command_id(&self, now: Millis) -> CommandId {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let random = state.next();
        state.commands.next(now, random)
    }

    fn nonce(&self) -> Nonce {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Nonce(u128::from(state.next()) << 64 | u128::from(state.next()))
    }
}
