//! What is to go wrong, and what was called.
use crate::support::Seeded;
use foldwright_ports::{Error, Kind};
use std::{
    sync::{Mutex, MutexGuard},
    time::Duration,
};
use tokio::{sync::watch, time::Instant};

/// A call of a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Op {
    Stage,
    Claim,
    Settle,
    Extend,
    Reap,
    Beat,
    Goodbye,
    Hold,
    Wait,
    Answer,
    Held,
    Forget,
    Append,
    LoadEvents,
    CountEvents,
    Find,
    Scan,
    LoadRows,
    StoreRows,
    AppendRecords,
    Put,
    Get,
    ListBlobs,
    DeleteBlob,
}

impl Op {
    /// The calls that change something, or hand out work.
    const EFFECTS: [Self; 7] = [
        Self::Stage,
        Self::Claim,
        Self::Settle,
        Self::Append,
        Self::StoreRows,
        Self::AppendRecords,
        Self::Put,
    ];
}

/// How a call goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// It fails and has no effect.
    Fail(Kind),
    /// It takes effect and its reply is lost.
    LoseReply(Kind),
    /// Its items that match fail, the others go through.
    FailItems(Kind),
    /// It takes so long before it takes effect.
    Slow(Duration),
    /// It hangs before it takes effect, until it is let go.
    Hang,
    /// It takes effect, then hangs until it is let go.
    HangAfter,
    /// The process stops for so long before it takes effect: none of its calls goes on meanwhile.
    Freeze(Duration),
    /// It takes effect, then the process stops for so long.
    FreezeAfter(Duration),
}

/// Which calls go wrong.
struct Rule {
    op: Op,
    /// A part of what one of the call's items is about.
    about: String,
    skip: usize,
    times: usize,
    what: What,
}

/// What goes wrong by chance. One call in so many:
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Trouble {
    /// Fails, with or without its effect.
    pub(crate) fails_one_in: u64,
    /// Waits a little before its effect or behind it, so that others come between.
    pub(crate) waits_one_in: u64,
    /// Stops its whole process for longer than a lease, before its effect or behind it.
    pub(crate) freezes_one_in: u64,
    /// Within so many effects the process dies.
    pub(crate) effects: u64,
}

impl Trouble {
    /// So seldom that it does not come.
    pub(crate) const NEVER: u64 = 1_000_000_000_000;

    /// Calls fail, and nothing else.
    pub(crate) const fn failures(fails_one_in: u64) -> Self {
        Self {
            fails_one_in,
            waits_one_in: Self::NEVER,
            freezes_one_in: Self::NEVER,
            effects: Self::NEVER,
        }
    }
}

/// Random trouble, and a death at a random point.
struct Chance {
    seeded: Seeded,
    trouble: Trouble,
    /// How many effects happen before the process dies.
    effects_left: u64,
    /// Told of each call.
    note: Box<dyn Fn(String) + Send>,
}

#[derive(Default)]
struct Script {
    rules: Vec<Rule>,
    chance: Option<Chance>,
    calls: Vec<(Op, Vec<String>)>,
}

/// A script of faults that the ports of one kernel follow.
pub(crate) struct Faults {
    script: Mutex<Script>,
    hung: watch::Sender<usize>,
    open: watch::Sender<bool>,
    /// How many of the calls that hang were let go singly.
    let_go: watch::Sender<usize>,
    dead: watch::Sender<bool>,
    frozen_until: Mutex<Option<Instant>>,
}

impl Faults {
    /// Nothing goes wrong yet.
    pub(crate) fn new() -> Self {
        Self {
            script: Mutex::default(),
            hung: watch::Sender::new(0),
            open: watch::Sender::new(false),
            let_go: watch::Sender::new(0),
            dead: watch::Sender::new(false),
            frozen_until: Mutex::default(),
        }
    }

    /// A process in trouble; `note` is told of each of its calls.
    pub(crate) fn random(seed: u64, trouble: Trouble, note: impl Fn(String) + Send + 'static) -> Self {
        let mut seeded = Seeded::new(seed);
        let effects_left = seeded.below(trouble.effects);
        let faults = Self::new();
        faults.lock().chance = Some(Chance {
            seeded,
            trouble,
            effects_left,
            note: Box::new(note),
        });
        faults
    }

