//! What an operation works with.
use crate::{SqliteSettings, names::Names, queue::Slots, reader::Read};
use foldwright_domain::Millis;
use rusqlite::{Connection, Transaction};

/// What the writer keeps from one operation to the next. All of it can be thrown away: rows that are only ever added.
pub(super) struct Memory {
    settings: SqliteSettings,
    names: Names,
    slots: Slots,
    /// Whether there may be new work in the queue.
    pub(super) woke: bool,
}

impl Memory {
    pub(super) fn new(settings: SqliteSettings) -> Self {
        Self {
            settings,
            names: Names::default(),
            slots: Slots::default(),
            woke: false,
        }
    }

    pub(super) fn now(&self) -> Millis {
        self.settings.clock.now()
    }

    pub(super) fn open<'a>(&'a mut self, tx: &'a Transaction<'_>) -> Write<'a> {
        Write {
            db: tx,
            now: self.settings.clock.now(),
            names: &mut self.names,
            slots: &mut self.slots,
            settings: &self.settings,
            woke: false,
        }
    }

    /// After a rollback: what was added may be gone.
    pub(super) fn forget(&mut self) {
        self.names.forget();
        self.slots.forget();
    }
}

/// One operation of the kernel within a commit.
pub(crate) struct Write<'a> {
    pub(crate) db: &'a Connection,
    /// The store's time, the same for the whole operation.
    pub(crate) now: Millis,
    pub(crate) names: &'a mut Names,
    pub(crate) slots: &'a mut Slots,
    pub(crate) settings: &'a SqliteSettings,
    /// Set when there may be new work in the queue.
    pub(crate) woke: bool,
}

impl Write<'_> {
    /// Looks with the eyes of a reader at what was written so far.
    pub(crate) fn read(&mut self) -> Read<'_> {
        Read {
            db: self.db,
            now: self.now,
            names: self.names,
            settings: self.settings,
        }
    }
}
