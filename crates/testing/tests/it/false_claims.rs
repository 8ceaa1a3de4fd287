//! Folds that claim what they do not keep. Each one must fail, and the printed seed must fail again.
use crate::{
    cart::{CartEvent, any_event},
    failure,
};
use foldwright_domain::{ByOccurrence, Commutative, Fold, OrderKind, Recorded};
use foldwright_testing::{Law, broken_by, holds};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

/// A fold that does one thing wrong.
trait Liar: Send + Sync + 'static {
    type State: Clone + Serialize + serde::de::DeserializeOwned + Send + Sync + 'static;
    type Order: OrderKind;
    fn init() -> Self::State;
    fn apply(state: Self::State, cents: u64, name: &str) -> Self::State;
}

struct Claims<L>(std::marker::PhantomData<L>);

impl<L: Liar> Fold for Claims<L> {
    type On = CartEvent;
    type State = L::State;
    type Order = L::Order;
    const NAME: &'static str = "claims";
    const VERSION: u32 = 1;

    fn init() -> L::State {
        L::init()
    }

    fn apply(state: L::State, event: &Recorded<CartEvent>) -> L::State {
        match &event.data {
            CartEvent::ItemAdded(item) => L::apply(state, item.cents, &item.name),
            CartEvent::CheckedOut(paid) => L::apply(state, paid.cents, ""),
        }
    }
}

/// The law fails with a seed, and that seed alone fails in the same words.
fn breaks<L: Liar>(law: Law) -> String {
    let said = failure(|| holds::<Claims<L>, _>(law, any_event));
    let (_, seed) = said.trim_end().rsplit_once("FOLDWRIGHT_SEED=").expect(&said);
    let again = broken_by::<Claims<L>, _>(law, seed.parse().unwrap(), any_event).unwrap();
    assert!(
        again.starts_with(&format!("fold `claims` ({})", order::<L>())),
        "{again}"
    );
    assert!(again.contains(&format!("breaks the law {law:?}")), "{again}");
    said
}

fn order<L: Liar>() -> &'static str {
    if L::Order::CANONICAL {
        "ByOccurrence"
    } else {
        "Commutative"
    }
}

/// The last price: order matters, and it says that it does not.
struct Last;

impl Liar for Last {
    type State = u64;
    type Order = Commutative;
    fn init() -> u64 {
        0
    }
    fn apply(_: u64, cents: u64, _: &str) -> u64 {
        cents
    }
}

/// C-18
#[test]
fn a_fold_that_is_not_commutative_fails_with_a_seed() {
    let said = breaks::<Last>(Law::ArrivalInAnyOrderIsOneState);
    // Two events are enough, and no more are shown.
    assert!(said.contains("\n  2. ") && !said.contains("\n  3. "), "{said}");
    assert!(said.contains("in the order 2, 1"), "{said}");
    let same = broken_by::<Claims<Last>, _>(Law::ArrivalInAnyOrderIsOneState, 0, any_event);
    assert_eq!(
        same,
        broken_by::<Claims<Last>, _>(Law::ArrivalInAnyOrderIsOneState, 0, any_event)
    );
}

/// The same with the truth about its order.
struct LastOfAll;

impl Liar for LastOfAll {
    type State = u64;
    type Order = ByOccurrence;
    fn init() -> u64 {
        0
    }
    fn apply(_: u64, cents: u64, _: &str) -> u64 {
        cents
    }
}

#[test]
fn a_fold_that_tells_the_truth_keeps_every_law() {
    for law in [
        Law::BatchesEqualOneByOne,
        Law::RedeliveryCountsOnce,
        Law::ArrivalInAnyOrderIsOneState,
        Law::StateSurvivesItsCodec,
        Law::InitIsStable,
        Law::ApplyNeverPanics,
    ] {
        holds::<Claims<LastOfAll>, _>(law, any_event);
    }
}

/// Counts in a field that is not stored.
struct Forgets;

#[derive(Clone, Default, Serialize, Deserialize)]
struct Forgetful {
    #[serde(skip)]
    seen: u64,
    odd: bool,
}

impl Liar for Forgets {
    type State = Forgetful;
    type Order = Commutative;
    fn init() -> Forgetful {
        Forgetful::default()
    }
    fn apply(state: Forgetful, _: u64, _: &str) -> Forgetful {
        let seen = state.seen + 1;
        Forgetful {
            seen,
            odd: seen % 2 == 1,
        }
    }
}

/// C-18
#[test]
fn a_fold_whose_batch_differs_from_one_by_one_fails_with_a_seed() {
    let said = breaks::<Forgets>(Law::BatchesEqualOneByOne);
    assert!(said.contains("one by one, stored in between"), "{said}");
    let said = breaks::<Forgets>(Law::StateSurvivesItsCodec);
    assert!(said.contains("goes on otherwise"), "{said}");
}

/// Keeps a hash table.
struct Hashes;

impl Liar for Hashes {
    // order is not observed: that it would be is what the law finds out
    type State = HashMap<String, u64>;
    type Order = Commutative;
    fn init() -> HashMap<String, u64> {
        HashMap::new()
    }
    fn apply(mut state: HashMap<String, u64>, cents: u64, name: &str) -> HashMap<String, u64> {
        *state.entry(name.to_owned()).or_default() += cents;
        state
    }
}

#[test]
fn a_hash_table_in_a_state_is_found() {
    let said = failure(|| holds::<Claims<Hashes>, _>(Law::StateSurvivesItsCodec, any_event));
    assert!(said.contains("keep ordered maps and sets"), "{said}");
}

/// Counts outside of its state, so that what comes again counts again.
struct Impure;

static CALLS: AtomicU64 = AtomicU64::new(0);

impl Liar for Impure {
    type State = u64;
    type Order = Commutative;
    fn init() -> u64 {
        0
    }
    fn apply(_: u64, _: u64, _: &str) -> u64 {
        CALLS.fetch_add(1, Ordering::Relaxed)
    }
}

#[test]
fn a_fold_that_looks_elsewhere_is_found() {
    for law in [Law::BatchesEqualOneByOne, Law::RedeliveryCountsOnce] {
        let said = breaks::<Impure>(law);
        assert!(said.contains("\n  1. ") && !said.contains("\n  2. "), "{said}");
    }
}

/// Cannot be in debt.
struct Panics;

impl Liar for Panics {
    type State = u64;
    type Order = Commutative;
    fn init() -> u64 {
        500
    }
    fn apply(state: u64, cents: u64, _: &str) -> u64 {
        state.checked_sub(cents).expect("no debts")
    }
}

#[test]
fn a_panic_in_apply_is_found() {
    let said = breaks::<Panics>(Law::ApplyNeverPanics);
    assert!(said.contains("`apply` panics at shop.sales.cart."), "{said}");
    assert!(said.contains("no debts"), "{said}");
}

/// Begins anew each time.
struct Unstable;

static BEGINNINGS: AtomicU64 = AtomicU64::new(0);

impl Liar for Unstable {
    type State = u64;
    type Order = Commutative;
    fn init() -> u64 {
        BEGINNINGS.fetch_add(1, Ordering::Relaxed)
    }
    fn apply(state: u64, _: u64, _: &str) -> u64 {
        state
    }
}

#[test]
fn an_init_that_changes_is_found() {
    breaks::<Unstable>(Law::InitIsStable);
}
