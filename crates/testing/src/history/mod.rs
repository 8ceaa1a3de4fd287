//! Recorded histories: real events as golden files.
mod line;
mod record;
mod recorded;

pub use record::{RecordError, record_history};
pub use recorded::RecordedHistory;

/// Opens the [`RecordedHistory`](crate::RecordedHistory) at a path that begins where the crate's `Cargo.toml` lies.
///
/// ```text
/// #[test]
/// fn the_first_night_reads_as_it_did() {
///     recorded_history!("tests/history/first_night.jsonl").fold::<Seats>().map::<Tickets>().check();
/// }
/// ```
///
/// [`record_history`](crate::record_history) makes the file. It may hold events alone at first: the first run fails and
/// writes the states beside them into a file to look at and to keep.
#[macro_export]
macro_rules! recorded_history {
    ($path:literal) => {
        $crate::RecordedHistory::open(::std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join($path))
    };
}
