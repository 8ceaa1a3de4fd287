//! Two processes of different builds on one file.
use foldwright::{
    Kernel, Role,
    domain::{AggregateId, Fold, Key, Millis, TenantId},
    ports::{Limits, Selection, StateRow},
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tests::ledger::{Account, Balance, Entries, NewBalance, deposit, new_build};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

const ACCOUNTS: u64 = 8;
const DEPOSITS: u64 = 400;

struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(build: &str, sender: &str, store: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ledger"))
            .arg(build)
            .arg(store)
            .args(["--sender", sender])
            .args([
                "--deposits",
                &DEPOSITS.to_string(),
                "--accounts",
                &ACCOUNTS.to_string(),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    fn says(&mut self, word: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), word);
    }

    fn stop(mut self) {
        drop(self.child.stdin.take());
        self.says("stopping");
        self.says("stopped");
        assert!(self.child.wait().unwrap().success());
    }
}

/// One route and one fold version apart, both sending to the same accounts and both working; then the old one alone, and
/// at last the new one: every deposit counts once, no row of the new build is written over by the old one, and what only
/// the new build can do waits for it.
///
/// C-14, H-07, S-12, X-11, G2
#[tokio::test]
async fn two_builds_side_by_side_lose_and_overwrite_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("ledger.db");
    let mut old = Process::start("old", "old", &store);
    let mut new = Process::start("new", "new", &store);
    for process in [&mut old, &mut new] {
        process.says("sending");
        process.says("sent");
        process.says("idle");
    }
    old.stop();
    new.stop();

    let before = rows(&store).await;
    let mut alone = Process::start("old", "late", &store);
    alone.says("sending");
    alone.says("sent");
    alone.says("idle");
    alone.stop();
    let after = rows(&store).await;
    let newer: Vec<_> = before
        .iter()
        .filter(|row| row.fold_version == NewBalance::VERSION)
        .collect();
    assert!(!newer.is_empty(), "the new build has stored nothing");
    for row in newer {
        assert!(
            after.contains(row),
            "{} was written over by the old build",
            row.key.key
        );
    }

    let sqlite = Sqlite::open(&store, SqliteSettings::default()).unwrap();
    let waiting = sqlite.ports().queue_admin.depth().await.unwrap();
    let waiting: u64 = waiting.values().map(|depth| depth.waiting).sum();
    assert!(waiting > 0, "what only the new build can do did not wait for it");
    let kernel = Kernel::builder(sqlite.ports(), Role::All)
        .pipeline(new_build().unwrap())
        .start()
        .unwrap();
    let tenant = tenant();
    for n in 0..ACCOUNTS {
        kernel.send(deposit(&tenant, "last", n, ACCOUNTS)).await.unwrap();
    }
    let left = kernel.caught_up(|_| {}).await.unwrap();
    assert_eq!((left.open(), left.stuck()), (0, 0));
    for account in 0..ACCOUNTS {
        let key = Key::<Account>::new(
            tenant.clone(),
            AggregateId::parse(format!("account-{account}").as_str()).unwrap(),
        );
        let row = kernel
            .reader()
            .state::<NewBalance, _>(&key)
            .await
            .unwrap()
            .unwrap();
        let of_account = |n: &u64| n % ACCOUNTS == account;
        let sum: u64 = (0..DEPOSITS).filter(of_account).sum();
        let count = (0..DEPOSITS).filter(of_account).count() as u64;
        let expected = Balance {
            cents: 3 * sum + account,
            deposits: 3 * count + 1,
        };
        assert_eq!(
            (row.state, row.events),
            (expected, expected.deposits),
            "account {account}"
        );
    }

    // What the old build handled has no entry: it did not know the map. Restaged, each event has one.
    let operator = kernel.operator();
    let mut from = None;
    loop {
        let restaged = operator
            .restage(&Selection::all(tenant.clone()), Millis(0), from, 1_000)
            .await
            .unwrap();
        from = restaged.next;
        if from.is_none() {
            break;
        }
    }
    kernel.caught_up(|_| {}).await.unwrap();
    let entries = kernel
        .reader()
        .records::<Entries>(&tenant, None, None, Limits::items(10_000))
        .await
        .unwrap();
    let references: BTreeSet<_> = entries
        .items
        .iter()
        .map(|entry| entry.record.reference.clone())
        .collect();
    assert_eq!(references.len(), entries.items.len(), "an entry is there twice");
    assert_eq!(references.len() as u64, 3 * DEPOSITS + ACCOUNTS);
    kernel.close().await;
    sqlite.close().await.unwrap();
}

fn tenant() -> TenantId {
    TenantId::parse("acme").unwrap()
}

/// The stored balances, whatever build wrote them.
async fn rows(store: &Path) -> Vec<StateRow> {
    let sqlite = Sqlite::open(store, SqliteSettings::default()).unwrap();
    let page = sqlite
        .ports()
        .folds
        .list(&tenant(), NewBalance::NAME, None, Limits::items(100))
        .await
        .unwrap();
    sqlite.close().await.unwrap();
    page.items
}
