//! Recording a history from a log.
use super::line::{Line, StoredEvent};
use foldwright_ports::{EventLog, Limits, Selection};
use std::io::Write;

/// Why a history could not be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The log did not answer.
    #[error("reading the log: {0}")]
    Log(#[from] foldwright_ports::Error),
    /// An event's data is no JSON.
    #[error("event {event} is no JSON: {source}")]
    Data {
        /// Its type.
        event: String,
        /// Where it failed.
        source: serde_json::Error,
    },
    /// The output did not take it.
    #[error("writing the history: {0}")]
    Write(#[from] std::io::Error),
}

/// Writes the selected events of a log as the lines of a recorded history, in canonical order, and answers how many there
/// were. From there on [`recorded_history!`](crate::recorded_history) keeps them readable; its first run adds the states.
///
/// The events stand there as they are: choose a tenant whose data may lie in a repository.
///
/// # Errors
/// [`RecordError`]; what was written before it is whole lines.
pub async fn record_history(
    log: &dyn EventLog,
    selection: &Selection,
    mut to: impl Write,
) -> Result<usize, RecordError> {
    let (mut events, mut from) = (0, None);
    loop {
        let page = log.scan(selection, from, Limits::items(1_000)).await?;
        for event in &page.items {
            let data = |source| RecordError::Data {
                event: event.meta.event_type.to_string(),
                source,
            };
            let line = Line::Event(Box::new(StoredEvent::of(event).map_err(data)?));
            writeln!(to, "{}", serde_json::to_string(&line).map_err(data)?)?;
            events += 1;
        }
        match page.next {
            Some(next) => from = Some(next),
            None => return Ok(to.flush().map(|()| events)?),
        }
    }
}
