//! What is still to be done.
use foldwright_ports::{Depth, GroupFilter, GroupState, Limits, Pause, QueueAdmin, Result, Route};
use std::collections::{BTreeMap, BTreeSet};

/// Jobs by kind and state, over all tenants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Commands.
    pub commands: Standing,
    /// Folds, keyed folds among them.
    pub folds: Standing,
    /// Maps.
    pub maps: Standing,
    /// Subscribers, of which some may wait for their time.
    pub subscribers: Standing,
    /// Jobs of a kind that this build does not know.
    pub others: Standing,
}

/// Jobs of one kind by state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// Not handed out and not blocked: due, delayed, backing off, parked, paused or stranded.
    pub waiting: u64,
    /// Handed out.
    pub leased: u64,
    /// In a blocked group: a person has to open it.
    pub blocked: u64,
    /// Dead letters: a person has to put them back or discard them.
    pub dead: u64,
    /// Of those that wait, how many no live worker can take: none knows their route, format or fold version. They run
    /// when one comes that does.
    pub stranded: u64,
    /// Of those that wait and are not stranded, how many a pause covers. They run when it ends.
    pub paused: u64,
}

impl Standing {
    /// Jobs that run without anybody's doing.
    #[must_use]
    pub fn moving(&self) -> u64 {
        (self.waiting + self.leased).saturating_sub(self.stranded + self.paused)
    }

    fn add(&mut self, depth: &Depth, held: Held) {
        self.waiting += depth.waiting;
        self.leased += depth.leased;
        self.blocked += depth.blocked;
        self.dead += depth.dead;
        self.stranded += held.stranded;
        self.paused += held.paused;
    }
}

/// Waiting jobs of one route that do not run as things stand.
#[derive(Clone, Copy, Default)]
pub(super) struct Held {
    pub(super) stranded: u64,
    pub(super) paused: u64,
}

impl Backlog {
    pub(super) fn of(depth: &BTreeMap<Route, Depth>, held: &BTreeMap<Route, Held>) -> Self {
        let mut backlog = Self::default();
        for (route, depth) in depth {
            let kind = match route.kind() {
                "command" => &mut backlog.commands,
                "fold" => &mut backlog.folds,
                "map" => &mut backlog.maps,
                "subscriber" => &mut backlog.subscribers,
                _ => &mut backlog.others,
            };
            kind.add(depth, held.get(route).copied().unwrap_or_default());
        }
        backlog
    }

    /// Commands, folds and maps that wait or run, stranded and paused ones among them. Subscribers wait for their time and
    /// blocked groups for a person.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.own().iter().map(|s| s.waiting + s.leased).sum()
    }

    /// Commands, folds and maps that run without anybody's doing: [`open`](Self::open) without what is stranded or paused.
    #[must_use]
    pub fn moving(&self) -> u64 {
        self.own().iter().map(Standing::moving).sum()
    }

    /// Jobs in blocked groups and dead letters, which wait for a person.
    #[must_use]
    pub fn stuck(&self) -> u64 {
        self.all().iter().map(|s| s.blocked + s.dead).sum()
    }

    /// Jobs of every kind that no live worker can take.
    #[must_use]
    pub fn stranded(&self) -> u64 {
        self.all().iter().map(|s| s.stranded).sum()
    }

    fn own(&self) -> [Standing; 3] {
        [self.commands, self.folds, self.maps]
    }

    fn all(&self) -> [Standing; 5] {
        [
            self.commands,
            self.folds,
            self.maps,
            self.subscribers,
            self.others,
        ]
    }
}

/// Looks at a queue. `known` are the routes that this process's own worker takes, which need no record of it.
pub(super) async fn look(queue: &dyn QueueAdmin, known: &BTreeSet<Route>) -> Result<Backlog> {
    let depth = queue.depth().await?;
    let workers = queue.workers().await?;
    let pauses = queue.pauses().await?;
    let mut held = BTreeMap::new();
    for (route, depth) in &depth {
        let stranded = !known.contains(route) && !workers.iter().any(|worker| worker.knows(route));
        let paused = pauses.iter().any(|Pause { scope, .. }| scope.covers_route(route));
        let mut here = Held::default();
        if stranded {
            here.stranded = depth.waiting;
        } else if paused {
            here.paused = depth.waiting;
        }
        held.insert(route.clone(), here);
    }
    Ok(Backlog::of(&depth, &held))
}

/// The same, group by group: sees what waits for a fold version, and pauses of tenants and groups. Reads one line for each
/// group that is stranded or paused.
pub(super) async fn look_closely(queue: &dyn QueueAdmin, known: &BTreeSet<Route>) -> Result<Backlog> {
    let workers = queue.workers().await?;
    if workers.is_empty() {
        return look(queue, known).await;
    }
    let mut held: BTreeMap<Route, Held> = BTreeMap::new();
    for state in [GroupState::Stranded, GroupState::Paused] {
        let filter = GroupFilter {
            state: Some(state),
            ..GroupFilter::default()
        };
        let mut from = None;
        loop {
            let page = queue.groups(&filter, from, Limits::items(1_000)).await?;
            for line in page.items {
                let here = held.entry(line.route).or_default();
                if state == GroupState::Stranded {
                    here.stranded += line.jobs;
                } else {
                    here.paused += line.jobs;
                }
            }
            match page.next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
    }
    Ok(Backlog::of(&queue.depth().await?, &held))
}
