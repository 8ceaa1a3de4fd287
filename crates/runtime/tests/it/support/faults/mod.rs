//! Ports that fail as a test says: before a call took effect, after it (the reply is lost), for some items of it, or
//! by never answering (the process was killed there).
mod blobs;
mod folds;
mod log;
mod queue;
mod records;
mod script;

pub(crate) use script::{Faults, Op, Trouble, What};

use foldwright_ports::Ports;
use std::sync::Arc;

/// The same ports behind a script.
pub(crate) fn faulty(ports: &Ports, faults: &Arc<Faults>) -> Ports {
    let blobs = |inner: &Arc<dyn foldwright_ports::BlobStore>, tier| {
        Arc::new(blobs::FaultyBlobs {
            inner: inner.clone(),
            faults: faults.clone(),
            tier,
        })
    };
    Ports {
        log: Arc::new(log::FaultyLog {
            inner: ports.log.clone(),
            faults: faults.clone(),
        }),
        queue: Arc::new(queue::FaultyQueue {
            inner: ports.queue.clone(),
            faults: faults.clone(),
        }),
        queue_admin: ports.queue_admin.clone(),
        folds: Arc::new(folds::FaultyFolds {
            inner: ports.folds.clone(),
            faults: faults.clone(),
        }),
        records: Arc::new(records::FaultyRecords {
            inner: ports.records.clone(),
            faults: faults.clone(),
        }),
        hot_blobs: blobs(&ports.hot_blobs, "hot"),
        cold_blobs: blobs(&ports.cold_blobs, "cold"),
        clock: ports.clock.clone(),
    }
}
