//! The continuous check of a live queue.
use crate::context::Context;
use foldwright_ports::{Checked, Cursor};

/// How many groups one check looks at.
const CHECKED_AT_ONCE: usize = 1_000;

/// Proves a page of the queue right at a time and goes on where it stopped; counts its figures anew.
#[derive(Default)]
pub(super) struct Checker {
    from: Option<Cursor>,
}

impl Checker {
    pub(super) async fn check(&mut self, ctx: &Context) {
        let admin = &ctx.ports.queue_admin;
        match admin.check(self.from.clone(), CHECKED_AT_ONCE).await {
            Ok(Checked { violations, next, .. }) => {
                self.from = next;
                ctx.counters.violations.add(violations.len() as u64);
                for violation in violations {
                    let group = violation.group.as_ref().map(tracing::field::display);
                    let repaired = violation.repaired;
                    tracing::error!(
                        group,
                        repaired,
                        what = violation.what,
                        "the queue holds what cannot be"
                    );
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the queue could not be checked, the next check tries again");
            }
        }
        match admin.recount().await {
            Ok(drifts) => {
                ctx.counters.drifts.add(drifts.len() as u64);
                for drift in drifts {
                    tracing::error!(
                        figure = ?drift.figure,
                        was = drift.was,
                        is = drift.is,
                        "a figure differed from what it counts, it was put right"
                    );
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the queue's figures could not be counted, the next check tries again");
            }
        }
    }
}
