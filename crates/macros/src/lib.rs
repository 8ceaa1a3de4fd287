//! Derives that describe events; they add no behaviour that cannot be seen.
//!
//! Each derive keeps the enum as it was written, adds the impls that its page lists, and turns what is declared
//! wrongly into compile errors. Written code refers to the domain as `::foldwright::domain`; a crate that depends on
//! the domain alone says `crate = foldwright_domain` in the attribute.

mod attrs;
mod chain;
mod constant;
mod event;
mod rules;
mod shape;
mod subset;
mod union;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Declares all events of one aggregate: one variant for each, holding the event's data.
///
/// ```
/// # extern crate self as foldwright;
/// # pub mod domain { pub use foldwright_domain::*; }
/// # use foldwright_domain::{Aggregate, AggregateType, EventSet};
/// # use foldwright_macros::Event;
/// use serde::{Deserialize, Serialize};
///
/// pub enum Run {}
///
/// impl Aggregate for Run {
///     const TYPE: AggregateType = AggregateType::new("run");
///     type Event = RunEvent;
/// }
///
/// #[derive(Event)]
/// #[event(aggregate = Run, prefix = "ex.sim.run")]
/// pub enum RunEvent {
///     #[event(name = "queued", version = "2026-03-01")]
///     #[upcast(from = "2025-01-01", to = "2025-06-01", with = v1::Queued::upcast)]
///     #[upcast(from = "2025-06-01", to = "2026-03-01", with = v2::Queued::upcast)]
///     Queued(Queued),
///     #[event(name = "finished", version = "2025-11-30")]
///     Finished(Finished),
/// }
///
/// #[derive(Serialize, Deserialize)]
/// pub struct Queued {
///     pub suite: String,
///     pub cases: u32,
/// }
///
/// #[derive(Serialize, Deserialize)]
/// pub struct Finished {
///     pub passed: bool,
/// }
///
/// mod v1 {
///     #[derive(serde::Deserialize)]
///     pub struct Queued {
///         name: String,
///     }
///
///     impl Queued {
///         pub fn upcast(self) -> super::v2::Queued {
///             super::v2::Queued { suite: self.name }
///         }
///     }
/// }
///
/// mod v2 {
///     #[derive(serde::Deserialize)]
///     pub struct Queued {
///         pub suite: String,
///     }
///
///     impl Queued {
///         pub fn upcast(self) -> super::Queued {
///             super::Queued { suite: self.suite, cases: 1 }
///         }
///     }
/// }
///
/// # fn main() -> Result<(), foldwright_domain::DecodeError> {
/// let RunEvent::Queued(queued) = RunEvent::decode("ex.sim.run.queued", "2025-01-01", br#"{"name":"smoke"}"#)? else {
///     panic!("another event");
/// };
/// assert_eq!((queued.suite.as_str(), queued.cases), ("smoke", 1));
/// assert_eq!(RunEvent::QUEUED.upcast_from, ["2025-01-01", "2025-06-01"]);
/// # Ok(())
/// # }
/// ```
///
/// # On the enum
///
/// `#[event(aggregate = …, prefix = "…")]`
///
/// - `aggregate`: the type that implements `Aggregate`; its `Event` has to be this enum.
/// - `prefix`: the first three segments of every event type, `<source>.<domain>.<aggregate>`. The third equals the
///   aggregate's `TYPE`.
/// - `crate` (optional): where the domain is found, instead of `::foldwright::domain`.
///
/// # On each variant
///
/// `#[event(name = "…", version = "…")]`
///
/// - `name`: the fourth segment, `[a-z][a-z0-9_]*`, once per enum.
/// - `version`: the version that is written, a date of the calendar, `YYYY-MM-DD`. Change it with the data's JSON.
/// - `lean` (optional): the path of a function from the data to the data that thins large values, for example with
///   `lean_text`. It is pure, and thinning what is thinned changes nothing. The log holds the whole event; jobs carry the
///   thinned one, and folds, maps and subscribers see it, whether it comes from a job or from the log.
///
/// `#[upcast(from = "…", to = "…", with = …)]`, any number of times
///
/// - `with`: the path of a function from the data of version `from` to the data of version `to`. It is pure and cannot
///   fail; its argument implements `Deserialize`.
/// - From every older version one way leads to the current one: there is no hole and no fork, and each step leads to
///   a later version.
///
/// # What it writes
///
/// - `impl EventSet`: `CATALOG` is one list with every variant's descriptor, in the order of the enum. `decode`
///   is one `match` on type and version; it reads JSON as the data type, or as the argument of the first upcaster and
///   through the chain. What the catalogue does not list is `DecodeError::Unknown`. `decode_lean` and `thinned` are written
///   where a variant has `lean`.
/// - `impl Event`: `descriptor` is one `match`, `encode` writes the data as JSON.
/// - `impl EventsOf<Aggregate>`.
/// - `impl From<Data>` for each variant, therefore a data type occurs once.
/// - An associated constant per variant with its `Descriptor`, as visible as the enum, called like the variant in
///   upper case: `SpanRecorded` gives `SPAN_RECORDED`, `HTTPSent` gives `HTTP_SENT`.
/// - Assertions, evaluated by the compiler, that enum, prefix and aggregate belong together and that the domain's own
///   `catalog_is_sound` holds.
///
/// The data types implement `Serialize` and `Deserialize`; the enum needs neither and gets neither.
#[proc_macro_derive(Event, attributes(event, upcast))]
pub fn derive_event(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    event::derive(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

/// Names some events of one aggregate: what a projection reads that does not care for the others.
///
/// The variants are called and hold what they do in the whole enum. A `match` over the subset is exhaustive over what
/// it names.
///
/// ```
/// # extern crate self as foldwright;
/// # pub mod domain { pub use foldwright_domain::*; }
/// # use foldwright_domain::{Aggregate, AggregateType, EventSet};
/// # use foldwright_macros::{Event, Subset};
/// # use serde::{Deserialize, Serialize};
/// # pub enum Run {}
/// # impl Aggregate for Run {
/// #     const TYPE: AggregateType = AggregateType::new("run");
/// #     type Event = RunEvent;
/// # }
/// # #[derive(Serialize, Deserialize)]
/// # pub struct Queued {}
/// # #[derive(Serialize, Deserialize)]
/// # pub struct Tagged {}
/// # #[derive(Serialize, Deserialize)]
/// # pub struct Finished {}
/// #[derive(Event)]
/// #[event(aggregate = Run, prefix = "ex.sim.run")]
/// pub enum RunEvent {
///     #[event(name = "queued", version = "2026-03-01")]
///     Queued(Queued),
///     #[event(name = "tagged", version = "2026-03-01")]
///     Tagged(Tagged),
///     #[event(name = "finished", version = "2026-03-01")]
///     Finished(Finished),
/// }
///
/// #[derive(Subset)]
/// #[subset(of = RunEvent)]
/// pub enum Lifecycle {
///     Queued(Queued),
///     Finished(Finished),
/// }
///
/// # fn main() {
/// assert!(Lifecycle::reads("ex.sim.run.queued"));
/// assert!(!Lifecycle::reads("ex.sim.run.tagged"));
/// # }
/// ```
///
/// # On the enum
///
/// `#[subset(of = …)]`
///
/// - `of`: the whole enum, one with `derive(Event)`.
/// - `crate` (optional): where the domain is found, instead of `::foldwright::domain`.
///
/// # What it writes
///
/// - `impl EventSet`: `CATALOG` is one list with the whole enum's descriptors of these variants, in the order of the
///   subset. `decode` reads through the whole enum, upcasters included; an event that the subset does not name is
///   `DecodeError::Unknown`.
/// - `impl EventsOf<A>` for the aggregate of the whole enum.
///
/// A subset is read and never written, so there is neither `Event` nor `From`.
#[proc_macro_derive(Subset, attributes(subset))]
pub fn derive_subset(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    subset::derive(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

/// Puts events of several aggregates under one `match`, for projections with a key of their own.
///
/// Each variant holds an enum with `derive(Event)` or a subset of one.
///
/// ```
/// # extern crate self as foldwright;
/// # pub mod domain { pub use foldwright_domain::*; }
/// # use foldwright_domain::{Aggregate, AggregateType, DecodeError, EventSet};
/// # use foldwright_macros::{Event, Union};
/// # use serde::{Deserialize, Serialize};
/// # pub enum Run {}
/// # impl Aggregate for Run {
/// #     const TYPE: AggregateType = AggregateType::new("run");
/// #     type Event = RunEvent;
/// # }
/// # pub enum Trace {}
/// # impl Aggregate for Trace {
/// #     const TYPE: AggregateType = AggregateType::new("trace");
/// #     type Event = TraceEvent;
/// # }
/// # #[derive(Serialize, Deserialize)]
/// # pub struct Finished {}
/// # #[derive(Serialize, Deserialize)]
/// # pub struct SpanRecorded {}
/// #[derive(Event)]
/// #[event(aggregate = Run, prefix = "ex.sim.run")]
/// pub enum RunEvent {
///     #[event(name = "finished", version = "2026-03-01")]
///     Finished(Finished),
/// }
///
/// #[derive(Event)]
/// #[event(aggregate = Trace, prefix = "otlp.tracing.trace")]
/// pub enum TraceEvent {
///     #[event(name = "span_recorded", version = "2025-11-30")]
///     SpanRecorded(SpanRecorded),
/// }
///
/// #[derive(Union)]
/// pub enum Billing {
///     Run(RunEvent),
///     Trace(TraceEvent),
/// }
///
/// # fn main() -> Result<(), DecodeError> {
/// let event = Billing::decode("otlp.tracing.trace.span_recorded", "2025-11-30", b"{}")?;
/// assert!(matches!(event, Billing::Trace(TraceEvent::SpanRecorded(_))));
/// # Ok(())
/// # }
/// ```
///
/// # On the enum
///
/// `#[union(crate = …)]` (optional): where the domain is found, instead of `::foldwright::domain`.
///
/// # What it writes
///
/// - `impl EventSet`: `CATALOG` has the list of each member, in the order of the enum. `decode` asks the member that
///   reads the type; where none does it is `DecodeError::Unknown`.
/// - An assertion, evaluated by the compiler, that no two members share an event type.
///
/// It writes no `EventsOf`, because a union is the events of no single aggregate: a fold over it needs a key.
#[proc_macro_derive(Union, attributes(union))]
pub fn derive_union(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    union::derive(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}
