//! Events that are thinned before dispatch.
use foldwright_domain::{Aggregate, AggregateType, Commutative, Fold, Map, Recorded, lean_text};
use foldwright_macros::Event;
use foldwright_testing::{fold, map};
use serde::{Deserialize, Serialize};

enum Page {}

impl Aggregate for Page {
    const TYPE: AggregateType = AggregateType::new("page");
    type Event = PageEvent;
}

#[derive(Event)]
#[event(aggregate = Page, prefix = "test.kit.page", crate = foldwright_domain)]
enum PageEvent {
    #[event(name = "written", version = "2026-01-01", lean = thin)]
    Written(Written),
}

#[derive(Serialize, Deserialize)]
struct Written(String);

fn thin(Written(text): Written) -> Written {
    Written(lean_text(text, 4))
}

enum Last {}

impl Fold for Last {
    type On = PageEvent;
    type State = String;
    type Order = Commutative;
    const NAME: &'static str = "last";
    const VERSION: u32 = 1;

    fn init() -> String {
        String::new()
    }

    fn apply(_last: String, event: &Recorded<PageEvent>) -> String {
        let PageEvent::Written(Written(text)) = &event.data;
        text.clone()
    }
}

enum Copies {}

impl Map for Copies {
    type On = PageEvent;
    type Record = String;
    const NAME: &'static str = "copies";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<PageEvent>) -> Option<String> {
        let PageEvent::Written(Written(text)) = &event.data;
        Some(text.clone())
    }
}

///
#[test]
fn folds_and_maps_see_what_the_kernel_shows_them() {
    let event = || PageEvent::Written(Written("a long text".into()));
    let seen = "a lo… [cut from 11 bytes]".to_owned();
    fold::<Last>().given([event()]).then_state(seen.clone());
    map::<Copies>().given([event()]).then_records([Some(seen)]);
}
