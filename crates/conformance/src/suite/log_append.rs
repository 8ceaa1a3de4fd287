//! Appending to the event log.
use crate::{
    Fixture,
    kit::{Events, all_pages, append, stream, stream_of},
};
use bytes::Bytes;
use foldwright_domain::{EventId, Identity, Millis, RawEvent, StreamKey};
use foldwright_ports::{Append, AppendError, Appended, EventLog, Limits};
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

/// L-05, G1
pub async fn an_event_is_stored_as_it_was_given(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut event = Events::new().next(&stream("o-1"), 1_764_400_000_000);
    event.meta.idempotency_key = Some("order/7 ☃".into());
    event.meta.identity = Identity::keyed(&event.meta.stream, "place", 0, "order/7 ☃");
    event.meta.trace_context = Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into());
    event.meta.causation_id = EventId::from_u128(u128::MAX);
    event.data = Bytes::from_static("{\"text\":\"a\\u0000b ' \\\" ☃\"}".as_bytes());
    let answer = append_one(log, append(vec![event.clone()])).await.unwrap();
    assert_eq!(answer, [Appended::Fresh]);
    assert_eq!(load(log, &event.meta.stream).await, [event]);
}

/// L-02, L-09, G1: also when it comes again because its answer was lost.
pub async fn a_repeat_is_a_duplicate_of_the_first(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let first = events.next(&stream("o-1"), 10);
    let mut again = events.next(&stream("o-1"), 10);
    again.meta.identity = first.meta.identity;
    again.meta.accepted_at = Millis(first.meta.accepted_at.0 + 5_000);
    again.data = first.data.clone();
    assert_eq!(
        append_one(log, append(vec![first.clone()])).await.unwrap(),
        [Appended::Fresh]
    );
    for repeat in [first.clone(), again] {
        let answer = append_one(log, append(vec![repeat])).await.unwrap();
        let stored = first.meta.id;
        assert_eq!(answer, [Appended::Duplicate { stored }]);
    }
    assert_eq!(load(log, &first.meta.stream).await, [first]);
}

/// L-03
pub async fn another_content_is_a_conflict_and_the_first_stays(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let first = events.next(&stream("o-1"), 10);
    let changes: [fn(&mut RawEvent); 4] = [
        |event| event.data = Bytes::from_static(b"{\"n\":\"other\"}"),
        |event| event.meta.event_type = "shop.sales.order.paid".into(),
        |event| event.meta.version = "2026-04-01".into(),
        |event| event.meta.occurred_at = Millis(11),
    ];
    append_one(log, append(vec![first.clone()])).await.unwrap();
    for change in changes {
        let mut other = events.next(&stream("o-1"), 10);
        other.meta.identity = first.meta.identity;
        other.data = first.data.clone();
        change(&mut other);
        let answer = append_one(log, append(vec![other])).await.unwrap();
        let stored = first.meta.id;
        assert_eq!(answer, [Appended::Conflict { stored }]);
    }
    assert_eq!(load(log, &first.meta.stream).await, [first]);
}

/// L-02: within one call the first command wins too.
pub async fn repeats_within_one_call_are_found(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let first = events.next(&stream("o-1"), 10);
    let other = events.next(&stream("o-2"), 20);
    let answers = log
        .append(
            [&first, &other, &first]
                .map(|event| append(vec![event.clone()]))
                .into(),
        )
        .await;
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    let stored = first.meta.id;
    assert_eq!(
        answers,
        [
            [Appended::Fresh],
            [Appended::Fresh],
            [Appended::Duplicate { stored }]
        ]
    );
    assert_eq!(load(log, &first.meta.stream).await, [first]);
}

/// L-02: ten at once, over two handles.
pub async fn concurrent_appends_of_one_identity_leave_one_event(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let second = fixture.reopen(&harness).await;
    let mut events = Events::new();
    let mut tasks = JoinSet::new();
    let first = events.next(&stream("o-1"), 10);
    for n in 0..10 {
        let log = Arc::clone(if n % 2 == 0 {
            &harness.ports.log
        } else {
            &second.log
        });
        let mut event = events.next(&stream("o-1"), 10);
        event.meta.identity = first.meta.identity;
        event.data = first.data.clone();
        tasks.spawn(async move {
            (
                event.meta.id,
                append_one(&*log, append(vec![event])).await.unwrap(),
            )
        });
    }
    let answers = tasks.join_all().await;
    let stored = load(&*harness.ports.log, &first.meta.stream).await;
    assert_eq!(stored.len(), 1, "one identity is one event");
    let stored = stored[0].meta.id;
    let fresh: Vec<_> = answers
        .iter()
        .filter(|(_, answer)| answer == &[Appended::Fresh])
        .collect();
    assert!(
        fresh.iter().any(|(id, _)| *id == stored),
        "the stored one was accepted"
    );
    if fixture.declares().conditional_append {
        assert_eq!(
            fresh.len(),
            1,
            "a log that can compare and append accepts only one"
        );
        let duplicates = answers
            .iter()
            .filter(|(_, answer)| answer == &[Appended::Duplicate { stored }]);
        assert_eq!(duplicates.count(), 9, "the others are told which one stands");
    }
    assert_eq!(load(&*second.log, &first.meta.stream).await[0].meta.id, stored);
}

