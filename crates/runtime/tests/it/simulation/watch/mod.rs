//! What must hold after each step, whoever took it. The watched ports lie below the faults: they see what took effect.
mod folds;
mod queue;

pub(super) use folds::WatchedFolds;
pub(super) use queue::WatchedQueue;

use foldwright_conformance::{Invariants, in_order};
use foldwright_domain::Millis;
use foldwright_ports::{
    Clock, GroupId, JobId, Lease, LeaseRef, Ports, QueueAdmin, Revision, StateKey, StateRow,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

/// Groups that one page of the check looks at; a simulated queue has fewer.
const ALL: usize = 100_000;

/// Everything that was seen so far.
pub(super) struct Watch {
    seen: Mutex<Seen>,
    clock: Arc<dyn Clock>,
    admin: Arc<dyn QueueAdmin>,
}

#[derive(Default)]
struct Seen {
    /// What did not hold. A panic here would be caught by the very worker that is watched.
    broken: Vec<String>,
    queue: Invariants,
    /// Until when each live lease lives.
    until: BTreeMap<GroupId, (LeaseRef, Millis)>,
    rows: BTreeMap<StateKey, (Revision, u64)>,
    /// Every state that was ever stored, by projection.
    states: BTreeMap<Arc<str>, BTreeSet<Vec<u8>>>,
}

impl Watch {
    /// The same ports, watched.
    pub(super) fn over(ports: &Ports) -> (Arc<Self>, Ports) {
        let watch = Arc::new(Self {
            seen: Mutex::default(),
            clock: ports.clock.clone(),
            admin: ports.queue_admin.clone(),
        });
        let ports = Ports {
            queue: Arc::new(WatchedQueue {
                inner: ports.queue.clone(),
                watch: watch.clone(),
                jobs: Mutex::default(),
            }),
            folds: Arc::new(WatchedFolds {
                inner: ports.folds.clone(),
                watch: watch.clone(),
            }),
            ..ports.clone()
        };
        (watch, ports)
    }

    /// G7: whether a state that a subscriber saw had been stored.
    pub(super) fn was_stored(&self, projection: &str, state: &[u8]) -> bool {
        self.lock()
            .states
            .get(projection)
            .is_some_and(|states| states.contains(state))
    }

    /// Everything held so far.
    pub(super) fn assert_unbroken(&self) {
        let seen = self.lock();
        assert!(seen.broken.is_empty(), "{}", seen.broken.join("\n"));
    }

    /// After a step of the queue: it finds itself right, and its counters are what is there.
    async fn step(&self) {
        let checked = self.admin.check(None, ALL).await.unwrap();
        if !checked.violations.is_empty() {
            self.lock()
                .broken
                .push(format!("the queue found {:?}", checked.violations));
        }
        let drifts = self.admin.recount().await.unwrap();
        if !drifts.is_empty() {
            self.lock()
                .broken
                .push(format!("counters were not what is there: {drifts:?}"));
        }
    }

    fn granted(&self, leases: &[Lease]) {
        let now = self.clock.now();
        let mut seen = self.lock();
        for lease in leases {
            let reference = lease.reference();
            // The same grant again, for a call that was repeated.
            if seen.queue.is_live(&reference) {
                continue;
            }
            seen.end_lapsed(&reference.group, now);
            if let Err(broken) = seen.queue.granted(lease) {
                seen.broken.push(broken.to_string());
            }
            // A run that merges keeps its place when it takes in a later event.
            let merges = reference.group.path.contains("/subscriber/");
            let places = lease.jobs.iter().filter(|_| !merges);
            let places = places.filter_map(|job| Some(job.position?.occurred_at));
            if let Err(broken) = in_order(places.zip(0..)) {
                seen.broken.push(format!("{}: {broken}", reference.group));
            }
            seen.until
                .insert(reference.group.clone(), (reference, lease.until));
        }
    }

    /// What had run out is given back, and stays so when the clock steps back.
    fn reaped(&self) {
        let now = self.clock.now();
        let mut seen = self.lock();
        let groups: Vec<_> = seen.until.keys().cloned().collect();
        for group in groups {
            seen.end_lapsed(&group, now);
        }
    }

    fn extended(&self, lease: &LeaseRef, by: Duration) {
        let until = self.clock.now().plus(by);
        if let Some((live, stored)) = self.lock().until.get_mut(&lease.group)
            && live == lease
        {
            *stored = until;
        }
    }

    fn settled(&self, lease: &LeaseRef, done: &[JobId]) {
        let now = self.clock.now();
        let mut seen = self.lock();
        let live = seen.until.get(&lease.group);
        let live = live.filter(|(live, until)| live == lease && *until > now);
        if live.is_none() {
            seen.broken
                .push(format!("a settlement of {lease:?} counted, which is not live"));
        }
        seen.queue.ended(lease, done.iter().copied());
        seen.until.remove(&lease.group);
    }

    /// G11: the rows that were asked for.
    fn loaded(&self, keys: &[StateKey], rows: &[Option<StateRow>]) {
        for (key, row) in keys.iter().zip(rows) {
            if let Some(other) = row.as_ref().filter(|row| row.key != *key) {
                self.lock()
                    .broken
                    .push(format!("{:?} was read for {key:?}", other.key));
            }
        }
    }

    /// G4: revisions only grow, and no row forgets what it held.
    fn stored(&self, row: &StateRow) {
        let mut seen = self.lock();
        let now = (row.revision, row.events);
        let before = seen.rows.insert(row.key.clone(), now);
        if let Some(before) = before.filter(|before| before.0 >= now.0 || before.1 > now.1) {
            seen.broken
                .push(format!("{:?} went from {before:?} to {now:?}", row.key));
        }
        let states = seen.states.entry(row.key.projection.clone()).or_default();
        states.insert(row.state.to_vec());
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }
}

impl Seen {
    /// A lease that ran out ended without a settlement.
    fn end_lapsed(&mut self, group: &GroupId, now: Millis) {
        if let Some((lease, until)) = self.until.get(group)
            && *until <= now
        {
            self.queue.ended(lease, []);
            self.until.remove(group);
        }
    }
}
