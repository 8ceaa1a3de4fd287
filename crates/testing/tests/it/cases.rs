//! Given, when, then.
use crate::{
    cart::{AddItem, CheckOut, Items, Open, OpenCart, Total, added, any_event, checked_out},
    failure,
};
use foldwright_domain::{
    Aggregate, AggregateId, AggregateType, Command, Commutative, Fold, Handler, Intent, InvalidId, Recorded,
    Rejected,
};
use foldwright_testing::{START, fold, fold_laws, given, map, when};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fold_laws!(open: Open, any_event);
fold_laws!(total: Total, any_event);

fn add(name: &str, cents: u64) -> AddItem {
    AddItem {
        cart: "c-1".into(),
        name: name.into(),
        cents,
    }
}

fn check_out() -> CheckOut {
    CheckOut { cart: "c-1".into() }
}

#[test]
fn a_handler_is_tested_without_a_past() {
    when(add("tea", 450)).then_events([added("tea", 450)]);
    when(add("tea", 0)).then_rejected("free");
    assert_eq!(when(add("tea", 450)).into_result().unwrap().len(), 1);
}

#[test]
fn a_decider_decides_on_what_was_given_and_on_the_time() {
    given::<CheckOut>([]).when(check_out()).then_rejected("empty");
    given::<CheckOut>([added("tea", 450)])
        .when(check_out())
        .then_rejected("hasty");
    given::<CheckOut>([added("tea", 450)])
        .after(MINUTE)
        .and([added("cup", 900)])
        .when(check_out())
        .then_events([checked_out(1_350)]);
    given::<CheckOut>([added("tea", 450)])
        .after(MINUTE)
        .and([checked_out(450)])
        .after(MINUTE)
        .when(check_out())
        .then_rejected("empty");
}

#[test]
fn other_events_than_expected_are_shown_line_by_line() {
    let said = failure(|| when(add("tea", 450)).then_events([added("tea", 451)]));
    assert!(said.starts_with("`add_item` decided otherwise"), "{said}");
    assert!(
        said.contains("\n  -       \"cents\": 451,\n  +       \"cents\": 450,\n"),
        "{said}"
    );
    let said = failure(|| when(add("tea", 0)).then_events([added("tea", 0)]));
    assert!(said.contains("\"message\": \"an item has a price\""), "{said}");
    let said = failure(|| when(add("tea", 450)).then_nothing());
    assert!(said.contains("shop.sales.cart.item_added"), "{said}");
}

#[test]
fn another_rejection_than_expected_is_shown() {
    let said = failure(|| when(add("tea", 0)).then_rejected("paid"));
    assert!(said.contains("-     \"code\": \"paid\""), "{said}");
    assert!(said.contains("+     \"code\": \"free\""), "{said}");
    let said = failure(|| when(add("tea", 450)).then_rejected("free"));
    assert!(said.contains("\"name\": \"tea\""), "{said}");
}

#[test]
fn folds_and_maps_read_what_is_theirs() {
    let events = || [added("tea", 450), checked_out(450), added("pin", 5)];
    fold::<Total>().given(events()).then_state(455);
    fold::<Total>().then_state(0);
    fold::<Open>()
        .given([added("tea", 450)])
        .after(MINUTE)
        .given([added("cup", 900)])
        .then_state(OpenCart {
            cents: 1_350,
            since: Some(START.0),
        });
    map::<Items>()
        .given(events())
        .then_records([Some("tea".into()), None, None]);
    let said = failure(|| fold::<Total>().given(events()).then_state(454));
    assert!(said.contains("fold `total` (commutative)"), "{said}");
    assert!(said.contains("  - 454\n  + 455"), "{said}");
    let said = failure(|| map::<Items>().given(events()).then_records([]));
    assert!(said.contains("+   \"tea\","), "{said}");
}

/// A command with a field that does not travel, and a decision that depends on the day.
#[derive(Serialize, Deserialize)]
struct Lossy {
    #[serde(skip)]
    cents: u64,
    id: String,
}

static RUNS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

impl Command for Lossy {
    type Of = crate::cart::Cart;
    const NAME: &'static str = "lossy";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.id.as_str())
    }
}

impl Handler for Lossy {
    fn handle(intent: &Intent<Self>) -> Result<Vec<crate::cart::CartEvent>, Rejected> {
        let drawn = match intent.payload.id.as_str() {
            "impure" => RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            _ => 0,
        };
        Ok(vec![checked_out(intent.payload.cents + drawn)])
    }
}

#[test]
fn a_payload_travels_as_it_does_through_the_queue() {
    let lossy = |id: &str| Lossy {
        cents: 7,
        id: id.into(),
    };
    when(lossy("pure")).then_events([checked_out(0)]);
    let said = failure(|| when(lossy("impure")).then_nothing());
    assert!(said.contains("decides otherwise when it runs again"), "{said}");
    let said = failure(|| when(lossy("")).then_nothing());
    assert!(said.contains("would be refused at `send`"), "{said}");
}

/// A union of two aggregates' events.
mod union {
    use super::{
        Aggregate, AggregateType, Commutative, Deserialize, Fold, Recorded, Serialize, added, checked_out,
        fold,
    };
    use crate::cart::CartEvent;
    use foldwright_macros::{Event, Union};
    use foldwright_testing::{Sample, Seeded, fold_laws};

    pub(crate) enum Parcel {}

    impl Aggregate for Parcel {
        const TYPE: AggregateType = AggregateType::new("parcel");
        type Event = ParcelEvent;
    }

    #[derive(Event)]
    #[event(aggregate = Parcel, prefix = "shop.post.parcel", crate = foldwright_domain)]
    pub(crate) enum ParcelEvent {
        #[event(name = "sent", version = "2026-01-15")]
        Sent(Sent),
    }

    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct Sent {}

    #[derive(Union)]
    #[union(crate = foldwright_domain)]
    pub(crate) enum Shop {
        Cart(CartEvent),
        Parcel(ParcelEvent),
    }

    pub(crate) enum Count {}

    impl Fold for Count {
        type On = Shop;
        type State = (u64, u64);
        type Order = Commutative;
        const NAME: &'static str = "count";
        const VERSION: u32 = 1;

        fn init() -> (u64, u64) {
            (0, 0)
        }

        fn apply((carts, parcels): (u64, u64), event: &Recorded<Shop>) -> (u64, u64) {
            match &event.data {
                Shop::Cart(CartEvent::ItemAdded(_)) => (carts + 1, parcels),
                Shop::Cart(CartEvent::CheckedOut(_)) => (carts, parcels),
                Shop::Parcel(ParcelEvent::Sent(_)) => (carts, parcels + 1),
            }
        }
    }

    fold_laws!(count: Count, any_of_both);

    fn any_of_both(seeded: &mut Seeded) -> Sample {
        if seeded.one_in(2) {
            added("tea", 450).into()
        } else {
            ParcelEvent::from(Sent {}).into()
        }
    }

    #[test]
    fn events_of_several_aggregates_stand_in_one_list() {
        let events: [Sample; 3] = [
            added("tea", 1).into(),
            ParcelEvent::from(Sent {}).into(),
            checked_out(1).into(),
        ];
        fold::<Count>().given(events).then_state((1, 1));
    }
}
