//! Reading single streams and events.
use crate::{
    Fixture,
    kit::{Events, all_pages, append, in_pages, stream, stream_of},
};
use bytes::Bytes;
use foldwright_domain::{EventId, Millis, RawEvent, StreamKey};
use foldwright_ports::{EventLog, EventRef, Limits, Retention, Selection};

async fn store(log: &dyn EventLog, events: &[RawEvent]) {
    let appends = events.iter().map(|event| append(vec![event.clone()])).collect();
    for answer in log.append(appends).await {
        answer.unwrap();
    }
}

async fn load(log: &dyn EventLog, stream: &StreamKey, limits: Limits) -> Vec<RawEvent> {
    all_pages(limits, |from, limits| log.load(stream, from, limits)).await
}

fn reference(stream: &StreamKey, event: &RawEvent) -> EventRef {
    EventRef {
        stream: stream.clone(),
        id: event.meta.id,
    }
}

/// L-05, L-16: business time first, then ids as numbers, whatever the order of appending; times before 1970 too.
pub async fn a_stream_loads_in_canonical_order(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let in_order = [
        (i64::MIN, 5),
        (-7, 5 << 12),
        (-1, 9),
        (0, 10),
        (5, 1),
        (5, 255),
        (5, 256),
        (5, u128::MAX >> 1),
        (5, (u128::MAX >> 1) + 1),
        (5, u128::MAX),
        (1_764_500_000_000, 3),
        (i64::MAX, 2),
    ]
    .map(|(at, id)| Events::with_id(&stream("a"), id, at));
    let mut shuffled = in_order.clone();
    shuffled.reverse();
    shuffled.swap(2, 9);
    store(log, &shuffled).await;
    assert_eq!(load(log, &stream("a"), Limits::items(100)).await, in_order);
    assert_eq!(load(log, &stream("a"), Limits::items(1)).await, in_order);
}

/// L-06
pub async fn streams_with_ids_that_begin_alike_stay_apart(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let [a, ab] = ["a", "ab"].map(stream);
    let mine = [events.next(&a, 1), events.next(&a, 3)];
    store(log, &[mine.as_slice(), &[events.next(&ab, 2)]].concat()).await;
    assert_eq!(load(log, &a, Limits::items(10)).await, mine);
    assert_eq!(load(log, &a, Limits::items(1)).await, mine);
    assert_eq!(load(log, &ab, Limits::items(10)).await.len(), 1);
    assert_eq!(load(log, &stream("b"), Limits::items(10)).await, []);
}

/// T-02
pub async fn odd_ids_are_never_one_stream(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let longest = "x".repeat(512);
    let odd = [
        "a/b", "a%2Fb", "a%2fb", "a:b", "a", "A", "a ", " a", "a\0", "a\0b", "{a}", "a'b", "a\"b", "a\\b",
        "a_b", "a%b", "日本", "é", "e\u{301}", "0", "00", &longest, "*", "a\n",
    ]
    .map(stream);
    let stored: Vec<_> = odd.iter().map(|stream| events.next(stream, 1)).collect();
    store(log, &stored).await;
    for (stream, event) in odd.iter().zip(&stored) {
        assert_eq!(
            load(log, stream, Limits::items(10)).await,
            std::slice::from_ref(event)
        );
    }
    let listed = all_pages(Limits::items(5), |from, limits| {
        let selection = Selection::all(stream("a").tenant);
        async move { log.aggregates(&selection, from, limits).await }
    })
    .await;
    assert_eq!(listed.len(), odd.len());
}

/// L-10: pages of every size hold the same events, without gap or repeat.
pub async fn a_stream_is_paged_by_items(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let stored: Vec<_> = (0..23).map(|n| events.next(&stream("a"), n / 3)).collect();
    store(log, &stored).await;
    for items in [1, 2, 7, 23, 24] {
        assert_eq!(load(log, &stream("a"), Limits::items(items)).await, stored);
    }
}

