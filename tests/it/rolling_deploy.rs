//! Two processes of different builds on one file.
use foldwright::{
    Kernel, Role,
    domain::{AggregateId, Key, TenantId},
    ports::Limits,
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
    fn start(build: &str, store: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ledger"))
            .arg(build)
            .arg(store)
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

/// One route and one fold version apart, both sending to the same accounts and both working: every deposit counts once,
/// no row of the new build is written over by the old one, and no job of the route that only the new build knows is
/// completed by anybody else.
///
/// C-14, H-07, S-12, X-11
#[tokio::test]
async fn two_builds_side_by_side_lose_and_overwrite_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("ledger.db");
    let mut old = Process::start("old", &store);
    let mut new = Process::start("new", &store);
    for process in [&mut old, &mut new] {
        process.says("sending");
        process.says("sent");
    }
    old.stop();
    new.stop();

    let sqlite = Sqlite::open(&store, SqliteSettings::default()).unwrap();
    let kernel = Kernel::builder(sqlite.ports(), Role::All)
        .pipeline(new_build().unwrap())
        .start()
        .unwrap();
    let tenant = TenantId::parse("acme").unwrap();
    for n in 0..ACCOUNTS {
        kernel.send(deposit(&tenant, "last", n, ACCOUNTS)).await.unwrap();
    }
    let left = kernel.caught_up(|_| {}).await.unwrap();
    assert_eq!(left.open(), 0);
    assert_eq!(left.stuck(), 0);
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
            cents: 2 * sum + account,
            deposits: 2 * count + 1,
        };
        assert_eq!(
            (row.state, row.events),
            (expected, expected.deposits),
            "account {account}"
        );
    }
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
    // What the new build handled has its entry; what the old one handled has none until it is restaged.
    let last = (0..ACCOUNTS)
        .filter(|n| references.contains(&format!("last:{n}")))
        .count() as u64;
    assert_eq!(last, ACCOUNTS);
    kernel.close().await;
    sqlite.close().await.unwrap();
}
