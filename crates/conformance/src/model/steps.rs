//! Random sequences of operations, as data: what a step touches is chosen by number when it runs, so that a sequence
//! still means something after steps were dropped from it.
use crate::kit::{JobExt, MAP, Seeded, group_of, hash_of, job, millis, retry, route, secs, tenant};
use bytes::Bytes;
use foldwright_domain::Millis;
use foldwright_ports::{
    Body, Capabilities, Capability, Context, Fence, GroupId, NewJob, Outcome, Rest, Scope, TenantLimits, Want,
};
use std::{sync::Arc, time::Duration};

const STRANGE: &str = "shop/fold/strange";
/// Jobs from this number on are throttled.
const PLAIN: u64 = 40;
const LANE: &str = "shop/fold/totals";

/// One operation.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Stage(Vec<Spec>),
    Claim(Wish),
    Settle {
        items: Vec<Item>,
        next: Option<Wish>,
    },
    Extend {
        picks: Vec<u64>,
    },
    Reap {
        limit: usize,
    },
    Elapse(Duration),
    Unblock(usize),
    Drain {
        group: usize,
        limit: usize,
    },
    Requeue(u64),
    Discard(u64),
    /// An earlier call comes once more under its nonce.
    Repeat(u64),
    Forget(u64),
    /// Pauses a scope.
    Pause(u64),
    /// Ends one of the pauses there are, or one that is not there.
    Resume(u64),
    /// Holds the groups whose bit is set.
    Hold {
        other: bool,
        groups: u64,
    },
    /// Ends a hold, or one that has ended.
    LetGo(u64),
    /// Gives a tenant limits, or takes them away.
    Limit {
        tenant: usize,
        limits: usize,
    },
}

/// A job to stage. What must be the same whenever its id comes again follows from `n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    n: u64,
    back: Option<u64>,
    delay: u64,
    flags: u64,
}

/// A worker's want.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    knows: u64,
    max_groups: usize,
    max_jobs: usize,
    max_bytes: u64,
    lease: u64,
}

/// A settlement: of which lease, how many are done, what happens to the rest.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) pick: u64,
    done: u64,
    rest: u64,
    pub(crate) then: Vec<Spec>,
}

/// The groups of a sequence: two tenants, odd keys, two lanes, and one that is throttled.
pub(crate) fn groups() -> [GroupId; 6] {
    [
        group_of("acme", LANE, "a"),
        group_of("acme", LANE, "a/b"),
        group_of("acme", MAP, "a"),
        group_of("globex", LANE, "a"),
        group_of("globex", LANE, "b"),
        group_of("acme", MAP, "throttled"),
    ]
}

/// What is paused now and then.
pub(crate) fn scopes() -> [Scope; 7] {
    let [first, ..] = groups();
    [
        Scope::All,
        Scope::Pipeline("shop".into()),
        Scope::Kind("map".into()),
        Scope::Route(route(LANE)),
        Scope::Route(route(STRANGE)),
        Scope::Tenant(tenant("globex")),
        Scope::Group(first),
    ]
}

/// The limits that tenants are given.
pub(crate) fn limits() -> [Option<TenantLimits>; 5] {
    let default = TenantLimits::default();
    [
        None,
        None,
        Some(TenantLimits { weight: 3, ..default }),
        Some(TenantLimits {
            cap: Some(1),
            ..default
        }),
        Some(TenantLimits {
            jobs: Some(7),
            cap: Some(2),
            ..default
        }),
    ]
}

/// The texts of the bodies that jobs may hold.
pub(crate) const BODIES: [&str; 6] = ["b0", "b1", "b2", "b3", "b4", "b5"];

impl Step {
    pub(crate) fn random(random: &mut Seeded) -> Self {
        match random.below(40) {
            0..=8 => Self::Stage((0..=random.below(4)).map(|_| Spec::random(random)).collect()),
            9..=15 => Self::Claim(Wish::random(random)),
            16..=22 => Self::Settle {
                items: (0..=random.below(3)).map(|_| Item::random(random)).collect(),
                next: random.one_in(2).then(|| Wish::random(random)),
            },
            23 => Self::Extend {
                picks: (0..=random.below(3)).map(|_| random.next()).collect(),
            },
            24 => Self::Reap {
                limit: *random.pick(&[1, 2, 100]),
            },
            25..=26 => Self::Elapse(millis(
                *random.pick(&[7, 130, 700, 3_000, 21_000, 33_000, 100_000]),
            )),
            27 => Self::Unblock(usize::try_from(random.below(6)).unwrap()),
            28 => Self::Drain {
                group: usize::try_from(random.below(6)).unwrap(),
                limit: *random.pick(&[1, 3, 100]),
            },
            29 => {
                if random.one_in(3) {
                    Self::Discard(random.next())
                } else {
                    Self::Requeue(random.next())
                }
            }
            30 => Self::Repeat(random.next()),
            36..=37 => Self::Hold {
                other: random.one_in(3),
                groups: random.below(64) & random.below(64),
            },
            38..=39 => Self::LetGo(random.next()),
            32 => Self::Pause(random.next()),
            33..=34 => Self::Resume(random.next()),
            35 => Self::Limit {
                tenant: usize::try_from(random.below(2)).unwrap(),
                limits: usize::try_from(random.below(limits().len() as u64)).unwrap(),
            },
            _ => {
                if random.one_in(2) {
                    Self::Repeat(random.next())
                } else {
                    Self::Forget(random.next())
                }
            }
        }
    }
}

