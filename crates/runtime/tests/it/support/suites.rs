//! A second aggregate, and projections over both.
use super::runs::{RunEvent, Total};
use foldwright_domain::{
    Aggregate, AggregateId, AggregateType, Commutative, Declares, Fold, InvalidId, KeyedFold, Map, Millis,
    Recorded,
};
use foldwright_macros::{Event, Union};
use serde::{Deserialize, Serialize};
use std::ops::Range;

pub(crate) enum Suite {}

impl Aggregate for Suite {
    const TYPE: AggregateType = AggregateType::new("suite");
    type Event = SuiteEvent;
}

#[derive(Event)]
#[event(aggregate = Suite, prefix = "test.sim.suite", crate = foldwright_domain)]
pub(crate) enum SuiteEvent {
    #[event(name = "counted", version = "2026-01-01")]
    Counted(Counted),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) suite: String,
    pub(crate) n: u64,
}

pub(crate) enum Count {}

impl Declares for Count {
    type Of = Suite;
    type Data = Counted;
    const NAME: &'static str = "count";

    fn aggregate_id(data: &Counted) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(data.suite.as_str())
    }
}

#[derive(Union)]
#[union(crate = foldwright_domain)]
pub(crate) enum Anything {
    Run(RunEvent),
    Suite(SuiteEvent),
}

/// The number that an event brings; 0 for one that brings none.
pub(crate) fn number(event: &Anything) -> u64 {
    match event {
        Anything::Run(RunEvent::Noted(noted)) => noted.n,
        Anything::Run(RunEvent::Finished(_)) => 0,
        Anything::Suite(SuiteEvent::Counted(counted)) => counted.n,
    }
}

/// All that a tenant ever did, by the last digit of the number.
pub(crate) enum Usage {}

impl Fold for Usage {
    type On = Anything;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "usage";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<Anything>) -> Total {
        let n = number(&event.data);
        assert!(n != 777, "apply refuses 777");
        Total {
            events: total.events + 1,
            sum: total.sum + n,
        }
    }
}

impl KeyedFold for Usage {
    type Key = u64;

    fn key(event: &Recorded<Anything>) -> u64 {
        number(&event.data) % 10
    }

    fn window(_key: &u64) -> Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

/// A row of every event of a tenant.
pub(crate) enum Journal {}

impl Map for Journal {
    type On = Anything;
    type Record = u64;
    const NAME: &'static str = "journal";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<Anything>) -> Option<u64> {
        Some(number(&event.data))
    }
}
