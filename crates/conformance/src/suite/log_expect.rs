//! Appending on an expectation.
use crate::{
    Fixture,
    kit::{Events, all_pages, append, stream},
};
use foldwright_domain::{RawEvent, StreamKey};
use foldwright_ports::{Append, AppendError, Appended, EventLog, Expect, Kind, Limits};
use std::sync::Arc;
use tokio::task::JoinSet;

async fn load(log: &dyn EventLog, stream: &StreamKey) -> Vec<RawEvent> {
    all_pages(Limits::items(1_000), |from, limits| {
        log.load(stream, from, limits)
    })
    .await
}

async fn append_one(log: &dyn EventLog, append: Append) -> Result<Vec<Appended>, AppendError> {
    let mut answers = log.append(vec![append]).await;
    assert_eq!(answers.len(), 1, "an answer for each command");
    answers.pop().unwrap()
}

fn expecting(events: Vec<RawEvent>, count: u64) -> Append {
    Append {
        expect: Expect::Count(count),
        ..append(events)
    }
}

/// C-05, L-07: where the log does not declare it, the expectation is refused and its neighbours are stored.
pub async fn an_expected_count_is_honoured_or_refused(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let conditional = fixture.declares().conditional_append;
    assert_eq!(log.capabilities().conditional, conditional);
    let mut events = Events::new();
    let [a, b] = ["a", "b"].map(stream);
    let before = append(vec![events.next(&a, 1), events.next(&a, 2)]);
    assert_eq!(
        append_one(log, before).await.unwrap(),
        [Appended::Fresh, Appended::Fresh]
    );

    let refused = expecting(vec![events.next(&a, 3), events.next(&a, 4)], 1);
    let neighbour = append(vec![events.next(&b, 5)]);
    let holds = expecting(vec![events.next(&a, 6)], 2);
    let [refused, neighbour, holds] = log
        .append(vec![refused, neighbour, holds])
        .await
        .try_into()
        .unwrap();
    assert_eq!(neighbour.unwrap(), [Appended::Fresh]);
    if conditional {
        assert!(
            matches!(refused, Err(AppendError::CountMismatch { actual: 2 })),
            "{refused:?}"
        );
        assert_eq!(holds.unwrap(), [Appended::Fresh]);
    } else {
        for answer in [refused, holds] {
            match answer {
                Err(AppendError::Store(error)) => assert_eq!(error.kind(), Kind::Unsupported),
                other => panic!("an undeclared capability is refused, not answered with {other:?}"),
            }
        }
    }
    let times = |events: Vec<RawEvent>| {
        events
            .iter()
            .map(|event| event.meta.occurred_at.0)
            .collect::<Vec<_>>()
    };
    let expected: &[i64] = if conditional { &[1, 2, 6] } else { &[1, 2] };
    assert_eq!(
        times(load(log, &a).await),
        expected,
        "a refused command stores nothing"
    );
    assert_eq!(times(load(log, &b).await), [5]);
}

/// L-02, C-05: identity is checked before the count.
pub async fn a_repeat_recognises_itself_before_the_count(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let command = vec![events.next(&stream("a"), 1), events.next(&stream("a"), 2)];
    let expect = if fixture.declares().conditional_append {
        expecting(command.clone(), 0)
    } else {
        append(command.clone())
    };
    assert_eq!(
        append_one(log, expect.clone()).await.unwrap(),
        [Appended::Fresh, Appended::Fresh]
    );
    let known = command.iter().map(|event| Appended::Duplicate {
        stored: event.meta.id,
    });
    assert_eq!(
        append_one(log, expect).await.unwrap(),
        known.collect::<Vec<_>>(),
        "the repeat is recognised although the count has grown"
    );
}

/// C-05, G4: of several that expect the same, one wins. Elsewhere all are refused.
pub async fn of_concurrent_expectations_one_wins(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let second = fixture.reopen(&harness).await;
    let mut events = Events::new();
    let mut tasks = JoinSet::new();
    for n in 0..10 {
        let log = Arc::clone(if n % 2 == 0 {
            &harness.ports.log
        } else {
            &second.log
        });
        let command = expecting(vec![events.next(&stream("a"), n)], 0);
        tasks.spawn(async move { append_one(&*log, command).await });
    }
    let (mut won, mut mismatched, mut unsupported) = (0, 0, 0);
    for answer in tasks.join_all().await {
        match answer {
            Ok(_) => won += 1,
            Err(AppendError::CountMismatch { actual }) => {
                assert_eq!(actual, 1);
                mismatched += 1;
            }
            Err(AppendError::Store(error)) => {
                assert_eq!(error.kind(), Kind::Unsupported);
                unsupported += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    let expected = if fixture.declares().conditional_append {
        (1, 9, 0)
    } else {
        (0, 0, 10)
    };
    assert_eq!((won, mismatched, unsupported), expected);
    assert_eq!(load(&*harness.ports.log, &stream("a")).await.len(), won);
}

/// C-05: a count is what an expectation meets, per stream and tenant.
pub async fn streams_are_counted(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let [a, b, none] = ["a", "b", "none"].map(stream);
    let twice = append(vec![events.next(&a, 1), events.next(&a, 2)]);
    let once = append(vec![events.next(&b, 3)]);
    for append in [twice.clone(), once, twice] {
        append_one(log, append).await.unwrap();
    }
    let foreign = StreamKey {
        tenant: foldwright_domain::TenantId::parse("someone-else").unwrap(),
        ..a.clone()
    };
    let asked = [b, none, a, foreign];
    assert_eq!(log.count(&asked).await.unwrap(), [1, 0, 2, 0]);
    assert!(log.count(&[]).await.unwrap().is_empty());
}
