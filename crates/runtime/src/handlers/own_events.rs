//! The events of one command, as the log holds them.
use foldwright_domain::{CommandId, RawEvent, StreamKey};
use foldwright_ports::{EventLog, EventRef, Result};

/// How many are asked for at first; each call asks for four times as many as the one before.
const AT_FIRST: usize = 16;

/// The events that this command itself led to, in order; empty where there are none.
///
/// A command's events are stored all or none, so the first that is missing is behind the last.
pub(crate) async fn own_events(
    stream: &StreamKey,
    command: CommandId,
    log: &dyn EventLog,
) -> Result<Vec<RawEvent>> {
    let (mut events, mut step) = (Vec::new(), AT_FIRST);
    loop {
        let wanted: Vec<_> = (events.len()..events.len() + step)
            .map_while(|index| command.event(index))
            .map(|id| EventRef {
                stream: stream.clone(),
                id,
            })
            .collect();
        let asked = wanted.len();
        let found = log.find(&wanted).await?;
        let before = events.len();
        events.extend(found.into_iter().map_while(|event| event));
        if asked == 0 || events.len() - before < asked {
            return Ok(events);
        }
        step *= 4;
    }
}
