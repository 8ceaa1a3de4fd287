//! What the process does until it is killed.
use crate::support::{append, group, job, nonce, open_with_checkpoints, stream, want};
use foldwright_ports::{Outcome, Ports, Rest, Room, Settlement, Want, WorkerId};
use std::{io::Write, path::Path, time::Duration};

/// Groups that it works on.
const GROUPS: u64 = 5;

/// A line about what is asked for or was answered: a verb, numbers, and a full stop that shows that it is whole.
fn say(verb: &str, numbers: impl IntoIterator<Item = u64>) {
    let numbers: Vec<_> = numbers.into_iter().map(|n| n.to_string()).collect();
    let mut out = std::io::stdout().lock();
    writeln!(out, "@{verb} {} .", numbers.join(" ")).unwrap();
    out.flush().unwrap();
}

struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % bound
    }
}

pub(super) async fn work(path: &Path, seed: u64) {
    // So few pages that it dies in the midst of checkpoints too.
    let sqlite = open_with_checkpoints(path, 4);
    let ports = sqlite.ports();
    let mut random = Seeded(seed);
    // Numbers grow from one life to the next, and so does every group's line.
    let mut next = seed * 1_000_000;
    say("born", []);
    loop {
        ports.queue.reap(1_000).await.unwrap();
        match random.below(4) {
            0 => {
                let count = 1 + random.below(3);
                let numbers: Vec<_> = (0..count).map(|_| take(&mut next)).collect();
                say("appending", numbers.iter().copied());
                let appends = numbers
                    .iter()
                    .map(|n| append(*n, &stream("acme", &(n % 3).to_string())));
                for answer in ports.log.append(appends.collect()).await {
                    answer.unwrap();
                }
                say("appended", numbers);
            }
            1 => {
                let group = random.below(GROUPS);
                let count = 1 + random.below(5);
                let numbers: Vec<_> = (0..count).map(|_| take(&mut next)).collect();
                say("staging", numbers.iter().copied());
                let jobs = numbers.iter().map(|n| job(*n, &group_of(group)));
                ports
                    .queue
                    .stage(nonce_of(seed), jobs.collect(), Room::Sender)
                    .await
                    .unwrap();
                say("staged", numbers);
            }
            _ => settle(&ports, &mut random, seed, &mut next).await,
        }
    }
}

fn group_of(n: u64) -> foldwright_ports::GroupId {
    group("acme", &n.to_string())
}

/// Nonces that differ between lives too.
fn nonce_of(seed: u64) -> foldwright_ports::Nonce {
    foldwright_ports::Nonce(nonce().0 ^ (u128::from(seed) << 100))
}

fn take(next: &mut u64) -> u64 {
    *next += 1;
    *next
}

/// Claims, and settles with an outcome of every kind and a job that follows.
async fn settle(ports: &Ports, random: &mut Seeded, seed: u64, next: &mut u64) {
    let want = Want {
        lease: Duration::from_millis(40),
        ..want(2, 4)
    };
    let leases = ports
        .queue
        .claim(nonce_of(seed), WorkerId(1), &want)
        .await
        .unwrap();
    for lease in leases {
        let numbers: Vec<_> = lease.jobs.iter().map(|job| number(&job.id)).collect();
        assert!(numbers.is_sorted(), "handed out in order: {numbers:?}");
        let done = random.below(numbers.len() as u64 + 1);
        let rest = match random.below(3) {
            0 => Rest::Back,
            1 => Rest::Defer {
                after: Duration::from_millis(1),
            },
            _ => Rest::Release {
                floor: None,
                need: None,
            },
        };
        let done: Vec<_> = numbers[..usize::try_from(done).unwrap()].to_vec();
        let follows = (random.below(2) == 0).then(|| take(next));
        say("settling", done.iter().copied());
        say("staging", follows);
        let settlement = Settlement {
            lease: lease.reference(),
            outcome: Outcome {
                done: done.len(),
                rest,
            },
            answers: Vec::new(),
            then: follows
                .iter()
                .map(|n| job(*n, &group_of(random.below(GROUPS))))
                .collect(),
        };
        let settled = ports
            .queue
            .settle(nonce_of(seed), WorkerId(1), vec![settlement], None)
            .await;
        if matches!(settled.unwrap().verdicts[0], foldwright_ports::Verdict::Applied) {
            say("settled", done);
            say("staged", follows);
        } else {
            // The lease was too short for this machine: nothing of it took effect.
            say("lost", done);
            say("unstaged", follows);
        }
    }
}

/// The number of a job, out of its id.
pub(super) fn number(id: &foldwright_ports::JobId) -> u64 {
    let (source, _) = id.0.split_at(16);
    let source = u128::from_be_bytes(source.try_into().unwrap());
    u64::try_from(source >> 12).unwrap()
}
