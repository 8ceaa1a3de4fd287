//! A process under load that is told to stop.
use foldwright::{
    Kernel, Role,
    domain::{AggregateId, Key, TenantId},
    ports::{Limits, Selection},
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tests::ledger::{Account, Balance, NewBalance, new_build};
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

const ACCOUNTS: u64 = 8;

struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(store: &Path, hold_ms: u64) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ledger"))
            .arg("new")
            .arg(store)
            .args(["--deposits", "1000000", "--accounts", "8", "--hold-ms"])
            .arg(hold_ms.to_string())
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

    fn terminate(&self) {
        let told = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(told.success());
    }
}

/// A process that sends and works is told to stop: it ends in order with its store closed, and another one goes on at
/// once with every command that was accepted.
///
/// H-01, H-07
#[tokio::test]
async fn a_process_that_is_told_to_stop_ends_in_order_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("ledger.db");
    let mut process = Process::start(&store, 0);
    process.says("sending");
    process.terminate();
    process.says("stopping");
    process.says("stopped");
    assert_eq!(process.child.wait().unwrap().code(), Some(0));

    let sqlite = Sqlite::open(&store, SqliteSettings::default()).unwrap();
    let ports = sqlite.ports();
    let depth = ports.queue_admin.depth().await.unwrap();
    assert!(depth.values().all(|depth| depth.leased == 0), "{depth:?}");
    assert!(ports.queue_admin.workers().await.unwrap().is_empty());
    let kernel = Kernel::builder(sqlite.ports(), Role::All)
        .pipeline(new_build().unwrap())
        .start()
        .unwrap();
    let left = kernel.caught_up(|_| {}).await.unwrap();
    assert_eq!((left.open(), left.stuck()), (0, 0));
    let tenant = TenantId::parse("acme").unwrap();
    let (mut stored, mut from) = (0, None);
    loop {
        let all = Selection::all(tenant.clone());
        let page = ports.log.scan(&all, from, Limits::items(10_000)).await.unwrap();
        stored += page.items.len() as u64;
        match page.next {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    assert!(stored > 0);
    // Sent one after the other: what is stored is the first so many numbers, without a hole.
    for account in 0..ACCOUNTS {
        let id = AggregateId::parse(format!("account-{account}").as_str()).unwrap();
        let key = Key::<Account>::new(tenant.clone(), id);
        let row = kernel.reader().state::<NewBalance, _>(&key).await.unwrap();
        let of_account = |n: &u64| n % ACCOUNTS == account;
        let expected = Balance {
            cents: (0..stored).filter(of_account).sum(),
            deposits: (0..stored).filter(of_account).count() as u64,
        };
        let zero = Balance {
            cents: 0,
            deposits: 0,
        };
        assert_eq!(row.map_or(zero, |row| row.state), expected, "account {account}");
    }
    kernel.close().await;
    sqlite.close().await.unwrap();
}

/// Who is told twice ends at once, and says so by its code.
///
/// H-06
#[test]
fn a_second_signal_ends_the_process_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = Process::start(&dir.path().join("ledger.db"), 600_000);
    process.says("sending");
    process.terminate();
    process.says("stopping");
    process.terminate();
    assert_eq!(process.child.wait().unwrap().code(), Some(130));
}
