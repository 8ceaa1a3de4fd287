//! A clock that goes by virtual time and jumps when it is told to.
use foldwright_adapter_memory::VirtualClock;
use foldwright_domain::Millis;
use foldwright_ports::Clock;
use std::sync::atomic::{AtomicI64, Ordering};

pub(super) struct JumpyClock {
    steady: VirtualClock,
    ahead: AtomicI64,
}

impl JumpyClock {
    pub(super) fn new(origin: Millis) -> Self {
        Self {
            steady: VirtualClock::new(origin),
            ahead: AtomicI64::new(0),
        }
    }

    pub(super) fn jump(&self, ms: i64) {
        self.ahead.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for JumpyClock {
    fn now(&self) -> Millis {
        Millis(self.steady.now().0 + self.ahead.load(Ordering::Relaxed))
    }
}
