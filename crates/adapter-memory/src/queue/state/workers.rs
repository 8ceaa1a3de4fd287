//! Liveness records, and the deaths that they confirm.
use super::{State, group::Group, no::No};
use foldwright_domain::Millis;
use foldwright_ports::{Capabilities, Capability, Route, WorkerId, WorkerView};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Every worker with a liveness record, by id.
#[derive(Default)]
pub(super) struct Workers {
    records: BTreeMap<WorkerId, Record>,
}

struct Record {
    capabilities: Capabilities,
    ttl: Duration,
    until: Millis,
    /// Since when it is known to be silent, and the groups whose lease lapsed under it since.
    silent: Option<Millis>,
    suspected_by: BTreeSet<No<Group>>,
}

impl Workers {
    /// Whether any worker whose record runs knows this.
    pub(super) fn any_knows(&self, now: Millis, route: &Route, format: u8, need: u32) -> bool {
        let knows = |record: &Record| {
            let capability: Option<&Capability> = record.capabilities.routes.get(route);
            record.until > now
                && record.capabilities.format >= format
                && capability.is_some_and(|capability| capability.version >= need)
        };
        self.records.values().any(knows)
    }
}

impl State {
    pub(in crate::queue) fn beat(&mut self, worker: WorkerId, capabilities: &Capabilities, ttl: Duration) {
        self.clear(worker);
        let until = self.now.plus(ttl);
        match self.workers.records.get_mut(&worker) {
            Some(record) => {
                record.ttl = ttl;
                record.until = until;
                if record.capabilities != *capabilities {
                    record.capabilities = capabilities.clone();
                }
            }
            None => {
                let record = Record {
                    capabilities: capabilities.clone(),
                    ttl,
                    until,
                    silent: None,
                    suspected_by: BTreeSet::new(),
                };
                self.workers.records.insert(worker, record);
            }
        }
    }

    pub(in crate::queue) fn goodbye(&mut self, worker: WorkerId) {
        self.clear(worker);
        self.workers.records.remove(&worker);
    }

    pub(in crate::queue) fn workers(&self) -> Vec<WorkerView> {
        let view = |(worker, record): (&WorkerId, &Record)| WorkerView {
            worker: *worker,
            capabilities: record.capabilities.clone(),
            until: record.until,
            silent: record.until <= self.now,
        };
        self.workers.records.iter().map(view).collect()
    }

    /// A worker shows that it is alive: nothing is suspected of it.
    fn clear(&mut self, worker: WorkerId) {
        let Some(record) = self.workers.records.get_mut(&worker) else {
            return;
        };
        record.silent = None;
        for no in std::mem::take(&mut record.suspected_by) {
            if let Some(group) = self.groups.get_mut(no) {
                group.health.suspects.retain(|suspect| *suspect != worker);
            }
        }
    }

    /// A lease of this worker lapsed. Without a record, or with one that runs, that says nothing.
    pub(super) fn suspect(&mut self, worker: WorkerId, no: No<Group>) {
        let record = self.workers.records.get_mut(&worker);
        if let Some(record) = record.filter(|record| record.until <= self.now)
            && let Some(group) = self.groups.get_mut(no)
        {
            record.silent.get_or_insert(self.now);
            record.suspected_by.insert(no);
            group.health.wary = true;
            if !group.health.suspects.contains(&worker) {
                group.health.suspects.push(worker);
            }
        }
    }

    /// Counts the deaths of workers that stayed silent for as long again as their record was meant to live. Answers how
    /// many, and how many groups were quarantined for them.
    pub(super) fn confirm_deaths(&mut self) -> (usize, usize) {
        let now = self.now;
        let dead = |record: &Record| record.silent.is_some_and(|since| since.plus(record.ttl) <= now);
        let (mut deaths, mut poisoned) = (0, 0);
        let mut suspected = Vec::new();
        for (worker, record) in &mut self.workers.records {
            if dead(record) {
                record.silent = None;
                let groups = std::mem::take(&mut record.suspected_by);
                suspected.extend(groups.into_iter().map(|no| (*worker, no)));
            }
        }
        for (worker, no) in suspected {
            let Some(group) = self.groups.get_mut(no) else {
                continue;
            };
            let health = &mut group.health;
            let before = health.suspects.len();
            health.suspects.retain(|suspect| *suspect != worker);
            if health.suspects.len() < before {
                health.deaths = health.deaths.saturating_add(1);
                deaths += 1;
                poisoned += usize::from(self.quarantine_if_deadly(no));
            }
        }
        (deaths, poisoned)
    }

    /// Forgets records of workers that are gone: as long again as they were meant to live they say who fell silent, and
    /// as long as a lease is theirs they tell its lapse from a graceful one.
    pub(super) fn forget_workers(&mut self) {
        let now = self.now;
        let over = |record: &Record| record.silent.is_none() && record.until.plus(record.ttl) <= now;
        if !self.workers.records.values().any(over) {
            return;
        }
        let holders: BTreeSet<WorkerId> = self
            .leases
            .values()
            .filter_map(|no| Some(self.groups.get(*no)?.lease.as_ref()?.worker))
            .collect();
        self.workers
            .records
            .retain(|worker, record| !over(record) || holders.contains(worker));
    }

    #[cfg(test)]
    pub(super) fn check_workers(&self) {
        for no in self.groups.all() {
            let health = &self.groups.get(no).unwrap().health;
            for worker in &health.suspects {
                let record = &self.workers.records[worker];
                assert!(record.silent.is_some() && record.suspected_by.contains(&no));
            }
            assert!(health.wary || health.suspects.is_empty());
        }
    }
}
