//! A cart, small and with one of everything.
use foldwright_domain::{
    Aggregate, AggregateId, AggregateType, ByOccurrence, Command, Commutative, Decider, Fold, Handler,
    Intent, InvalidId, Map, Recorded, Rejected,
};
use foldwright_macros::{Event, Subset};
use foldwright_testing::Seeded;
use serde::{Deserialize, Serialize};

pub(crate) enum Cart {}

impl Aggregate for Cart {
    const TYPE: AggregateType = AggregateType::new("cart");
    type Event = CartEvent;
}

#[derive(Event)]
#[event(aggregate = Cart, prefix = "shop.sales.cart", crate = foldwright_domain)]
pub(crate) enum CartEvent {
    #[event(name = "item_added", version = "2026-01-15")]
    #[upcast(from = "2025-01-01", to = "2026-01-15", with = in_cents)]
    ItemAdded(ItemAdded),
    #[event(name = "checked_out", version = "2026-01-15")]
    CheckedOut(CheckedOut),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ItemAdded {
    pub(crate) name: String,
    pub(crate) cents: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckedOut {
    pub(crate) cents: u64,
}

/// What an item was before prices had cents.
#[derive(Deserialize)]
pub(crate) struct WholePrice {
    name: String,
    euros: u64,
}

fn in_cents(old: WholePrice) -> ItemAdded {
    ItemAdded {
        name: old.name,
        cents: old.euros * 100,
    }
}

#[derive(Subset)]
#[subset(of = CartEvent, crate = foldwright_domain)]
pub(crate) enum Added {
    ItemAdded(ItemAdded),
}

pub(crate) fn added(name: &str, cents: u64) -> CartEvent {
    ItemAdded {
        name: name.into(),
        cents,
    }
    .into()
}

pub(crate) fn checked_out(cents: u64) -> CartEvent {
    CheckedOut { cents }.into()
}

/// Any event of a cart.
pub(crate) fn any_event(seeded: &mut Seeded) -> CartEvent {
    match seeded.below(4) {
        0 => checked_out(seeded.below(1_000)),
        _ => added(seeded.pick(&["tea", "cup", "pot", "tin"]), seeded.below(1_000)),
    }
}

/// Adds an item; one that costs nothing is refused.
#[derive(Serialize, Deserialize)]
pub(crate) struct AddItem {
    pub(crate) cart: String,
    pub(crate) name: String,
    pub(crate) cents: u64,
}

impl Command for AddItem {
    type Of = Cart;
    const NAME: &'static str = "add_item";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.cart.as_str())
    }
}

impl Handler for AddItem {
    fn handle(intent: &Intent<Self>) -> Result<Vec<CartEvent>, Rejected> {
        let Self { name, cents, .. } = &intent.payload;
        match cents {
            0 => Err(Rejected::new("free", "an item has a price")),
            _ => Ok(vec![added(name, *cents)]),
        }
    }
}

/// Pays what is in the cart, which is a minute old at least.
#[derive(Serialize, Deserialize)]
pub(crate) struct CheckOut {
    pub(crate) cart: String,
}

impl Command for CheckOut {
    type Of = Cart;
    const NAME: &'static str = "check_out";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.cart.as_str())
    }
}

impl Decider for CheckOut {
    type Fold = Open;

    fn decide(intent: &Intent<Self>, open: &OpenCart) -> Result<Vec<CartEvent>, Rejected> {
        match open.since {
            None => Err(Rejected::new("empty", "there is nothing to pay")),
            Some(since) if intent.occurred_at.0 - since < 60_000 => {
                Err(Rejected::new("hasty", "look at it for a minute"))
            }
            Some(_) => Ok(vec![checked_out(open.cents)]),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenCart {
    pub(crate) cents: u64,
    pub(crate) since: Option<i64>,
}

/// What is to be paid, and since when.
pub(crate) enum Open {}

impl Fold for Open {
    type On = CartEvent;
    type State = OpenCart;
    type Order = ByOccurrence;
    const NAME: &'static str = "open";
    const VERSION: u32 = 1;

    fn init() -> OpenCart {
        OpenCart::default()
    }

    fn apply(open: OpenCart, event: &Recorded<CartEvent>) -> OpenCart {
        match &event.data {
            CartEvent::ItemAdded(item) => OpenCart {
                cents: open.cents + item.cents,
                since: open.since.or(Some(event.meta.occurred_at.0)),
            },
            CartEvent::CheckedOut(_) => OpenCart::default(),
        }
    }
}

/// What was ever put into it, in cents.
pub(crate) enum Total {}

impl Fold for Total {
    type On = Added;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = "total";
    const VERSION: u32 = 1;

    fn init() -> u64 {
        0
    }

    fn apply(cents: u64, event: &Recorded<Added>) -> u64 {
        match &event.data {
            Added::ItemAdded(item) => cents + item.cents,
        }
    }
}

/// The name of each item that costs something to speak of.
pub(crate) enum Items {}

impl Map for Items {
    type On = CartEvent;
    type Record = String;
    const NAME: &'static str = "items";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<CartEvent>) -> Option<String> {
        match &event.data {
            CartEvent::ItemAdded(item) if item.cents >= 100 => Some(item.name.clone()),
            CartEvent::ItemAdded(_) | CartEvent::CheckedOut(_) => None,
        }
    }
}
