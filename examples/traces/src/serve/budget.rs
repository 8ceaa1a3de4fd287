//! Room for requests in flight.
use super::refusal::Refusal;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const UNIT: usize = 1 << 10;

/// How many exports run at once, and how much memory they hold together.
pub(super) struct Budget {
    exports: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    total_units: usize,
}

impl Budget {
    pub(super) fn new(exports: usize, bytes: usize) -> Self {
        let total_units = bytes.div_ceil(UNIT);
        Self {
            exports: Arc::new(Semaphore::new(exports)),
            memory: Arc::new(Semaphore::new(total_units)),
            total_units,
        }
    }

    /// Room for one export, or the advice to come back.
    pub(super) fn admit(&self) -> Result<Share, Refusal> {
        let export = self
            .exports
            .clone()
            .try_acquire_owned()
            .map_err(|_| Refusal::busy("too many requests in flight"))?;
        Ok(Share {
            _export: export,
            memory: self.memory.clone(),
            total_units: self.total_units,
            held: None,
            bytes: 0,
        })
    }

    /// Bytes that are not handed out.
    pub(super) fn free_bytes(&self) -> usize {
        self.memory.available_permits().saturating_mul(UNIT)
    }

    pub(super) fn free_exports(&self) -> usize {
        self.exports.available_permits()
    }
}

/// What one export holds; given back when it is dropped.
pub(super) struct Share {
    _export: OwnedSemaphorePermit,
    memory: Arc<Semaphore>,
    total_units: usize,
    held: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl Share {
    /// Takes so many bytes more.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes = self.bytes.saturating_add(bytes);
        let units = self.bytes.div_ceil(UNIT);
        if units > self.total_units {
            return Err(Refusal::too_large(
                "the request holds more than the server has memory for; send smaller batches",
            ));
        }
        let held = self.held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = u32::try_from(units.saturating_sub(held)).unwrap_or(u32::MAX);
        if more == 0 {
            return Ok(());
        }
        let permit = self
            .memory
            .clone()
            .try_acquire_many_owned(more)
            .map_err(|_| Refusal::busy("no memory for another request"))?;
        match &mut self.held {
            Some(held) => held.merge(permit),
            None => self.held = Some(permit),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::StatusCode;

    #[test]
    fn room_is_bounded_and_comes_back() {
        let budget = Budget::new(2, 10 << 10);
        let mut one = budget.admit().unwrap();
        let mut two = budget.admit().unwrap();
        let third = budget.admit().map(drop).unwrap_err();
        assert_eq!(third.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(third.retry_after.is_some());
        one.grow(6 << 10).unwrap();
        assert_eq!(
            two.grow(5 << 10).unwrap_err().status,
            StatusCode::SERVICE_UNAVAILABLE
        );
        assert_eq!(budget.free_bytes(), 4 << 10);
        drop(one);
        assert_eq!(budget.free_bytes(), 10 << 10);
        two.grow(1).unwrap();
        assert_eq!(
            two.grow(10 << 10).unwrap_err().status,
            StatusCode::PAYLOAD_TOO_LARGE
        );
    }
}
