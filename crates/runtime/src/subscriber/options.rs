//! How a subscriber is attached.
use crate::role::Role;
use foldwright_domain::Dispatch;
use std::time::Duration;

/// A longer wait is a unit that was mistaken.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 24 * 60 * 60);

/// When a subscriber runs, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriberOptions {
    pub(crate) dispatch: Dispatch,
    pub(crate) run_in: Option<Vec<Role>>,
}

impl SubscriberOptions {
    /// Runs as `dispatch` says, in every process that takes work.
    #[must_use]
    pub const fn new(dispatch: Dispatch) -> Self {
        Self {
            dispatch,
            run_in: None,
        }
    }

    /// Runs in processes of these roles alone; a worker of another role leaves the runs in the queue. A process of
    /// [`Role::All`] satisfies every list.
    #[must_use]
    pub fn run_in(mut self, roles: impl IntoIterator<Item = Role>) -> Self {
        self.run_in = Some(roles.into_iter().collect());
        self
    }

    /// Whether a process of this role takes the runs.
    pub(crate) fn runs_in(&self, role: Role) -> bool {
        role == Role::All || self.run_in.as_ref().is_none_or(|roles| roles.contains(&role))
    }

    /// Everything that cannot work.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let (what, time, may_be_zero) = match self.dispatch {
            Dispatch::Each { delay } => ("delay", delay, true),
            Dispatch::Debounce { quiet } => ("debounce", quiet, false),
            Dispatch::Throttle { window } => ("throttle", window, false),
        };
        if !may_be_zero && time < Duration::from_millis(1) {
            faults.push(format!(
                "a {what} needs a time that is not zero, of at least a millisecond"
            ));
        }
        if time > LONGEST {
            faults.push(format!("a {what} of {time:?} is over ten years: check the unit"));
        }
        if let Some(roles) = &self.run_in
            && !roles.iter().any(|role| role.works())
        {
            faults.push(format!("`run_in` {roles:?} names no role that takes work"));
        }
        faults
    }
}

impl From<Dispatch> for SubscriberOptions {
    fn from(dispatch: Dispatch) -> Self {
        Self::new(dispatch)
    }
}
