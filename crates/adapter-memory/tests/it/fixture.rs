//! Memory stores for the suites.
use async_trait::async_trait;
use foldwright_adapter_memory::Memory;
use foldwright_conformance::{Declares, Fixture, Harness, TestClock};
use foldwright_ports::{Ports, QueueSettings};
use std::sync::Arc;

pub(crate) struct MemoryFixture;

#[async_trait]
impl Fixture for MemoryFixture {
    fn declares(&self) -> Declares {
        Declares {
            conditional_append: true,
            durable: false,
        }
    }

    async fn open_with(&self, settings: QueueSettings) -> Harness {
        let clock = TestClock::default();
        let memory = Memory::new(Arc::new(clock.clone()), settings);
        Harness::new(memory.ports(), clock, settings).keeping(memory)
    }

    async fn reopen(&self, harness: &Harness) -> Ports {
        harness.kept::<Memory>().ports()
    }
}
