//! Events as a store keeps them.
use bytes::Bytes;
use foldwright_domain::Event;
use std::sync::Arc;

/// An event of any aggregate, already in the form in which a store keeps it: the kit reads it back as the kernel does.
///
/// Made from a user's event with `.into()`; there is no need to name it, unless events of several aggregates stand in
/// one list.
#[derive(Clone, Debug)]
pub struct Sample {
    pub(crate) event_type: &'static str,
    pub(crate) version: &'static str,
    pub(crate) data: Bytes,
}

impl<E: Event> From<E> for Sample {
    /// # Panics
    /// When the event's data is nothing that JSON can hold.
    #[track_caller]
    fn from(event: E) -> Self {
        let descriptor = event.descriptor();
        match event.encode() {
            Ok(data) => Self {
                event_type: descriptor.event_type,
                version: descriptor.version,
                data: data.into(),
            },
            Err(error) => panic!("{error}"),
        }
    }
}

impl Sample {
    /// The aggregate type, which is the third segment of every event type.
    pub(crate) fn aggregate_type(&self) -> Arc<str> {
        self.event_type.split('.').nth(2).unwrap_or_default().into()
    }
}
