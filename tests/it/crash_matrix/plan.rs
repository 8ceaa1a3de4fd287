//! What the sender sends.
use super::service::{BROKEN, Finish, Note, Noted, REFUSED, SEATS, SLOW, Take};
use foldwright::{
    domain::{Declared, Intent, Millis},
    prelude::TenantId,
};

/// The business time that commands are counted from.
const START: i64 = 1_767_225_600_000;

pub(super) const TENANTS: [&str; 2] = ["a", "b"];

/// How many ask for the seats of a run: one more than there are.
const ASKERS: u64 = SEATS + 1;

/// How many events a finish makes.
pub(super) const PARTS: u64 = 3;

/// The prefix of what a migration sends, which no subscriber hears of.
pub(super) const MIGRATED: &str = "migrated";

pub(super) fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

/// One command as the sender and the verdict remember it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Planned {
    pub(super) tenant: &'static str,
    pub(super) run: &'static str,
    /// Its business time, in ms after the start.
    pub(super) ms: i64,
    pub(super) n: u64,
    /// How many bytes of text come with it, which do not shrink.
    pub(super) text: usize,
}

impl Planned {
    /// The sender's name for it.
    pub(super) fn by(&self) -> String {
        format!("{}/{}/{}", self.tenant, self.run, self.ms)
    }

    fn intent<C: foldwright::domain::Command>(&self, payload: C) -> Intent<C> {
        Intent::new(tenant(self.tenant), Millis(START + self.ms), payload)
    }

    pub(super) fn note(&self) -> Intent<Declared<Note>> {
        self.intent(Declared(Noted {
            run: self.run.into(),
            n: self.n,
            by: self.by(),
            text: noise(self.text, self.n),
        }))
    }

    pub(super) fn take(&self) -> Intent<Take> {
        self.intent(Take {
            run: self.run.into(),
            n: self.n,
            by: self.by(),
        })
    }

    pub(super) fn finish(&self, by: String) -> Intent<Finish> {
        self.intent(Finish {
            run: self.run.into(),
            by,
            parts: PARTS,
        })
    }
}

/// Text that does not shrink much.
fn noise(bytes: usize, seed: u64) -> String {
    let mut state = seed | 1;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'0' + u8::try_from(state % 75).unwrap())
    };
    (0..bytes).map(|_| letter()).collect()
}

fn planned(tenant: &'static str, run: &'static str, ms: i64, n: u64, text: usize) -> Planned {
    Planned {
        tenant,
        run,
        ms,
        n,
        text,
    }
}

/// The first numbers: of two tenants with the same names, one that is late, one that is slow, one that is refused.
pub(super) fn numbers() -> Vec<Planned> {
    vec![
        planned("a", "r", 40, 1, 0),
        planned("b", "r", 10, 2, 0),
        planned("a", "r", 20, 4, 0),
        planned("a", "s", 30, SLOW, 0),
        planned("a", "r", 50, REFUSED, 0),
    ]
}

/// Bodies for both tiers.
pub(super) fn bulky() -> Vec<Planned> {
    vec![
        planned("a", "big", 60, 6, 12 << 10),
        planned("b", "big", 61, 7, 400 << 10),
    ]
}

pub(super) fn takes() -> Vec<Planned> {
    (0..ASKERS)
        .map(|n| planned("a", "seats", 70 + i64::try_from(n).unwrap(), 20 + n, 0))
        .collect()
}

pub(super) fn finish() -> Planned {
    planned("a", "r", 80, 0, 0)
}

pub(super) fn migrated() -> Planned {
    planned("b", "old", 85, 0, 0)
}

pub(super) fn broken() -> Planned {
    planned("a", BROKEN, 90, 0, 0)
}

/// What comes after the log was cut.
pub(super) fn later() -> Vec<Planned> {
    vec![planned("a", "r", 1_000, 30, 0), planned("b", "r", 1_001, 31, 0)]
}
