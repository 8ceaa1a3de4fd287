//! How many bytes of bodies are in memory at a time.
use crate::wire::{Header, MAX_BODY_BYTES};
use foldwright_ports::{Body, HandedJob, Lease};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Budgets are counted in these, so that a permit fits into the semaphore's numbers.
const UNIT: u64 = 1 << 10;

/// Room for bodies, shared by the lanes of a worker. Whoever works on jobs holds room for what they declare.
pub(super) struct BodyBudget {
    units: u32,
    room: Arc<Semaphore>,
}

/// Room that is given back when this is dropped.
pub(super) struct Held(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl BodyBudget {
    pub(super) fn new(bytes: u64) -> Self {
        let units = units(bytes).max(1);
        Self {
            units,
            room: Arc::new(Semaphore::new(units as usize)),
        }
    }

    /// Cuts leases into portions that each fit into the whole budget. A lease that is larger than that is cut short: what
    /// is behind goes back and comes with the next lease.
    pub(super) fn portions(&self, leases: Vec<Lease>) -> Vec<Vec<Lease>> {
        let mut portions: Vec<Vec<Lease>> = Vec::new();
        let mut filled = u32::MAX;
        for mut lease in leases {
            let mut size = 0_u32;
            let mut fitting = 0;
            for job in &lease.jobs {
                let with = size.saturating_add(units(raw_bytes(job)));
                if fitting > 0 && with > self.units {
                    break;
                }
                (size, fitting) = (with, fitting + 1);
            }
            lease.jobs.truncate(fitting);
            match portions.last_mut() {
                Some(last) if filled.saturating_add(size) <= self.units => {
                    filled += size;
                    last.push(lease);
                }
                _ => {
                    filled = size;
                    portions.push(vec![lease]);
                }
            }
        }
        portions
    }

    /// Waits for room for a portion; first come, first served. A job that is larger than the budget takes all of it.
    ///
    /// Whoever waits holds no room, so nobody waits for ever.
    pub(super) async fn hold(&self, portion: &[Lease]) -> Held {
        let jobs = portion.iter().flat_map(|lease| &lease.jobs);
        let size = jobs.fold(0_u32, |sum, job| sum.saturating_add(units(raw_bytes(job))));
        // The semaphore is never closed.
        Held(
            self.room
                .clone()
                .acquire_many_owned(size.min(self.units))
                .await
                .ok(),
        )
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// What a job takes in memory: what its header declares, and never less than what is stored.
fn raw_bytes(job: &HandedJob) -> u64 {
    declared(job)
        .max(job.body.stored_bytes())
        .saturating_add(job.context.as_ref().map_or(0, Body::stored_bytes))
}

fn declared(job: &HandedJob) -> u64 {
    Header::decode(&job.header).map_or(0, |header| header.body.raw_bytes)
}

/// The size of a body that is larger than a body may be. It bypassed the encoder, and is not read.
pub(super) fn oversize(job: &HandedJob) -> Option<u64> {
    // A stored body may be one byte longer than its raw bytes, which say how it is encoded.
    let stored = job.body.stored_bytes().saturating_sub(1);
    Some(declared(job).max(stored)).filter(|bytes| *bytes > MAX_BODY_BYTES as u64)
}