impl Spec {
    fn random(random: &mut Seeded) -> Self {
        Self {
            n: random.below(PLAIN + 6),
            back: random.one_in(3).then(|| random.below(100_000)),
            delay: if random.one_in(4) {
                *random.pick(&[100, 5_000, 40_000])
            } else {
                0
            },
            flags: random.next(),
        }
    }

    /// The job. `plain` leaves out what may merge with or replace another.
    pub(crate) fn job(self, now: Millis, plain: bool) -> NewJob {
        let [open @ .., throttled] = groups();
        let n = if plain { self.n % PLAIN } else { self.n };
        if n >= PLAIN {
            return job(n, &throttled)
                .with_body(&format!("body {}", self.flags % 1_000))
                .throttled(secs(10), self.flags & 128 != 0);
        }
        let mut new = job(n, &open[usize::try_from(n).unwrap() % open.len()]);
        let merges = n % 3 == 1;
        if n % 13 == 6 && !merges {
            new = new.on(STRANGE);
        }
        if n % 17 == 9 && !merges {
            new.format = 2;
        }
        // In a group all jobs have a place or none has: which is later is not promised when only one of two has it.
        if (n % 5).is_multiple_of(2) {
            new = new.at(now.minus(millis(self.back.unwrap_or(n * 1_000))));
        }
        new = new.delayed(millis(self.delay));
        let pick = usize::try_from(self.flags % 64).unwrap();
        if let Some(text) = BODIES.get(pick % 12) {
            new = new.in_blob(text, 4_097 + self.flags % 1_000);
        } else {
            new = new.with_body(&format!("body {}", self.flags % 1_000));
        }
        if plain {
            return new;
        }
        if merges {
            let ttl = *[millis(200), secs(10), secs(60)].get(pick % 3).unwrap();
            new = new.dedup(ttl, self.flags & 64 != 0, self.flags & 128 != 0);
            new.header = Bytes::from(format!("header {}", self.flags % 1_000));
            new.format = 1 + u8::from(self.flags & 0x1800 == 0);
            if self.flags & 256 != 0 {
                let body = Body::Blob {
                    hash: hash_of(BODIES[pick % 6]),
                    bytes: 5_000,
                };
                let of = [u8::from(self.flags & 1_024 != 0); 16];
                new.context = Some(Context { body, of });
            }
        } else if self.flags & 512 != 0 {
            new = new.replacing();
        }
        new
    }
}

impl Wish {
    fn random(random: &mut Seeded) -> Self {
        Self {
            knows: random.below(8),
            max_groups: *random.pick(&[0, 1, 1, 2, 3, 100, 100]),
            max_jobs: *random.pick(&[1, 2, 3, 100]),
            max_bytes: *random.pick(&[1, 5_000, 10_000, 1 << 40, 1 << 40, 1 << 40]),
            lease: *random.pick(&[5_000, 30_000, 30_000, 60_000]),
        }
    }

    pub(crate) fn want(self) -> Want {
        let version = if self.knows % 4 == 3 { 2 } else { 1 };
        let routes: &[&str] = match self.knows {
            0 => &[MAP],
            1 => &[LANE, MAP],
            _ => &[LANE, MAP, STRANGE],
        };
        let known = routes.iter().map(|text| (route(text), Capability { version }));
        Want {
            capabilities: Arc::new(Capabilities {
                routes: known.collect(),
                format: if self.knows == 2 { 1 } else { 2 },
            }),
            max_groups: self.max_groups,
            max_jobs_per_group: self.max_jobs,
            max_bytes: self.max_bytes,
            lease: millis(self.lease),
        }
    }
}

impl Item {
    fn random(random: &mut Seeded) -> Self {
        Self {
            pick: random.next(),
            done: random.next(),
            rest: random.next(),
            then: (0..random.below(3)).map(|_| Spec::random(random)).collect(),
        }
    }

    pub(crate) fn outcome(&self, jobs: usize, last_fence: Fence) -> Outcome {
        let done = usize::try_from(self.done % (jobs as u64 + 1)).unwrap();
        if done == jobs {
            return Outcome::complete(jobs);
        }
        let error = format!("error {}", self.rest % 100);
        let rest = match self.rest % 9 {
            0 => Rest::Back,
            1 | 2 => retry(&error),
            3 => Rest::Retry {
                floor: Some(secs(20)),
                error,
            },
            4 | 5 => Rest::Quarantine { error },
            6 => Rest::DeadLetter { error },
            7 => Rest::Defer {
                after: millis(1 + self.rest % 20_000),
            },
            _ => Rest::Release {
                floor: (self.rest & 64 != 0).then_some(Fence(last_fence.0 + self.rest % 10_000)),
                need: (self.rest & 128 != 0).then_some(2),
            },
        };
        Outcome { done, rest }
    }
}
