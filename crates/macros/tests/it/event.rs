use crate::run::{Finished, Queued, Run, RunEvent};
use crate::wide::StepEvent;
use foldwright_domain::{DecodeError, Descriptor, EncodeError, Event, EventSet, EventsOf};
use foldwright_macros::Event;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

fn samples() -> [RunEvent; 2] {
    [
        Queued {
            suite: "smoke".into(),
            cases: vec!["a".into()],
        }
        .into(),
        Finished { passed: true }.into(),
    ]
}

#[test]
fn what_is_written_is_read() {
    for event in samples() {
        let Descriptor {
            event_type, version, ..
        } = *event.descriptor();
        let data = event.encode().unwrap();
        assert_eq!(RunEvent::decode(event_type, version, &data).unwrap(), event);
    }
}

/// Data is plain JSON of the data type: the enum adds nothing to it.
#[test]
fn data_is_the_json_of_its_type() {
    let [queued, finished] = samples().map(|event| String::from_utf8(event.encode().unwrap()).unwrap());
    assert_eq!(queued, r#"{"suite":"smoke","cases":["a"]}"#);
    assert_eq!(finished, r#"{"passed":true}"#);
}

/// C-12
#[test]
fn the_catalogue_lists_every_type_and_version() {
    let queued = Descriptor {
        event_type: "ex.sim.run.queued",
        version: "2026-03-01",
        upcast_from: &["2025-01-01", "2025-06-01"],
    };
    let finished = Descriptor {
        event_type: "ex.sim.run.finished",
        version: "2025-11-30",
        upcast_from: &[],
    };
    assert_eq!(RunEvent::CATALOG, [[queued, finished]]);
    assert_eq!([RunEvent::QUEUED, RunEvent::FINISHED], [queued, finished]);
    assert_eq!(StepEvent::CATALOG.concat().len(), 12);
}

/// L-11
#[test]
fn an_unknown_type_or_version_is_an_error_that_names_it() {
    for (event_type, version) in [
        ("ex.sim.run.lost", "2026-03-01"),
        ("ex.sim.run.queued", "2024-01-01"),
        ("ex.sim.run.finished", "2026-03-01"),
        ("", ""),
    ] {
        match RunEvent::decode(event_type, version, br#"{"passed":true}"#) {
            Err(DecodeError::Unknown {
                event_type: t,
                version: v,
            }) => assert_eq!((&*t, &*v), (event_type, version)),
            other => panic!("{event_type} {version}: {other:?}"),
        }
    }
}

/// L-11
#[test]
fn data_that_does_not_fit_is_an_error_that_names_it() {
    for (version, data) in [
        ("2026-03-01", "{}"),
        ("2025-01-01", "nonsense"),
        ("2025-01-01", r#"{"name":"a"} x"#),
    ] {
        match RunEvent::decode("ex.sim.run.queued", version, data.as_bytes()) {
            Err(DecodeError::Data {
                event_type,
                version: v,
                ..
            }) => {
                assert_eq!((&*event_type, &*v), ("ex.sim.run.queued", version));
            }
            other => panic!("{version} {data}: {other:?}"),
        }
    }
}

#[test]
fn the_enum_is_the_events_of_its_aggregate() {
    fn event_of<A, E: EventsOf<A>>() -> &'static [&'static [Descriptor]] {
        E::CATALOG
    }
    assert_eq!(event_of::<Run, RunEvent>(), RunEvent::CATALOG);
}

mod refused {
    use super::*;
    use foldwright_domain::{Aggregate, AggregateType};

    enum Odd {}

    impl Aggregate for Odd {
        const TYPE: AggregateType = AggregateType::new("odd");
        type Event = OddEvent;
    }

    #[derive(Event)]
    #[event(crate = foldwright_domain, aggregate = Odd, prefix = "ex.sim.odd")]
    enum OddEvent {
        #[event(name = "weighed", version = "2026-03-01")]
        Weighed(Weighed),
    }

    #[derive(Serialize, Deserialize)]
    struct Weighed(BTreeMap<Vec<u8>, u8>);

    #[test]
    fn what_json_cannot_hold_is_an_error_that_names_it() {
        let event = OddEvent::from(Weighed(BTreeMap::from([(vec![1], 1)])));
        let EncodeError { event_type, .. } = event.encode().unwrap_err();
        assert_eq!(event_type, "ex.sim.odd.weighed");
    }
}
