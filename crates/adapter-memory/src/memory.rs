//! The whole set of ports.
use crate::{
    blobs::MemoryBlobs, folds::MemoryFolds, log::MemoryLog, queue::MemoryQueue, records::MemoryRecords,
};
use foldwright_ports::{Clock, Ports, QueueSettings};
use std::sync::Arc;

/// One store in memory. Clones share their state; it is gone with the last clone.
#[derive(Clone, Debug)]
pub struct Memory {
    ports: Ports,
}

impl Memory {
    /// An empty store that goes by `clock`.
    ///
    /// The clock should agree with the timer of the runtime, as [`VirtualClock`](crate::VirtualClock) and
    /// [`SystemClock`](foldwright_ports::SystemClock) do: [`GroupQueue::wait`](foldwright_ports::GroupQueue::wait)
    /// sleeps by the timer for as long as the clock says.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, settings: QueueSettings) -> Self {
        let queue = Arc::new(MemoryQueue::new(clock.clone(), &settings));
        Self {
            ports: Ports {
                log: Arc::new(MemoryLog::default()),
                queue: queue.clone(),
                queue_admin: queue,
                folds: Arc::new(MemoryFolds::default()),
                records: Arc::new(MemoryRecords::default()),
                hot_blobs: Arc::new(MemoryBlobs::new(clock.clone())),
                cold_blobs: Arc::new(MemoryBlobs::new(clock.clone())),
                clock,
            },
        }
    }

    /// Handles on this store. The hot and the cold bodies lie apart.
    #[must_use]
    pub fn ports(&self) -> Ports {
        self.ports.clone()
    }
}
