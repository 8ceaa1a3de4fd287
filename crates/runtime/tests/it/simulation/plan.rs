//! What is sent.
use crate::support::{Count, Counted, Finish, Note, Noted, Seeded, Take, at, tenant};
use foldwright_domain::{CommandId, Declared, Intent};
use foldwright_runtime::{Kernel, Receipt};

/// A command, as the oracle remembers it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Command {
    Note {
        run: String,
        n: u64,
        key: Option<String>,
    },
    Finish {
        run: String,
        times: usize,
    },
    Count {
        suite: String,
        n: u64,
    },
    /// Decides whether a run has a seat left.
    Take {
        run: String,
        n: u64,
        key: Option<String>,
    },
}

/// How many seats a run has of which they are taken.
pub(super) const SEATS: u64 = 4;

/// A command with its owner, its business time and the id it was accepted under.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) tenant: String,
    pub(super) ms: i64,
    pub(super) command: Command,
    pub(super) id: Option<CommandId>,
    pub(super) receipt: Option<Receipt>,
}

/// So many commands: of two tenants and few aggregates, shuffled in time, some of them sent again.
pub(super) fn plan(seeded: &mut Seeded, commands: u64) -> Vec<Sent> {
    let mut plan: Vec<Sent> = Vec::new();
    for n in 1..=commands {
        let again = seeded.one_in(6);
        let before = plan.iter().filter(|sent| keyed(sent).is_some()).count() as u64;
        if again && before > 0 {
            let at = usize::try_from(seeded.below(before)).unwrap();
            let mut sent = plan
                .iter()
                .filter(|sent| keyed(sent).is_some())
                .nth(at)
                .unwrap()
                .clone();
            // Sometimes the same key stands for something else.
            if let (Command::Note { n: number, .. }, true) = (&mut sent.command, seeded.one_in(3)) {
                *number = n;
            }
            plan.push(sent);
            continue;
        }
        let run = format!("r{}", seeded.below(4));
        let command = match seeded.below(10) {
            0 => Command::Finish {
                run: if seeded.one_in(3) { "no".into() } else { run },
                times: 2,
            },
            1 | 2 => Command::Count { suite: run, n },
            // Its number is none that the deciders of the tests refuse.
            3 => Command::Take {
                run: format!("seats-{run}"),
                n: n + 1_000,
                key: seeded.one_in(2).then(|| format!("t{n}")),
            },
            4 | 5 => Command::Note {
                run,
                n,
                key: Some(format!("k{n}")),
            },
            _ => Command::Note { run, n, key: None },
        };
        let owner = if seeded.one_in(3) { "b" } else { "a" };
        plan.push(Sent {
            tenant: owner.into(),
            ms: seeded.below(40) as i64 - 20,
            command,
            id: None,
            receipt: None,
        });
    }
    plan
}

fn keyed(sent: &Sent) -> Option<&str> {
    match &sent.command {
        Command::Note { key, .. } | Command::Take { key, .. } => key.as_deref(),
        Command::Finish { .. } | Command::Count { .. } => None,
    }
}

impl Sent {
    /// Has it accepted; `asks` has its answer kept.
    pub(super) async fn send(&mut self, kernel: &Kernel, asks: bool) {
        let receipt = match self.command.clone() {
            Command::Note { run, n, key } => {
                self.pass(kernel, asks, Declared::<Note>(Noted { run, n, key }))
                    .await
            }
            Command::Finish { run, times } => self.pass(kernel, asks, Finish { run, times }).await,
            Command::Count { suite, n } => {
                self.pass(kernel, asks, Declared::<Count>(Counted { suite, n }))
                    .await
            }
            Command::Take { run, n, key } => {
                let seats = SEATS;
                self.pass(kernel, asks, Take { run, n, seats, key }).await
            }
        };
        self.id = Some(receipt.command);
        self.receipt = Some(receipt);
    }

    async fn pass<C: foldwright_domain::Command>(&self, kernel: &Kernel, asks: bool, payload: C) -> Receipt {
        let intent = Intent::new(tenant(&self.tenant), at(self.ms), payload);
        let sent = if asks {
            kernel.ask(intent).await
        } else {
            kernel.send(intent).await
        };
        sent.unwrap_or_else(|error| panic!("{:?} was not accepted: {error}", self.command))
    }
}
