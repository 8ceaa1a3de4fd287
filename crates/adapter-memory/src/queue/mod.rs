//! The group queue in memory: a state machine behind a lock, and a bell for those who wait.
mod admin;
mod group_queue;
mod state;

use crate::lock::lock;
use foldwright_ports::{Clock, QueueSettings};
use state::State;
use std::{
    fmt,
    sync::{Arc, Mutex},
};
use tokio::sync::Notify;

pub(crate) struct MemoryQueue {
    clock: Arc<dyn Clock>,
    settings: QueueSettings,
    state: Mutex<State>,
    /// Rung whenever a group becomes claimable or will at another time than before.
    bell: Notify,
}

impl MemoryQueue {
    pub(crate) fn new(clock: Arc<dyn Clock>, settings: &QueueSettings) -> Self {
        Self {
            clock,
            settings: *settings,
            state: Mutex::new(State::new(settings)),
            bell: Notify::new(),
        }
    }

    /// One call: under the lock, at the time that the clock has then.
    fn call<T>(&self, call: impl FnOnce(&mut State) -> T) -> T {
        let (answer, news, spent) = {
            let mut state = lock(&self.state);
            state.at(self.clock.now());
            (call(&mut state), state.take_news(), state.take_spent())
        };
        drop(spent);
        if news {
            self.bell.notify_waiters();
        }
        answer
    }
}

impl fmt::Debug for MemoryQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryQueue").finish_non_exhaustive()
    }
}
