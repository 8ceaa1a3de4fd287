//! What is sent.
use crate::support::{Count, Counted, Finish, Note, Noted, Seeded, Take, at, tenant};
use foldwright_domain::{CommandId, Declared, Intent};
use foldwright_runtime::Kernel;

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
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sent {
    pub(super) tenant: String,
    pub(super) ms: i64,
    pub(super) command: Command,
    pub(super) id: Option<CommandId>,
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
    /// Has it accepted.
    pub(super) async fn send(&mut self, kernel: &Kernel) {
        let (owner, time) = (tenant(&self.tenant), at(self.ms));
        let receipt = match self.command.clone() {
            Command::Note { run, n, key } => kernel
                .send(Intent::new(owner, time, Declared::<Note>(Noted { run, n, key })))
                .await
                .unwrap(),
            Command::Finish { run, times } => kernel
                .send(Intent::new(owner, time, Finish { run, times }))
                .await
                .unwrap(),
            Command::Count { suite, n } => kernel
                .send(Intent::new(owner, time, Declared::<Count>(Counted { suite, n })))
                .await
                .unwrap(),
            Command::Take { run, n, key } => {
                let seats = SEATS;
                let take = Take { run, n, seats, key };
                kernel.send(Intent::new(owner, time, take)).await.unwrap()
            }
        };
        self.id = Some(receipt.command);
    }
}