    /// The next call of `op` that is about `about` goes wrong.
    pub(crate) fn once(&self, op: Op, about: &str, what: What) {
        self.times(op, about, 0, 1, what);
    }

    /// All such calls go wrong from now on.
    pub(crate) fn always(&self, op: Op, about: &str, what: What) {
        self.times(op, about, 0, usize::MAX, what);
    }

    /// After `skip` such calls, `times` of them go wrong.
    pub(crate) fn times(&self, op: Op, about: &str, skip: usize, times: usize, what: What) {
        self.lock().rules.push(Rule {
            op,
            about: about.into(),
            skip,
            times,
            what,
        });
    }

    /// From now on nothing goes wrong.
    pub(crate) fn clear(&self) {
        self.lock().rules.clear();
    }

    /// How many calls of `op` were made that are about `about`.
    pub(crate) fn count(&self, op: Op, about: &str) -> usize {
        let script = self.lock();
        script
            .calls
            .iter()
            .filter(|(called, of)| *called == op && matches(of, about))
            .count()
    }

    /// What all these calls were about, item by item.
    pub(crate) fn items(&self, op: Op, about: &str) -> Vec<String> {
        let script = self.lock();
        let calls = script.calls.iter().filter(|(called, _)| *called == op);
        calls
            .flat_map(|(_, of)| of.clone())
            .filter(|item| item.contains(about))
            .collect()
    }

    /// Waits until `calls` calls have hung in all.
    pub(crate) async fn hung(&self, calls: usize) {
        let mut hung = self.hung.subscribe();
        let hung = hung.wait_for(|hung| *hung >= calls);
        tokio::time::timeout(Duration::from_secs(24 * 60 * 60), hung)
            .await
            .expect("no call hung")
            .unwrap();
    }

    /// Lets every call go on that hangs or is going to.
    pub(crate) fn let_go(&self) {
        self.open.send_replace(true);
    }

    /// Lets the call go on that hung first.
    pub(crate) fn let_one_go(&self) {
        self.let_go.send_modify(|calls| *calls += 1);
    }

    /// Waits until the process is dead: no call of it has an effect or an answer any more.
    pub(crate) async fn died(&self) {
        self.dead.subscribe().wait_for(|dead| *dead).await.unwrap();
    }

    /// Makes a call, unless the script says otherwise.
    pub(super) async fn through<T>(
        &self,
        op: Op,
        about: Vec<String>,
        call: impl Future<Output = T> + Send,
        refuse: impl FnOnce(Error) -> T + Send,
    ) -> T {
        self.live().await;
        let verdict = self.verdict(op, about);
        self.wait().await;
        let answer = match verdict {
            None | Some(What::FailItems(_)) => call.await,
            Some(What::Fail(kind)) => refuse(error(kind)),
            Some(What::LoseReply(kind)) => {
                call.await;
                refuse(error(kind))
            }
            Some(What::Slow(time)) => {
                tokio::time::sleep(time).await;
                call.await
            }
            Some(What::Hang) => {
                self.hang().await;
                call.await
            }
            Some(What::HangAfter) => {
                let answer = call.await;
                self.hang().await;
                answer
            }
            Some(What::Freeze(time)) => {
                self.freeze(time);
                self.live().await;
                call.await
            }
            Some(What::FreezeAfter(time)) => {
                let answer = call.await;
                self.freeze(time);
                answer
            }
        };
        self.wait().await;
        self.live().await;
        answer
    }

    /// The kind of error that one item of a call gets, if it gets one.
    pub(super) fn item(&self, op: Op, about: &str) -> Option<Error> {
        let script = self.lock();
        script.rules.iter().find_map(|rule| match rule.what {
            What::FailItems(kind) if rule.op == op && about.contains(&rule.about) => Some(error(kind)),
            _ => None,
        })
    }

