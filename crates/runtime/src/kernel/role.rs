//! What a process does.

/// What one process does. There is no default: the builder takes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Sends commands, takes no work.
    Web,
    /// Takes work of every kind. May send too.
    Worker,
    /// Both, in one process.
    All,
}

impl Role {
    /// Its name for people.
    pub(crate) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    pub(crate) const fn works(self) -> bool {
        matches!(self, Self::Worker | Self::All)
    }
}
