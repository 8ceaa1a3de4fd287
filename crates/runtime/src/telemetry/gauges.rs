//! How the queue stands, now and then.
use super::{CAPPED_TENANTS, PAUSES, QUEUE_JOBS, STRANDED_JOBS, WORKERS, labels_of};
use foldwright_ports::{Depth, Limits, QueueAdmin, Result, Route};
use metrics::{Label, gauge};
use std::collections::BTreeSet;

/// Sets the gauges of a queue. Routes that have no job any more are set to zero once.
#[derive(Default)]
pub(crate) struct Gauges {
    seen: BTreeSet<Route>,
}

/// How many tenants one look counts at most; beyond them the figure is a lower bound.
const TENANTS: usize = 1_000;

impl Gauges {
    /// Looks at the queue.
    ///
    /// # Errors
    /// The queue's; what was set before it stays.
    pub(crate) async fn look(&mut self, queue: &dyn QueueAdmin) -> Result<()> {
        let depths = queue.depth().await?;
        let workers = queue.workers().await?;
        let known = |route: &Route| workers.iter().any(|worker| worker.knows(route));
        let gone: Vec<_> = self
            .seen
            .iter()
            .filter(|route| !depths.contains_key(route))
            .cloned()
            .collect();
        for route in gone {
            set(&route, Depth::default(), true);
            self.seen.remove(&route);
        }
        for (route, depth) in depths {
            set(&route, depth, known(&route));
            self.seen.insert(route);
        }
        let tenants = queue.tenants(None, Limits::items(TENANTS)).await?;
        let capped = tenants.items.iter().filter(|tenant| tenant.capped).count();
        gauge!(WORKERS).set(workers.iter().filter(|worker| !worker.silent).count() as f64);
        gauge!(CAPPED_TENANTS).set(capped as f64);
        gauge!(PAUSES).set(queue.pauses().await?.len() as f64);
        Ok(())
    }
}

fn set(route: &Route, depth: Depth, known: bool) {
    let stranded = if known { 0 } else { depth.waiting };
    gauge!(STRANDED_JOBS, labels_of(route)).set(stranded as f64);
    for (state, jobs) in [
        ("waiting", depth.waiting),
        ("leased", depth.leased),
        ("blocked", depth.blocked),
        ("dead", depth.dead),
    ] {
        let mut labels = labels_of(route);
        labels.push(Label::from_static_parts("state", state));
        gauge!(QUEUE_JOBS, labels).set(jobs as f64);
    }
}