/// L-04
pub async fn one_key_on_other_streams_and_commands_is_another_fact(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let streams = [
        stream_of("acme", "order", "o-1"),
        stream_of("acme", "order", "o-2"),
        stream_of("globex", "order", "o-1"),
        stream_of("acme", "basket", "o-1"),
    ];
    for stream in &streams {
        for command in ["place", "pay"] {
            let mut event = events.next(stream, 10);
            event.meta.identity = Identity::keyed(stream, command, 0, "k");
            event.meta.idempotency_key = Some("k".into());
            assert_eq!(
                append_one(log, append(vec![event])).await.unwrap(),
                [Appended::Fresh]
            );
        }
    }
    for stream in &streams {
        assert_eq!(load(log, stream).await.len(), 2);
    }
}

/// L-03, L-07: what is called fresh can be read, whatever became of the others.
pub async fn a_mixed_command_answers_per_event(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let [first, second] = [1, 2].map(|at| events.next(&stream("a"), at));
    append_one(log, append(vec![first.clone(), second.clone()]))
        .await
        .unwrap();
    let mut other = events.next(&stream("a"), 2);
    other.meta.identity = second.meta.identity;
    other.data = Bytes::from_static(b"{\"other\":true}");
    let fresh = events.next(&stream("a"), 0);
    let answer = append_one(log, append(vec![fresh.clone(), first.clone(), other]))
        .await
        .unwrap();
    let expected = [
        Appended::Fresh,
        Appended::Duplicate {
            stored: first.meta.id,
        },
        Appended::Conflict {
            stored: second.meta.id,
        },
    ];
    assert_eq!(answer, expected);
    assert_eq!(load(log, &stream("a")).await, [fresh, first, second]);
}

/// L-07, L-08
pub async fn a_thousand_concurrent_appends_all_land(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let mut events = Events::new();
    let mut tasks = JoinSet::new();
    let mut expected = Vec::new();
    for n in 0..1_000 {
        let event = events.next(&stream(if n % 3 == 0 { "hot" } else { "other" }), n);
        if n % 3 == 0 {
            expected.push(event.clone());
        }
        let log = Arc::clone(&harness.ports.log);
        tasks.spawn(async move { append_one(&*log, append(vec![event])).await.unwrap() });
    }
    for answer in tasks.join_all().await {
        assert_eq!(answer, [Appended::Fresh]);
    }
    assert_eq!(load(&*harness.ports.log, &stream("hot")).await, expected);
}

/// C-02: a command of the largest size lands whole.
pub async fn the_largest_command_is_stored(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let command = EventId::from_u128(7 << 12).command();
    let events: Vec<_> = (0..foldwright_domain::MAX_EVENTS_PER_COMMAND)
        .map(|index| Events::with_id(&stream("a"), command.event(index).unwrap().as_u128(), 1))
        .collect();
    let answer = append_one(log, append(events.clone())).await.unwrap();
    assert_eq!(answer, vec![Appended::Fresh; events.len()]);
    assert_eq!(load(log, &stream("a")).await, events);
}

/// L-01, G1
pub async fn appended_events_outlive_the_process(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let event = Events::new().next(&stream("a"), 1);
    append_one(&*harness.ports.log, append(vec![event.clone()]))
        .await
        .unwrap();
    assert_eq!(
        load(&*harness.ports.log, &event.meta.stream).await,
        vec![event.clone()]
    );
    let harness = fixture.restart(harness).await;
    let kept = load(&*harness.ports.log, &event.meta.stream).await;
    let expected = if fixture.declares().durable {
        vec![event]
    } else {
        Vec::new()
    };
    assert_eq!(kept, expected);
}
