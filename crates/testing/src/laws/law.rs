//! The laws.
use super::{
    cases,
    delivery::{Stored, apply, apply_all, decode, encode},
    history,
};
use crate::{Sample, Seeded, difference, timeline::read};
use foldwright_domain::{Fold, OrderKind, RawEvent, Recorded};
use serde_json::{Value, json};

/// What every fold keeps, whatever arrives. [`fold_laws!`](crate::fold_laws) makes a test of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// The same events one by one, in one batch or in any split lead to the same bytes, stored or not in between.
    BatchesEqualOneByOne,
    /// An event that comes again changes nothing: identities decide, as in the kernel.
    RedeliveryCountsOnce,
    /// A commutative fold comes to the same bytes in any order; a fold by occurrence to those of the canonical order,
    /// because the kernel folds anew what comes late.
    ArrivalInAnyOrderIsOneState,
    /// Each state is, byte for byte, what its JSON reads back as. A hash table is not: its order changes.
    StateSurvivesItsCodec,
    /// `init` gives the same bytes each time.
    InitIsStable,
    /// `apply` takes every event in every state.
    ApplyNeverPanics,
}

/// Why a law does not hold.
#[derive(Debug)]
pub(super) struct Broken(pub(super) String);

/// Tries a law on random histories, and fails the test when it does not hold.
///
/// # Panics
/// With the seed, the shortest history that still fails, and what differs.
#[track_caller]
pub fn holds<F: Fold, S: Into<Sample>>(law: Law, event: impl Fn(&mut Seeded) -> S) {
    for seed in cases::from_environment() {
        if let Some(report) = broken_by::<F, S>(law, seed, &event) {
            panic!("{report}");
        }
    }
}

/// Tries a law on the history of one seed; answers what to tell when it does not hold.
#[must_use]
pub fn broken_by<F: Fold, S: Into<Sample>>(
    law: Law,
    seed: u64,
    event: impl Fn(&mut Seeded) -> S,
) -> Option<String> {
    let mut seeded = Seeded::new(seed);
    let mut events = history::random(&mut seeded, |seeded| event(seeded).into());
    let mut broken = law.check::<F>(&events, &seeded).err()?;
    // Whatever can be left out is left out, so that what remains tells why.
    let mut at = 0;
    while at < events.len() {
        let mut fewer = events.clone();
        fewer.remove(at);
        match law.check::<F>(&fewer, &seeded) {
            Err(still) => (events, broken) = (fewer, still),
            Ok(()) => at += 1,
        }
    }
    let order = if <F::Order as OrderKind>::CANONICAL {
        "ByOccurrence"
    } else {
        "Commutative"
    };
    Some(format!(
        "fold `{}` ({order}) breaks the law {law:?}: {}\n\nby these events:\n{}\n\nseed {seed}: run it alone with \
         FOLDWRIGHT_SEED={seed}\n",
        F::NAME,
        broken.0,
        shown(&events)
    ))
}

impl Law {
    fn check<F: Fold>(self, events: &[RawEvent], seeded: &Seeded) -> Result<(), Broken> {
        let mut seeded = seeded.clone();
        let events = read::<F::On>(events);
        let mut canonical: Vec<_> = events.iter().collect();
        canonical.sort_by_key(|event| event.meta.position());
        match self {
            Self::BatchesEqualOneByOne => batches_equal_one_by_one::<F>(&canonical, &mut seeded),
            Self::RedeliveryCountsOnce => redelivery_counts_once::<F>(&canonical, &mut seeded),
            Self::ArrivalInAnyOrderIsOneState => arrival_in_any_order::<F>(&canonical, &mut seeded),
            Self::StateSurvivesItsCodec => state_survives_its_codec::<F>(&canonical),
            Self::InitIsStable => same(
                "`init` gives another state",
                &encode::<F>(&F::init())?,
                &encode::<F>(&F::init())?,
            ),
            Self::ApplyNeverPanics => apply_never_panics::<F>(&canonical),
        }
    }
}

/// How often each history is cut or shuffled.
const TRIES: usize = 4;

fn batches_equal_one_by_one<F: Fold>(
    canonical: &[&Recorded<F::On>],
    seeded: &mut Seeded,
) -> Result<(), Broken> {
    let whole = encode::<F>(&apply_all::<F>(F::init(), canonical)?)?;
    let one_by_one = Stored::<F>::after(canonical.iter().map(|event| vec![*event]))?;
    same(
        "one by one, stored in between, leads elsewhere than one batch",
        &whole,
        &one_by_one,
    )?;
    for _ in 0..TRIES {
        let parts = Stored::<F>::after(cut(canonical, seeded))?;
        same("a split leads elsewhere than one batch", &whole, &parts)?;
    }
    Ok(())
}

