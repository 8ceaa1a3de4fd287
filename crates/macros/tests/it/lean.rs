//! Thinned events, through the enum, a subset and a union.
use foldwright_domain::{Aggregate, AggregateType, EventSet, lean_text};
use foldwright_macros::{Event, Subset, Union};
use serde::{Deserialize, Serialize};

enum Page {}

impl Aggregate for Page {
    const TYPE: AggregateType = AggregateType::new("page");
    type Event = PageEvent;
}

#[derive(Event, PartialEq, Debug)]
#[event(crate = foldwright_domain, aggregate = Page, prefix = "ex.sim.page")]
enum PageEvent {
    #[event(name = "written", version = "2026-03-01", lean = thin)]
    #[upcast(from = "2025-01-01", to = "2026-03-01", with = older)]
    Written(Written),
    #[event(name = "read", version = "2026-03-01")]
    Read(String),
    #[event(name = "moved", version = "2026-03-01", lean = unstable)]
    Moved(Vec<u8>),
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Written {
    text: String,
}

fn older(text: String) -> Written {
    Written { text }
}

fn thin(written: Written) -> Written {
    Written {
        text: lean_text(written.text, 4),
    }
}

/// Thins what is thin already.
fn unstable(mut numbers: Vec<u8>) -> Vec<u8> {
    numbers.pop();
    numbers
}

#[derive(Subset, PartialEq, Debug)]
#[subset(of = PageEvent, crate = foldwright_domain)]
enum Writing {
    Written(Written),
}

#[derive(Union, PartialEq, Debug)]
#[union(crate = foldwright_domain)]
enum All {
    Pages(PageEvent),
}

const WRITTEN: &str = "ex.sim.page.written";
const NOW: &str = "2026-03-01";

fn data(text: &str) -> Vec<u8> {
    serde_json::to_vec(&Written { text: text.into() }).unwrap()
}

fn written() -> (Vec<u8>, Written) {
    let text = "a text".repeat(100);
    (data(&text), thin(Written { text }))
}

/// X-21
#[test]
fn a_thinned_event_is_seen_alike_through_enum_subset_and_union() {
    let (whole, thinned) = written();
    let stored = PageEvent::thinned(WRITTEN, NOW, &whole).unwrap();
    assert_eq!(stored, data(&thinned.text));
    assert_eq!(Writing::thinned(WRITTEN, NOW, &whole).as_ref(), Some(&stored));
    assert_eq!(All::thinned(WRITTEN, NOW, &whole).as_ref(), Some(&stored));
    for data in [&whole, &stored] {
        let PageEvent::Written(seen) = PageEvent::decode_lean(WRITTEN, NOW, data).unwrap() else {
            panic!("another event");
        };
        assert_eq!(seen, thinned);
        assert_eq!(
            Writing::decode_lean(WRITTEN, NOW, data).unwrap(),
            Writing::Written(thin(older("a text".repeat(100))))
        );
        assert_eq!(
            All::decode_lean(WRITTEN, NOW, data).unwrap(),
            All::Pages(PageEvent::Written(thin(older("a text".repeat(100)))))
        );
    }
    let read = PageEvent::decode(WRITTEN, NOW, &whole).unwrap();
    assert_eq!(read, PageEvent::Written(older("a text".repeat(100))));
}

/// X-21
#[test]
fn the_whole_goes_where_thinning_wins_nothing_or_would_be_seen_otherwise() {
    let thinned = |event_type, version, data: &[u8]| All::thinned(event_type, version, data);
    assert_eq!(thinned(WRITTEN, NOW, &data("a te")), None);
    // Cut, it is longer than before.
    assert_eq!(thinned(WRITTEN, NOW, &data("a text")), None);
    assert_eq!(thinned("ex.sim.page.read", NOW, br#""a long text""#), None);
    assert_eq!(thinned("ex.sim.page.moved", NOW, b"[1,2,3]"), None);
    assert_eq!(thinned(WRITTEN, NOW, b"no data"), None);
    assert_eq!(thinned("ex.sim.page.burnt", NOW, b"{}"), None);
}

/// X-21: its data is not the current version's, so it goes whole and is seen thinned.
#[test]
fn an_event_of_an_older_version_is_thinned_when_it_is_read() {
    let old = serde_json::to_vec(&"a text".repeat(100)).unwrap();
    assert_eq!(PageEvent::thinned(WRITTEN, "2025-01-01", &old), None);
    assert_eq!(
        PageEvent::decode_lean(WRITTEN, "2025-01-01", &old).unwrap(),
        PageEvent::Written(written().1)
    );
}
