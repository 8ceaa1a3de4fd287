use crate::{
    run::{self, RunEvent},
    wide::{Queued, StepEvent, Tagged},
};
use foldwright::domain::{DecodeError, EventSet};
use foldwright_macros::{Subset, Union};

#[derive(Subset, Debug, PartialEq)]
#[subset(of = StepEvent)]
enum Marked {
    Tagged(Tagged),
}

#[derive(Subset, Debug, PartialEq)]
#[subset(of = StepEvent)]
enum Begun {
    Queued(Queued),
}

#[derive(Union, Debug, PartialEq)]
enum Billing {
    Run(RunEvent),
    Marked(Marked),
    Begun(Begun),
}

#[derive(Union, Debug, PartialEq)]
#[union(crate = foldwright_domain)]
enum Alone {
    Run(RunEvent),
}

/// C-12
#[test]
fn the_catalogue_has_the_list_of_each_member() {
    assert_eq!(
        Billing::CATALOG,
        [RunEvent::CATALOG[0], Marked::CATALOG[0], Begun::CATALOG[0]]
    );
    assert_eq!(Alone::CATALOG, RunEvent::CATALOG);
}

/// L-12
#[test]
fn the_type_decides_which_member_reads() {
    let decode =
        |event_type, version, data: &str| Billing::decode(event_type, version, data.as_bytes()).unwrap();
    assert_eq!(
        decode("ex.sim.run.queued", "2025-01-01", r#"{"name":"a"}"#),
        Billing::Run(
            run::Queued {
                suite: "a".into(),
                cases: vec!["case-1".into()]
            }
            .into()
        )
    );
    assert_eq!(
        decode("ex.sim.step.tagged", "2026-03-01", r#"{"by":"ada"}"#),
        Billing::Marked(Marked::Tagged(Tagged { by: "ada".into() }))
    );
    assert_eq!(
        decode("ex.sim.step.queued", "2026-03-01", r#"{"by":"bob"}"#),
        Billing::Begun(Begun::Queued(Queued { by: "bob".into() }))
    );
    assert_eq!(
        Alone::decode("ex.sim.run.finished", "2025-11-30", br#"{"passed":true}"#).unwrap(),
        Alone::Run(run::Finished { passed: true }.into())
    );
}

/// L-11
#[test]
fn what_no_member_reads_is_unknown() {
    for (event_type, version) in [
        ("ex.sim.step.paused", "2026-03-01"),
        ("ex.sim.run.queued", "2020-01-01"),
        ("ex.other.run.queued", "2026-03-01"),
    ] {
        match Billing::decode(event_type, version, b"{}") {
            Err(DecodeError::Unknown {
                event_type: t,
                version: v,
            }) => assert_eq!((&*t, &*v), (event_type, version)),
            other => panic!("{event_type} {version}: {other:?}"),
        }
    }
    let broken = Billing::decode("ex.sim.step.tagged", "2026-03-01", b"{}");
    assert!(matches!(broken, Err(DecodeError::Data { .. })));
}
