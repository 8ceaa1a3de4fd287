//! Event sourcing for multi-tenant services.
//!
//! State facts as plain types, pick adapters, and get an append-only log, exact folds, parallel maps and side effects
//! that follow them, each tenant apart from all others. See the repository's `README.md` for a first run and
//! `examples/traces` for a whole service.
#![forbid(unsafe_code)]

pub use foldwright_domain as domain;
pub use foldwright_ports as ports;

/// Every port in memory, deterministic: for tests and simulations.
#[cfg(feature = "memory")]
pub use foldwright_adapter_memory as memory;
/// Every port in one SQLite file: the embedded default.
#[cfg(feature = "sqlite")]
pub use foldwright_adapter_sqlite as sqlite;

/// The kernel's traces over OTLP.
#[cfg(feature = "otlp")]
pub use foldwright_telemetry as telemetry;

/// What a service tests its rules with.
#[cfg(feature = "testing")]
pub use foldwright_testing as testing;

pub use foldwright_macros::{Event, Subset, Union};
pub use foldwright_runtime::{
    Answered, Backlog, Counter, Counters, DescribedCommand, DescribedEnvelope, DescribedFold, DescribedMap,
    DescribedPipeline, DescribedSubscriber, DescribedTable, Description, EffectError, Exit, Faults, Global,
    Kernel, KernelBuilder, KillSwitch, MAX_FUTURE, NoBase, Operator, Pipeline, Projection, Propagation,
    Reader, Receipt, ReceiptError, ReceiptKey, RefoldBudget, Restaged, RetainCursor, RetainError, Retained,
    Role, SeededIds, SendError, SendRefused, Shutdown, ShutdownBudget, ShutdownError, Signals, Standing,
    Stopped, StoredEvents, Subscriber, SubscriberCounts, SubscriberOptions, Switch, SystemIds, TARGET,
    TooLarge, TooShort, TraceParent, Unreadable, WhyNoBase, WithoutBase, WorkerSettings, describe_metrics,
    metric_names, run_until_done, run_until_signal,
};

/// What a service imports to write its types.
pub mod prelude {
    pub use crate::domain::{
        Aggregate, AggregateId, AggregateType, ByOccurrence, Command, Commutative, Decider, Declared,
        Declares, Dispatch, Fold, Handler, Intent, InvalidId, Key, KeyedFold, Map, Millis, Recorded,
        Rejected, TenantId,
    };
    pub use crate::{
        Answered, EffectError, Event, Faults, Kernel, Pipeline, Projection, Role, Subscriber, Subset, Union,
        ports::{Clock, SystemClock},
    };
}

/// Compiles the code of the repository's first page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