/// L-08: a first event that is larger than the page comes alone.
pub async fn a_stream_is_paged_by_bytes(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let sizes = [100, 100, 5_000, 100, 100, 100, 9_000, 9_000, 1];
    let stored: Vec<_> = (0..)
        .zip(sizes)
        .map(|(at, bytes)| {
            let mut event = events.next(&stream("a"), at);
            event.data = Bytes::from(format!("\"{}\"", "x".repeat(bytes)));
            event
        })
        .collect();
    store(log, &stored).await;
    for bytes in [1, 250, 4_000, 20_000] {
        let limits = Limits { items: 100, bytes };
        let pages = in_pages(limits, |from, limits| async move {
            log.load(&stream("a"), from, limits).await
        })
        .await;
        for page in &pages {
            let size: usize = page.iter().map(|event| event.data.len()).sum();
            assert!(
                page.len() <= 1 || size <= bytes,
                "{} events of {size} bytes",
                page.len()
            );
        }
        assert_eq!(pages.concat(), stored);
    }
}

/// T-05: found in the order asked, and only in its own stream.
pub async fn single_events_are_found_in_their_stream(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mut events = Events::new();
    let [a, b] = ["a", "b"].map(stream);
    let stored = [events.next(&a, 1), events.next(&a, 2), events.next(&b, 3)];
    store(log, &stored).await;
    let [one, two, three] = &stored;
    let unknown = EventRef {
        stream: a.clone(),
        id: EventId::from_u128(1),
    };
    let asked = [
        reference(&b, three),
        reference(&a, three),
        unknown,
        reference(&a, two),
        reference(&a, one),
        reference(&a, two),
    ];
    let expected = [Some(three), None, None, Some(two), Some(one), Some(two)]
        .map(|event: Option<&RawEvent>| event.cloned());
    assert_eq!(log.find(&asked).await.unwrap(), expected);
    assert_eq!(log.find(&[]).await.unwrap(), []);
}

/// G1: a read sees every append that returned, through any handle.
pub async fn another_handle_sees_what_returned(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let second = fixture.reopen(&harness).await;
    let mut events = Events::new();
    let mut stored = Vec::new();
    for n in 0..20 {
        let event = events.next(&stream("a"), n);
        stored.push(event.clone());
        let (from, to) = if n % 2 == 0 {
            (&harness.ports.log, &second.log)
        } else {
            (&second.log, &harness.ports.log)
        };
        store(&**from, &[event]).await;
        assert_eq!(load(&**to, &stream("a"), Limits::items(100)).await, stored);
    }
}

/// T-05, G11
pub async fn another_tenant_finds_and_removes_nothing(fixture: &dyn Fixture) {
    let harness = fixture.open().await;
    let log = &*harness.ports.log;
    let mine = stream_of("acme", "order", "o-1");
    let theirs = stream_of("acme2", "order", "o-1");
    let event = Events::new().next(&mine, 1);
    store(log, std::slice::from_ref(&event)).await;

    let all = Selection::all(theirs.tenant.clone());
    let limits = Limits::items(10);
    assert_eq!(load(log, &theirs, limits).await, []);
    assert_eq!(log.find(&[reference(&theirs, &event)]).await.unwrap(), [None]);
    assert_eq!(
        all_pages(limits, |from, limits| log.scan(&all, from, limits)).await,
        []
    );
    assert_eq!(
        all_pages(limits, |from, limits| log.aggregates(&all, from, limits)).await,
        []
    );
    assert_eq!(log.erase(&all, 10).await.unwrap(), 0);
    let retention = Retention {
        tenant: theirs.tenant.clone(),
        aggregate_types: Vec::new(),
        accepted_before: Millis(i64::MAX),
    };
    assert_eq!(log.retain(&retention, 10).await.unwrap(), 0);
    assert_eq!(load(log, &mine, limits).await, [event]);
}