fn redelivery_counts_once<F: Fold>(
    canonical: &[&Recorded<F::On>],
    seeded: &mut Seeded,
) -> Result<(), Broken> {
    let once = Stored::<F>::after([canonical.to_vec()])?;
    for _ in 0..TRIES {
        let mut sent = 0;
        let mut batches = cut(canonical, seeded);
        for batch in &mut batches {
            sent += batch.len();
            // Some of this batch or of earlier ones once more, in any place.
            for event in canonical.iter().take(sent) {
                if seeded.one_in(2) {
                    batch.insert(seeded.index(batch.len() + 1), *event);
                }
            }
        }
        batches.push(canonical.to_vec());
        let more = Stored::<F>::after(batches)?;
        same("an event that came again was counted again", &once, &more)?;
    }
    Ok(())
}

fn arrival_in_any_order<F: Fold>(canonical: &[&Recorded<F::On>], seeded: &mut Seeded) -> Result<(), Broken> {
    let expected = encode::<F>(&apply_all::<F>(F::init(), canonical)?)?;
    let mut order = canonical.to_vec();
    order.reverse();
    for _ in 0..TRIES {
        let one_by_one = Stored::<F>::after(order.iter().map(|event| vec![*event]))?;
        let said = format!(
            "in the order {} it leads elsewhere than in canonical order",
            places(canonical, &order)
        );
        same(&said, &expected, &one_by_one)?;
        let parts = Stored::<F>::after(cut(&order, seeded))?;
        same(&format!("{said}, in batches"), &expected, &parts)?;
        seeded.shuffle(&mut order);
    }
    Ok(())
}

fn state_survives_its_codec<F: Fold>(canonical: &[&Recorded<F::On>]) -> Result<(), Broken> {
    let mut state = F::init();
    for event in canonical.iter().map(Some).chain([None]) {
        let stored = encode::<F>(&state)?;
        let read = decode::<F>(&stored)?;
        same(
            "a state that was read back is another one",
            &stored,
            &encode::<F>(&read)?,
        )?;
        let Some(event) = event else { break };
        let goes_on = encode::<F>(&apply::<F>(read, event)?)?;
        state = apply::<F>(state, event)?;
        same(
            "a state that was read back goes on otherwise",
            &encode::<F>(&state)?,
            &goes_on,
        )?;
    }
    Ok(())
}

fn apply_never_panics<F: Fold>(canonical: &[&Recorded<F::On>]) -> Result<(), Broken> {
    let state = apply_all::<F>(F::init(), canonical)?;
    for event in canonical {
        apply::<F>(F::init(), event)?;
        apply::<F>(state.clone(), event)?;
    }
    Ok(())
}

fn same(said: &str, expected: &[u8], actual: &[u8]) -> Result<(), Broken> {
    if expected == actual {
        return Ok(());
    }
    Err(Broken(format!(
        "{said}\n{}",
        difference::between_bytes(expected, actual)
    )))
}

/// Batches of at least one event.
fn cut<'a, E>(events: &[&'a Recorded<E>], seeded: &mut Seeded) -> Vec<Vec<&'a Recorded<E>>> {
    let mut batches: Vec<Vec<_>> = Vec::new();
    for event in events {
        match batches.last_mut() {
            Some(batch) if !seeded.one_in(3) => batch.push(*event),
            _ => batches.push(vec![*event]),
        }
    }
    batches
}

/// Where the events of an order stand in the list below.
fn places<E>(canonical: &[&Recorded<E>], order: &[&Recorded<E>]) -> String {
    let place = |event: &&Recorded<E>| canonical.iter().position(|one| one.meta.id == event.meta.id);
    let places: Vec<_> = order
        .iter()
        .filter_map(place)
        .map(|at| (at + 1).to_string())
        .collect();
    places.join(", ")
}

/// In canonical order, numbered.
fn shown(events: &[RawEvent]) -> String {
    let mut events: Vec<_> = events.iter().collect();
    events.sort_by_key(|event| event.meta.position());
    let lines = (1..).zip(events).map(|(number, event)| {
        let data: Value = serde_json::from_slice(&event.data).unwrap_or(Value::Null);
        let minute = event.meta.occurred_at.since(crate::START).as_secs() / 60;
        format!(
            "  {number}. {}",
            json!({ "minute": minute, "type": *event.meta.event_type, "data": data })
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}
