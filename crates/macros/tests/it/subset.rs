use crate::{
    run::{self, RunEvent},
    wide::{Finished, Queued, Step, StepEvent, one_of_each},
};
use bytes::Bytes;
use foldwright::domain::{
    AggregateId, CommandId, Commutative, DecodeError, Event, EventSet, EventsOf, Fold, Identity, Meta,
    Millis, RawEvent, Recorded, StreamKey, TenantId,
};
use foldwright_macros::Subset;

#[derive(Subset, Debug, PartialEq)]
#[subset(of = StepEvent)]
enum Lifecycle {
    Queued(Queued),
    Finished(Finished),
}

struct Progress;

impl Fold for Progress {
    type On = Lifecycle;
    type State = Vec<String>;
    type Order = Commutative;
    const NAME: &'static str = "progress";
    const VERSION: u32 = 1;

    fn init() -> Vec<String> {
        Vec::new()
    }

    fn apply(mut state: Vec<String>, event: &Recorded<Lifecycle>) -> Vec<String> {
        state.push(match &event.data {
            Lifecycle::Queued(_) => "queued".into(),
            Lifecycle::Finished(_) => "finished".into(),
        });
        state
    }
}

fn stored(event: &StepEvent) -> RawEvent {
    let command = CommandId::from_u128(1 << 12);
    let id = command.event(0).unwrap();
    Recorded {
        meta: Meta {
            id,
            identity: Identity::of_id(id),
            stream: StreamKey {
                tenant: TenantId::parse("acme").unwrap(),
                aggregate_type: "step".into(),
                id: AggregateId::parse("1").unwrap(),
            },
            event_type: event.descriptor().event_type.into(),
            version: event.descriptor().version.into(),
            occurred_at: Millis(0),
            accepted_at: Millis(0),
            idempotency_key: None,
            correlation_id: command,
            causation_id: id,
            trace_context: None,
        },
        data: Bytes::from(event.encode().unwrap()),
    }
}

/// X-22
#[test]
fn a_fold_over_two_of_twelve_events_gets_those_two() {
    let mut state = Progress::init();
    let mut given = 0;
    for Recorded { meta, data } in one_of_each().iter().map(stored) {
        if Lifecycle::reads(&meta.event_type) {
            let data = Lifecycle::decode(&meta.event_type, &meta.version, &data).unwrap();
            state = Progress::apply(state, &Recorded { meta, data });
            given += 1;
        }
    }
    state.sort();
    assert_eq!(
        (given, state),
        (2, vec!["finished".to_owned(), "queued".to_owned()])
    );
}

/// X-22, L-11
#[test]
fn an_event_that_the_subset_does_not_name_is_unknown_to_it() {
    let mut unknown = 0;
    for event in one_of_each() {
        let event_type = event.descriptor().event_type;
        for data in [event.encode().unwrap(), b"nonsense".to_vec()] {
            if let Err(DecodeError::Unknown {
                event_type: named,
                version,
            }) = Lifecycle::decode(event_type, "2026-03-01", &data)
            {
                assert_eq!((&*named, &*version), (event_type, "2026-03-01"));
                unknown += 1;
            }
        }
    }
    assert_eq!(unknown, 2 * 10);
}

/// L-11
#[test]
fn an_unknown_version_and_broken_data_are_errors() {
    let decode = |version, data| Lifecycle::decode("ex.sim.step.queued", version, data).unwrap_err();
    assert!(matches!(decode("2020-01-01", b"{}"), DecodeError::Unknown { .. }));
    assert!(matches!(decode("2026-03-01", b"{}"), DecodeError::Data { .. }));
}

/// C-12
#[test]
fn the_catalogue_is_that_of_the_named_variants() {
    assert_eq!(Lifecycle::CATALOG, [[StepEvent::QUEUED, StepEvent::FINISHED]]);
}

/// L-12
#[test]
fn older_versions_are_upcast() {
    let old = Lifecycle::decode("ex.sim.step.finished", "2025-01-01", br#""ada""#).unwrap();
    assert_eq!(old, Lifecycle::Finished(Finished { by: "ada".into() }));
}

#[test]
fn a_subset_is_of_the_same_aggregate() {
    fn names<A, E: EventsOf<A>>() -> usize {
        E::CATALOG.concat().len()
    }
    assert_eq!(names::<Step, Lifecycle>(), 2);
    assert_eq!(names::<run::Run, All>(), 2);
}

#[derive(Subset, Debug, PartialEq)]
#[subset(crate = foldwright_domain, of = run::RunEvent)]
enum All {
    Finished(run::Finished),
    Queued(run::Queued),
}

#[test]
fn a_subset_may_name_every_event() {
    assert_eq!(All::CATALOG, [[RunEvent::FINISHED, RunEvent::QUEUED]]);
    let read = All::decode("ex.sim.run.finished", "2025-11-30", br#"{"passed":true}"#).unwrap();
    assert_eq!(read, All::Finished(run::Finished { passed: true }));
    let read = All::decode("ex.sim.run.queued", "2025-01-01", br#"{"name":"a"}"#).unwrap();
    assert_eq!(
        read,
        All::Queued(run::Queued {
            suite: "a".into(),
            cases: vec!["case-1".into()]
        })
    );
}
