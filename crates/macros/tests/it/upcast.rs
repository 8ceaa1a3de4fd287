use crate::run::{Queued, RunEvent};
use bytes::Bytes;
use foldwright_domain::{Aggregate, AggregateType, EventSet};
use foldwright_macros::Event;

/// L-12
#[test]
fn three_versions_of_one_fact_are_one_event() {
    let expected = RunEvent::Queued(Queued {
        suite: "smoke".into(),
        cases: vec!["case-1".into()],
    });
    for (version, data) in [
        ("2025-01-01", r#"{"name":"smoke"}"#),
        ("2025-06-01", r#"{"suite":"smoke","cases":1}"#),
        ("2026-03-01", r#"{"suite":"smoke","cases":["case-1"]}"#),
    ] {
        let stored = Bytes::from_static(data.as_bytes());
        assert_eq!(
            RunEvent::decode("ex.sim.run.queued", version, &stored).unwrap(),
            expected,
            "{version}"
        );
    }
}

/// L-12
#[test]
fn a_version_is_read_by_its_own_schema_alone() {
    assert!(
        RunEvent::decode(
            "ex.sim.run.queued",
            "2025-01-01",
            br#"{"suite":"smoke","cases":1}"#
        )
        .is_err()
    );
    assert!(RunEvent::decode("ex.sim.run.queued", "2025-06-01", br#"{"name":"smoke"}"#).is_err());
}

enum Name {}

impl Aggregate for Name {
    const TYPE: AggregateType = AggregateType::new("name");
    type Event = NameEvent;
}

#[derive(Event, PartialEq, Debug)]
#[event(crate = foldwright_domain, aggregate = Name, prefix = "ex.sim.name")]
enum NameEvent {
    #[event(name = "given", version = "2026-03-01")]
    #[upcast(from = "2025-03-01", to = "2026-03-01", with = stored)]
    #[upcast(from = "2025-02-01", to = "2025-03-01", with = data)]
    #[upcast(from = "2025-01-01", to = "2025-02-01", with = event_type)]
    Given(u64),
}

fn event_type(old: u8) -> u16 {
    u16::from(old) + 1
}

fn data(old: u16) -> u32 {
    u32::from(old) * 10
}

fn stored(old: u32) -> u64 {
    u64::from(old) + 7
}

/// L-12: functions are applied oldest first, whatever they are called and in whatever order they are declared.
#[test]
fn upcasters_are_ordinary_functions() {
    for (version, expected) in [
        ("2025-01-01", 37),
        ("2025-02-01", 27),
        ("2025-03-01", 9),
        ("2026-03-01", 2),
    ] {
        assert_eq!(
            NameEvent::decode("ex.sim.name.given", version, b"2").unwrap(),
            NameEvent::Given(expected)
        );
    }
}