    async fn live(&self) {
        if *self.dead.borrow() {
            std::future::pending::<()>().await;
        }
        let frozen_until = *self.frozen_until.lock().unwrap();
        if let Some(until) = frozen_until {
            tokio::time::sleep_until(until).await;
        }
    }

    fn freeze(&self, time: Duration) {
        *self.frozen_until.lock().unwrap() = Some(Instant::now() + time);
    }

    /// Lets others go first, by chance.
    async fn wait(&self) {
        let wait = self.lock().chance.as_mut().and_then(Chance::wait);
        match wait {
            None => {}
            Some(Duration::ZERO) => tokio::task::yield_now().await,
            Some(time) => tokio::time::sleep(time).await,
        }
    }

    async fn hang(&self) {
        let mut number = 0;
        self.hung.send_modify(|hung| {
            *hung += 1;
            number = *hung;
        });
        let (mut open, mut let_go) = (self.open.subscribe(), self.let_go.subscribe());
        tokio::select! {
            biased;
            gone = open.wait_for(|open| *open) => drop(gone.unwrap()),
            gone = let_go.wait_for(|calls| *calls >= number) => drop(gone.unwrap()),
        }
    }

    fn verdict(&self, op: Op, about: Vec<String>) -> Option<What> {
        let mut script = self.lock();
        let script = &mut *script;
        let mut what = script.by_rule(op, &about);
        if let Some(chance) = &mut script.chance {
            what = what.or_else(|| chance.verdict(op));
            if matches!(what, Some(What::Hang | What::HangAfter)) {
                self.dead.send_replace(true);
            }
            chance.tell(op, &about, what);
        }
        script.calls.push((op, about));
        what
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }
}

impl Chance {
    fn verdict(&mut self, op: Op) -> Option<What> {
        let (before, seeded) = (self.seeded.one_in(2), &mut self.seeded);
        if Op::EFFECTS.contains(&op) {
            if self.effects_left == 0 {
                return Some(if before { What::Hang } else { What::HangAfter });
            }
            self.effects_left -= 1;
            if seeded.one_in(self.trouble.freezes_one_in) {
                let time = Duration::from_millis(20_000 + seeded.below(80_000));
                return Some(if before {
                    What::Freeze(time)
                } else {
                    What::FreezeAfter(time)
                });
            }
        }
        if op == Op::Wait || !seeded.one_in(self.trouble.fails_one_in) {
            return None;
        }
        let kind = *seeded.pick(&[Kind::Unavailable, Kind::Timeout]);
        Some(if before {
            What::Fail(kind)
        } else {
            What::LoseReply(kind)
        })
    }

    fn wait(&mut self) -> Option<Duration> {
        let waits = self.seeded.one_in(self.trouble.waits_one_in);
        waits.then(|| Duration::from_millis(self.seeded.below(12).saturating_sub(4)))
    }

    /// Calls that change nothing and go well are left out.
    fn tell(&self, op: Op, about: &[String], what: Option<What>) {
        if what.is_none() && !Op::EFFECTS.contains(&op) {
            return;
        }
        let about = match op {
            Op::Claim => String::new(),
            _ => about.join(", "),
        };
        let what = what.map_or_else(String::new, |what| format!("  <- {what:?}"));
        (self.note)(format!("{op:?} {about}{what}"));
    }
}

impl Script {
    fn by_rule(&mut self, op: Op, about: &[String]) -> Option<What> {
        let mut fitting = self
            .rules
            .iter_mut()
            .filter(|rule| rule.op == op && matches(about, &rule.about));
        fitting.find_map(|rule| match rule {
            Rule {
                skip: 0, times: 0, ..
            } => None,
            Rule { skip: 0, .. } => {
                rule.times -= 1;
                Some(rule.what)
            }
            _ => {
                rule.skip -= 1;
                None
            }
        })
    }
}

fn matches(items: &[String], about: &str) -> bool {
    about.is_empty() || items.iter().any(|item| item.contains(about))
}

fn error(kind: Kind) -> Error {
    let error = Error::new(kind, "scripted", "as the test says");
    match kind {
        Kind::Full => error.retry_after(Duration::from_secs(1)),
        _ => error,
    }
}
