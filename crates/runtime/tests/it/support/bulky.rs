//! Numbers with so many bytes beside them, and a fold that keeps the bytes.
use super::{Note, Noted, RunEvent, at, noise, tenant};
use foldwright_domain::{Commutative, Declared, Fold, Intent, Recorded};

/// The text of the last event.
pub(crate) enum Last {}

impl Fold for Last {
    type On = RunEvent;
    type State = String;
    type Order = Commutative;
    const NAME: &'static str = "last";
    const VERSION: u32 = 1;

    fn init() -> String {
        String::new()
    }

    fn apply(last: String, event: &Recorded<RunEvent>) -> String {
        match &event.data {
            RunEvent::Noted(noted) => noted.key.clone().unwrap_or_default(),
            RunEvent::Finished(_) => last,
        }
    }
}

/// A number with so many bytes beside it.
pub(crate) fn bulky(ms: i64, n: u64, bytes: usize) -> Intent<Declared<Note>> {
    let key = Some(noise(bytes, n));
    Intent::new(
        tenant("a"),
        at(ms),
        Declared(Noted {
            run: "r".into(),
            n,
            key,
        }),
    )
}
