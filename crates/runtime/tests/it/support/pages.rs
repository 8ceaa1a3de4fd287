//! Pages with long texts, which are thinned.
use foldwright_domain::{
    Aggregate, AggregateId, AggregateType, ByOccurrence, Commutative, Declares, Fold, InvalidId, KeyedFold,
    Map, Millis, Recorded, lean_text,
};
use foldwright_macros::{Event, Subset, Union};
use foldwright_runtime::{EffectError, Subscriber};
use serde::{Deserialize, Serialize};
use std::{
    ops::Range,
    sync::{Arc, Mutex},
};

/// So many bytes of a text are seen.
pub(crate) const KEPT: usize = 200;

pub(crate) enum Page {}

impl Aggregate for Page {
    const TYPE: AggregateType = AggregateType::new("page");
    type Event = PageEvent;
}

#[derive(Event)]
#[event(aggregate = Page, prefix = "test.sim.page", crate = foldwright_domain)]
pub(crate) enum PageEvent {
    #[event(name = "written", version = "2026-01-01", lean = thin)]
    Written(Written),
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) page: String,
    pub(crate) text: String,
    pub(crate) key: Option<String>,
}

fn thin(mut written: Written) -> Written {
    assert!(written.text != "boom", "thinning refuses this text");
    written.text = lean_text(written.text, KEPT);
    written
}

#[derive(Subset)]
#[subset(of = PageEvent, crate = foldwright_domain)]
pub(crate) enum Writing {
    Written(Written),
}

#[derive(Union)]
#[union(crate = foldwright_domain)]
pub(crate) enum Everything {
    Writing(Writing),
}

/// Writes on a page.
pub(crate) enum Write {}

impl Declares for Write {
    type Of = Page;
    type Data = Written;
    const NAME: &'static str = "write";

    fn aggregate_id(data: &Written) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(data.page.as_str())
    }

    fn idempotency_key(data: &Written) -> Option<String> {
        data.key.clone()
    }
}

/// The texts in canonical order.
pub(crate) enum Texts {}

impl Fold for Texts {
    type On = PageEvent;
    type State = Vec<String>;
    type Order = ByOccurrence;
    const NAME: &'static str = "texts";
    const VERSION: u32 = 1;

    fn init() -> Vec<String> {
        Vec::new()
    }

    fn apply(mut texts: Vec<String>, event: &Recorded<PageEvent>) -> Vec<String> {
        let PageEvent::Written(written) = &event.data;
        texts.push(written.text.clone());
        texts
    }
}

/// The same, of which the last four may still change places.
pub(crate) enum SuppleTexts {}

impl Fold for SuppleTexts {
    type On = Writing;
    type State = Vec<String>;
    type Order = ByOccurrence;
    const NAME: &'static str = "supple_texts";
    const VERSION: u32 = 1;
    const REORDER_WINDOW: usize = 4;

    fn init() -> Vec<String> {
        Vec::new()
    }

    fn apply(mut texts: Vec<String>, event: &Recorded<Writing>) -> Vec<String> {
        let Writing::Written(written) = &event.data;
        texts.push(written.text.clone());
        texts
    }
}

/// Over all pages, by how long the texts are seen to be.
pub(crate) enum Lengths {}

impl Fold for Lengths {
    type On = Everything;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = "lengths";
    const VERSION: u32 = 1;

    fn init() -> u64 {
        0
    }

    fn apply(count: u64, _event: &Recorded<Everything>) -> u64 {
        count + 1
    }
}

impl KeyedFold for Lengths {
    type Key = usize;

    fn key(event: &Recorded<Everything>) -> usize {
        let Everything::Writing(Writing::Written(written)) = &event.data;
        written.text.len()
    }

    fn window(_key: &usize) -> Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

pub(crate) enum Copies {}

impl Map for Copies {
    type On = PageEvent;
    type Record = String;
    const NAME: &'static str = "copies";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<PageEvent>) -> Option<String> {
        let PageEvent::Written(written) = &event.data;
        Some(written.text.clone())
    }
}

/// Writes down what texts it is given.
pub(crate) struct Scribe(pub(crate) Arc<Mutex<Vec<String>>>);

impl Subscriber for Scribe {
    type On = PageEvent;
    type State = Vec<String>;
    const NAME: &'static str = "scribe";

    async fn run(&self, event: &Recorded<PageEvent>, _state: &Vec<String>) -> Result<(), EffectError> {
        let PageEvent::Written(written) = &event.data;
        self.0.lock().unwrap().push(written.text.clone());
        Ok(())
    }
}
