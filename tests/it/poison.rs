//! A command that kills every process that handles it.
use foldwright::{
    Kernel, Role,
    domain::TenantId,
    ports::{Limits, Selection},
    sqlite::{Sqlite, SqliteSettings},
};
use foldwright_tests::poison::{parse, pipeline};
use std::process::{Command, Stdio};

const OTHERS: usize = 20;

/// Handling one command kills the worker, life after life: after three confirmed deaths its group is quarantined with the
/// count in the error and its job kept, and the other groups are done.
///
///
#[tokio::test]
async fn a_command_that_kills_its_workers_is_quarantined_after_three_deaths() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("documents.db");
    let tenant = TenantId::parse("acme").unwrap();
    let sqlite = Sqlite::open(&store, SqliteSettings::default()).unwrap();
    let web = Kernel::builder(sqlite.ports(), Role::Web)
        .pipeline(pipeline().unwrap())
        .start()
        .unwrap();
    web.send(parse(&tenant, "die")).await.unwrap();
    for n in 0..OTHERS {
        web.send(parse(&tenant, &format!("d{n}"))).await.unwrap();
    }
    web.close().await;
    sqlite.close().await.unwrap();

    let mut deaths = 0;
    loop {
        let life = Command::new(env!("CARGO_BIN_EXE_poisoned"))
            .arg(&store)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        if life.success() {
            break;
        }
        assert_eq!(life.code(), None, "it ends by a signal, not by an error");
        deaths += 1;
        assert!(deaths < 10, "it is never quarantined");
    }
    assert!(deaths >= 3, "{deaths} deaths");

    let sqlite = Sqlite::open(&store, SqliteSettings::default()).unwrap();
    let ports = sqlite.ports();
    let blocked = ports
        .queue_admin
        .blocked(None, None, Limits::items(10))
        .await
        .unwrap();
    let [blocked] = blocked.items.as_slice() else {
        panic!("one group is quarantined: {blocked:?}")
    };
    assert!(blocked.group.key.contains("die"), "{blocked:?}");
    assert!(blocked.error.contains('3'), "{}", blocked.error);
    let view = ports.queue_admin.group(&blocked.group).await.unwrap().unwrap();
    assert_eq!(view.jobs, [blocked.job], "its job is kept");
    let all = Selection::all(tenant);
    let log = ports.log.scan(&all, None, Limits::items(100)).await.unwrap();
    assert_eq!(log.items.len(), OTHERS, "the others are done");
    sqlite.close().await.unwrap();
}
