//! Switching subscribers off while the service runs.
use crate::{catch::caught, counters::Counters};
use foldwright_domain::TenantId;
use foldwright_ports::Route;
use std::{error::Error, sync::Arc};

/// Whether a subscriber may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// It runs.
    On,
    /// It does not.
    Off,
}

/// A user's source of switches, for example a feature flag service. Bound at the composition root, with
/// [`KernelBuilder::kill_switch`](crate::KernelBuilder::kill_switch).
///
/// # Contract
/// Asked before each event is brought to the subscriber and before its runs begin, so the answer must come from memory: a
/// source that has to ask elsewhere keeps what it learnt last and refreshes it beside.
///
/// While it says [`Switch::Off`], `when` is not asked and nothing is staged; each such event is counted in
/// [`SubscriberCounts::switched_off`](crate::SubscriberCounts). Runs that were staged before are completed at their turn
/// without running, and counted in [`SubscriberCounts::killed`](crate::SubscriberCounts). Neither comes back when it is
/// switched on again: to hold runs back instead, pause the route.
///
/// # Errors
/// A source that fails or panics means [`Switch::On`]: one run too many is cheaper than a lost one. It is counted in
/// [`Counters::switches_failed`](crate::Counters) and logged.
pub trait KillSwitch: Send + Sync + 'static {
    /// Whether this subscriber may run for this tenant.
    ///
    /// # Errors
    /// Whatever kept the source from knowing.
    fn look_up(&self, subscriber: &Route, tenant: &TenantId) -> Result<Switch, Box<dyn Error + Send + Sync>>;
}

/// The switch of one subscriber, failing open.
#[derive(Clone)]
pub(crate) struct Switched {
    pub(crate) route: Route,
    pub(crate) source: Option<Arc<dyn KillSwitch>>,
    pub(crate) counters: Arc<Counters>,
}

impl Switched {
    /// Whether the subscriber is switched off for a tenant.
    pub(crate) fn is_off(&self, tenant: &TenantId) -> bool {
        let Some(source) = &self.source else {
            return false;
        };
        let fault = match caught(|| source.look_up(&self.route, tenant)) {
            Ok(Ok(switch)) => return switch == Switch::Off,
            Ok(Err(error)) => error.to_string(),
            Err(message) => message,
        };
        self.counters.switches_failed.add(1);
        tracing::warn!(route = %self.route, %tenant, fault, "a kill switch could not be read, which means on");
        false
    }
}
