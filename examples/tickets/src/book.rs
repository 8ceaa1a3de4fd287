//! Compiles and runs the snippets of the book's pages. The tutorial's are this crate's own files, see its tests.

macro_rules! pages {
    ($($name:ident: $path:literal),* $(,)?) => { $(#[doc = include_str!($path)] mod $name {})* };
}

pages! {
    commands: "../../../docs/concepts/commands.md",
    events: "../../../docs/concepts/events.md",
    folds: "../../../docs/concepts/folds.md",
    maps: "../../../docs/concepts/maps.md",
    operating: "../../../docs/operating.md",
    retention: "../../../docs/concepts/retention.md",
    roles: "../../../docs/concepts/roles.md",
    subscribers: "../../../docs/concepts/subscribers.md",
    tenants: "../../../docs/concepts/tenants.md",
    testing: "../../../docs/testing.md",
}
