//! Ids of commands and of their events.
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bits of an id that number the events of one command.
pub(crate) const INDEX_BITS: u32 = 12;

/// The id of an accepted command: a UUIDv7 whose low 12 bits are zero, monotonic within the process that made it; of
/// version 8 where a migration ran it ([`of_migration`](Self::of_migration)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub(crate) u128);

impl CommandId {
    /// Takes any 128 bits; the low 12 are cleared, because they number the command's events.
    #[must_use]
    pub fn from_u128(bits: u128) -> Self {
        Self(bits >> INDEX_BITS << INDEX_BITS)
    }

    /// The id as a number, in acceptance order within a process.
    #[must_use]
    pub fn as_u128(self) -> u128 {
        self.0
    }

    /// The same id as one of a migration's: a UUID of version 8 instead of 7, in an otherwise equal layout.
    ///
    /// That its command was run by a migration has to be known wherever subscribers are decided: live, in a refold,
    /// from a body that was rebuilt from the log. The id is what all of these have.
    #[must_use]
    pub fn of_migration(self) -> Self {
        let version = 0xf << VERSION_SHIFT;
        if self.0 & version == LIVE << VERSION_SHIFT {
            Self(self.0 & !version | MIGRATED << VERSION_SHIFT)
        } else {
            self
        }
    }

    /// The id of this command's event number `index`: the same on every run, and in order.
    ///
    /// `None` from 4,096 on: a command has at most that many events.
    #[must_use]
    pub fn event(self, index: usize) -> Option<EventId> {
        let index = u128::try_from(index).ok().filter(|i| *i < 1 << INDEX_BITS)?;
        Some(EventId(self.0 | index))
    }
}

/// Where a UUID keeps its version.
const VERSION_SHIFT: u32 = 76;

/// The version of ids that an ordinary process makes.
const LIVE: u128 = 7;

/// The version of ids that a migration makes.
const MIGRATED: u128 = 8;

/// The id of an event: its command's id with the event's index in the low 12 bits.
///
/// **Not a cursor.** An event with a smaller id may be appended later; nothing decides "already seen" by comparing
/// ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub(crate) u128);

impl EventId {
    /// Takes an id as a store kept it.
    #[must_use]
    pub fn from_u128(bits: u128) -> Self {
        Self(bits)
    }

    /// The id as a number.
    #[must_use]
    pub fn as_u128(self) -> u128 {
        self.0
    }

    /// Whether a migration led to this event: no subscriber is asked about it.
    #[must_use]
    pub fn is_migrated(self) -> bool {
        self.0 >> VERSION_SHIFT & 0xf == MIGRATED
    }

    /// The command that led to this event.
    #[must_use]
    pub fn command(self) -> CommandId {
        CommandId::from_u128(self.0)
    }
}

/// Both ids read as UUIDs.
fn uuid(bits: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        bits >> 96,
        (bits >> 80) & 0xffff,
        (bits >> 64) & 0xffff,
        (bits >> 48) & 0xffff,
        bits & 0xffff_ffff_ffff
    )
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        uuid(self.0, f)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        uuid(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_a_command_are_numbered_in_order() {
        let command = CommandId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0fff);
        assert_eq!(command.as_u128() & 0xfff, 0);
        let first = command.event(0).unwrap();
        let last = command.event(4_095).unwrap();
        assert!(first < last);
        assert_eq!(last.command(), command);
        assert_eq!(command.event(4_096), None);
        assert_eq!(first.to_string(), "01920000-0000-7000-8000-000000000000");
    }

    /// C-13
    #[test]
    fn ids_of_migrations_say_so_and_keep_their_order() {
        let live = CommandId::from_u128(0x0192_0000_0000_7abc_8000_0000_0123_4000);
        let migrated = live.of_migration();
        assert_eq!(migrated.as_u128(), 0x0192_0000_0000_8abc_8000_0000_0123_4000);
        assert_eq!(migrated.of_migration(), migrated);
        assert!(migrated.event(3).unwrap().is_migrated());
        assert!(!live.event(3).unwrap().is_migrated());
        let later = CommandId::from_u128(live.as_u128() + (1 << INDEX_BITS));
        assert!(migrated < later.of_migration());
    }
}
