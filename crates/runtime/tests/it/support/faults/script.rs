//! What is to go wrong, and what was called.
use crate::support::Seeded;
use foldwright_ports::{Error, Kind};
use std::{
    sync::{Mutex, MutexGuard},
    time::Duration,
};
use tokio::sync::watch;

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

/// Random trouble, and a death at a random point.
struct Chance {
    seeded: Seeded,
    /// One call in so many fails.
    one_in: u64,
    /// How many effects happen before the process dies.
    effects_left: u64,
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
        }
    }

    /// One call in `one_in` fails, with or without its effect; the process dies within `effects` effects.
    pub(crate) fn random(seed: u64, one_in: u64, effects: u64) -> Self {
        let mut seeded = Seeded::new(seed);
        let effects_left = seeded.below(effects);
        let faults = Self::new();
        faults.lock().chance = Some(Chance {
            seeded,
            one_in,
            effects_left,
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
        match self.verdict(op, about) {
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
        }
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
        let what = script.by_rule(op, &about);
        script.calls.push((op, about));
        what.or_else(|| self.by_chance(&mut script, op))
    }

    fn by_chance(&self, script: &mut Script, op: Op) -> Option<What> {
        let chance = script.chance.as_mut()?;
        if Op::EFFECTS.contains(&op) {
            if chance.effects_left == 0 {
                self.dead.send_replace(true);
                return Some(if chance.seeded.one_in(2) {
                    What::Hang
                } else {
                    What::HangAfter
                });
            }
            chance.effects_left -= 1;
        }
        if op == Op::Wait || !chance.seeded.one_in(chance.one_in) {
            return None;
        }
        let kind = *chance.seeded.pick(&[Kind::Unavailable, Kind::Timeout]);
        Some(if chance.seeded.one_in(2) {
            What::Fail(kind)
        } else {
            What::LoseReply(kind)
        })
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
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
