//! What a service on Foldwright tests its rules with.
//!
//! Users find it as `foldwright::testing`, behind the feature `testing`:
//!
//! ```toml
//! [dev-dependencies]
//! foldwright = { …, features = ["testing"] }
//! ```
//!
//! | what is tested | with | runs |
//! |---|---|---|
//! | a command: what it leads to | [`when()`] for a handler, [`given`] for a decider | one pure function |
//! | a fold, a map: what it makes of events | [`fold()`], [`map()`] | one pure function |
//! | a fold: whatever arrives, in whatever order | [`fold_laws!`] | it on random histories |
//! | the service: everything together, over hours | [`TestKernel`], [`watched()`] | the kernel in memory, with virtual time |
//! | next year's code on this year's events | [`recorded_history!`], [`record_history`] | the projections on a file |
//!
//! Everything a test hands over takes the way through JSON that it takes in a running service: what does not come back as it
//! was is found here.
//!
//! # An example
//!
//! A cart that is checked out only when something is in it, and its rules as tests.
//!
//! ```
//! # extern crate self as foldwright;
//! # pub mod domain { pub use foldwright_domain::*; }
//! # use foldwright_domain::{
//! #     Aggregate, AggregateId, AggregateType, Command, Commutative, Decider, Fold, Handler, Intent, InvalidId, Recorded,
//! #     Rejected,
//! # };
//! # use foldwright_macros::Event;
//! # use foldwright_testing::{Law, holds};
//! use foldwright_testing::{Seeded, fold, fold_laws, given, when};
//! use serde::{Deserialize, Serialize};
//!
//! enum Cart {}
//! impl Aggregate for Cart {
//!     const TYPE: AggregateType = AggregateType::new("cart");
//!     type Event = CartEvent;
//! }
//!
//! #[derive(Event)]
//! #[event(aggregate = Cart, prefix = "shop.sales.cart")]
//! enum CartEvent {
//!     #[event(name = "item_added", version = "2026-01-15")]
//!     ItemAdded(ItemAdded),
//!     #[event(name = "checked_out", version = "2026-01-15")]
//!     CheckedOut(CheckedOut),
//! }
//! #[derive(Serialize, Deserialize)]
//! struct ItemAdded { cents: u64 }
//! #[derive(Serialize, Deserialize)]
//! struct CheckedOut {}
//!
//! enum Total {}
//! impl Fold for Total {
//!     type On = CartEvent;
//!     type State = u64;
//!     type Order = Commutative;
//!     const NAME: &'static str = "total";
//!     const VERSION: u32 = 1;
//!     fn init() -> u64 { 0 }
//!     fn apply(total: u64, event: &Recorded<CartEvent>) -> u64 {
//!         match &event.data {
//!             CartEvent::ItemAdded(item) => total + item.cents,
//!             CartEvent::CheckedOut(_) => total,
//!         }
//!     }
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct AddItem { cart: String, cents: u64 }
//! # impl Command for AddItem {
//! #     type Of = Cart;
//! #     const NAME: &'static str = "add_item";
//! #     fn aggregate_id(&self) -> Result<AggregateId, InvalidId> { AggregateId::parse(self.cart.as_str()) }
//! # }
//! impl Handler for AddItem {
//!     fn handle(intent: &Intent<Self>) -> Result<Vec<CartEvent>, Rejected> {
//!         Ok(vec![ItemAdded { cents: intent.payload.cents }.into()])
//!     }
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct CheckOut { cart: String }
//! # impl Command for CheckOut {
//! #     type Of = Cart;
//! #     const NAME: &'static str = "check_out";
//! #     fn aggregate_id(&self) -> Result<AggregateId, InvalidId> { AggregateId::parse(self.cart.as_str()) }
//! # }
//! impl Decider for CheckOut {
//!     type Fold = Total;
//!     fn decide(_: &Intent<Self>, total: &u64) -> Result<Vec<CartEvent>, Rejected> {
//!         match total {
//!             0 => Err(Rejected::new("empty", "there is nothing to pay")),
//!             _ => Ok(vec![CheckedOut {}.into()]),
//!         }
//!     }
//! }
//!
//! // The fold on any events at all, in any order: a module of six tests.
//! fold_laws!(total: Total, any_event);
//!
//! fn any_event(seeded: &mut Seeded) -> CartEvent {
//!     if seeded.one_in(4) { CheckedOut {}.into() } else { ItemAdded { cents: seeded.below(1_000) }.into() }
//! }
//!
//! # fn main() {
//! // The fold on events of one's choice.
//! fold::<Total>().given([ItemAdded { cents: 450 }, ItemAdded { cents: 50 }].map(CartEvent::from)).then_state(500);
//!
//! // A handler has no past. A decider decides on what is given.
//! when(AddItem { cart: "c-1".into(), cents: 450 }).then_events([ItemAdded { cents: 450 }.into()]);
//! given::<CheckOut>([]).when(CheckOut { cart: "c-1".into() }).then_rejected("empty");
//! given::<CheckOut>([ItemAdded { cents: 450 }.into()])
//!     .when(CheckOut { cart: "c-1".into() })
//!     .then_events([CheckedOut {}.into()]);
//! # holds::<Total, _>(Law::ArrivalInAnyOrderIsOneState, any_event);
//! # }
//! ```
#![forbid(unsafe_code)]

mod decision;
mod difference;
mod fold_case;
mod given;
mod history;
mod kernel;
mod laws;
mod sample;
mod seeded;
mod timeline;
mod watched;

pub use decision::Decision;
pub use fold_case::{Projected, fold, map};
pub use given::{Given, given, when, when_intent};
pub use history::{RecordError, RecordedHistory, record_history};
pub use kernel::TestKernel;
pub use laws::{Law, broken_by, holds};
pub use sample::Sample;
pub use seeded::Seeded;
pub use timeline::{START, tenant};
pub use watched::{Run, Runs, Watched, watched};
