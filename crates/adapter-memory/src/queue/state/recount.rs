//! Counting again what is kept as a figure.
use super::{State, group::LeaseKind, job::Stand, no::No, routes::In};
use foldwright_domain::TenantId;
use foldwright_ports::{Depth, Drift, Figure, Route};
use std::collections::BTreeMap;

/// What a tenant has.
#[derive(Clone, Copy, Default)]
struct Holdings {
    in_flight: u64,
    jobs: u64,
    bytes: u64,
}

/// The figures as they are found.
#[derive(Default)]
struct Count {
    routes: BTreeMap<No<Route>, Depth>,
    tenants: BTreeMap<No<TenantId>, Holdings>,
}

impl State {
    pub(in crate::queue) fn recount(&mut self) -> Vec<Drift> {
        let count = self.count();
        let mut drifts = self.routes_put_right(&count);
        drifts.extend(self.tenants_put_right(&count));
        drifts.sort_unstable_by(|a, b| a.figure.cmp(&b.figure));
        drifts
    }

    fn count(&self) -> Count {
        let mut count = Count::default();
        for (_, job) in self.jobs.all() {
            let blocked = || {
                self.groups
                    .get(job.group)
                    .is_some_and(|group| group.block.is_some())
            };
            let state = match job.stand {
                Stand::Dead(_) => In::Dead,
                Stand::Leased => In::Leased,
                Stand::Waiting if blocked() => In::Blocked,
                Stand::Waiting => In::Waiting,
            };
            *state.of(count.routes.entry(job.route).or_default()) += 1;
            if state != In::Dead {
                let holdings = count.tenants.entry(job.tenant).or_default();
                holdings.jobs += 1;
                holdings.bytes += job.content.stored_bytes();
            }
        }
        for (_, group) in self.groups.behind(None) {
            if group
                .lease
                .as_ref()
                .is_some_and(|live| live.kind != LeaseKind::Hold)
            {
                count.tenants.entry(group.tenant).or_default().in_flight += 1;
            }
        }
        count
    }

    fn routes_put_right(&mut self, count: &Count) -> Vec<Drift> {
        let (mut drifts, mut wrong) = (Vec::new(), Vec::new());
        for (no, route, was) in self.routes.all() {
            let is = count.routes.get(&no).copied().unwrap_or_default();
            if was == is {
                continue;
            }
            wrong.push((no, is));
            let of = |figure: fn(Route) -> Figure| figure(route.clone());
            note(&mut drifts, || of(Figure::Waiting), was.waiting, is.waiting);
            note(&mut drifts, || of(Figure::Leased), was.leased, is.leased);
            note(&mut drifts, || of(Figure::Blocked), was.blocked, is.blocked);
            note(&mut drifts, || of(Figure::Dead), was.dead, is.dead);
        }
        for (no, depth) in wrong {
            self.routes.put_right(no, depth);
        }
        drifts
    }

    fn tenants_put_right(&mut self, count: &Count) -> Vec<Drift> {
        let mut drifts = Vec::new();
        for no in self.tenants.numbers() {
            let is = count.tenants.get(&no).copied().unwrap_or_default();
            let (Some(name), Some(was)) = (self.tenants.name(no).cloned(), self.tenants.get(no).copied())
            else {
                continue;
            };
            let before = drifts.len();
            let of = |figure: fn(TenantId) -> Figure| figure(name.clone());
            note(&mut drifts, || of(Figure::InFlight), was.in_flight, is.in_flight);
            note(&mut drifts, || of(Figure::Jobs), was.jobs, is.jobs);
            note(&mut drifts, || of(Figure::Bytes), was.bytes, is.bytes);
            if drifts.len() > before {
                if let Some(tenant) = self.tenants.get_mut(no) {
                    tenant.in_flight = is.in_flight;
                }
                self.tenants.put_right(no, is.jobs, is.bytes);
                self.rank(no);
            }
        }
        drifts
    }
}

fn note(drifts: &mut Vec<Drift>, figure: impl FnOnce() -> Figure, was: u64, is: u64) {
    if was != is {
        drifts.push(Drift {
            figure: figure(),
            was: i64::try_from(was).unwrap_or(i64::MAX),
            is: i64::try_from(is).unwrap_or(i64::MAX),
        });
    }
}
