//! Runs of a subscriber that may be switched off.
use super::{Handled, RouteHandler, settlement};
use crate::{
    context::Context,
    subscriber::{SubscriberCounts, Switched},
};
use async_trait::async_trait;
use foldwright_ports::{Lease, Rest};
use std::sync::Arc;

/// Completes the runs of tenants for which a subscriber is switched off, and hands on the others.
pub(crate) struct SwitchedHandler<H> {
    pub(crate) inner: H,
    pub(crate) switch: Switched,
    pub(crate) counts: Arc<SubscriberCounts>,
}

#[async_trait]
impl<H: RouteHandler> RouteHandler for SwitchedHandler<H> {
    async fn run(&self, leases: Vec<Lease>, again: bool, ctx: &Context) -> Vec<Handled> {
        let (off, on): (Vec<_>, Vec<_>) = leases
            .into_iter()
            .partition(|lease| self.switch.is_off(&lease.group.tenant));
        let mut settlements = Vec::with_capacity(off.len() + on.len());
        for lease in &off {
            self.counts.killed.add(lease.jobs.len() as u64);
            tracing::info!(route = %self.switch.route, tenant = %lease.group.tenant, runs = lease.jobs.len(), "runs are dropped, their subscriber is switched off");
            settlements.push(settlement(lease, lease.jobs.len(), Rest::Back).into());
        }
        if !on.is_empty() {
            settlements.extend(self.inner.run(on, again, ctx).await);
        }
        settlements
    }
}
