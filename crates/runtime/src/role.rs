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
    /// Runs its own commands while they are sent, and takes no work: for scripts that put data right. Sending returns when
    /// a command's events are durable and their projections' jobs are staged; workers fold them as always, but ask
    /// no subscriber about them. Which events these are is written in their ids, so that no later refold or rebuild
    /// mistakes them.
    ///
    /// Its commands run beside those of the queue and not behind them. A command that its process did not live to
    /// finish may have its events in the log and no jobs for them: give commands of migrations an idempotency key, and
    /// running the migration again makes that good.
    Migration,
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
