//! What a command led to, and what a test says of it.
use crate::{Sample, difference};
use foldwright_domain::{Aggregate, Command, Event, Rejected};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The decision on one command. Each `then_…` compares and fails the test with what differs.
#[must_use = "a decision that nobody looks at tests nothing"]
pub struct Decision<C: Command> {
    pub(crate) decided: Result<Vec<<C::Of as Aggregate>::Event>, Rejected>,
}

impl<C: Command> Decision<C> {
    /// Exactly these events, in this order: type, version and data.
    ///
    /// # Panics
    /// When it decided otherwise.
    #[track_caller]
    pub fn then_events(self, expected: impl IntoIterator<Item = <C::Of as Aggregate>::Event>) {
        let expected = shown(expected);
        let actual = match self.decided {
            Ok(events) => shown(events),
            Err(rejected) => json!({ "rejected": rejection(&rejected) }),
        };
        assert!(
            expected == actual,
            "`{}` decided otherwise\n{}\n",
            C::NAME,
            difference::between(&expected, &actual)
        );
    }

    /// Neither an event nor a rejection.
    ///
    /// # Panics
    /// When it decided otherwise.
    #[track_caller]
    pub fn then_nothing(self) {
        self.then_events([]);
    }

    /// Rejected under this code; the message for people is free to change.
    ///
    /// # Panics
    /// When it decided otherwise.
    #[track_caller]
    pub fn then_rejected(self, code: &str) {
        let expected = json!({ "rejected": { "code": code } });
        let actual = match self.decided {
            Err(rejected) if rejected.code == code => return,
            Err(rejected) => json!({ "rejected": rejection(&rejected) }),
            Ok(events) => shown(events),
        };
        panic!(
            "`{}` decided otherwise\n{}\n",
            C::NAME,
            difference::between(&expected, &actual)
        );
    }

    /// The decision itself, for what a test wants to look at more closely.
    ///
    /// # Errors
    /// The rejection.
    pub fn into_result(self) -> Result<Vec<<C::Of as Aggregate>::Event>, Rejected> {
        self.decided
    }
}

impl<C: Command> std::fmt::Debug for Decision<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let events = self.decided.as_ref().map(Vec::len);
        f.debug_struct("Decision").field("decided", &events).finish()
    }
}

fn rejection(rejected: &Rejected) -> Value {
    json!({ "code": rejected.code, "message": rejected.message })
}

/// Events as people read them.
#[track_caller]
fn shown<E: Event>(events: impl IntoIterator<Item = E>) -> Value {
    let events = events.into_iter().map(|event| {
        let Sample {
            event_type,
            version,
            data,
        } = event.into();
        let data: Value = serde_json::from_slice(&data)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&data).into_owned()));
        json!({ "type": Cow::from(event_type), "version": version, "data": data })
    });
    Value::Array(events.collect())
}
