//! Closures of the user.
use crate::support::{append, open, place, run, stream};
use foldwright_ports::{Kind, Limits};

#[test]
fn a_user_keeps_tables_beside_the_kernel() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        sqlite
            .write(|tx| tx.execute_batch("CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER)"))
            .await
            .unwrap();
        let added = sqlite
            .write(|tx| tx.execute("INSERT INTO orders (total) VALUES (?1), (?2)", (5, 7)))
            .await
            .unwrap();
        let sum: i64 = sqlite
            .read(|db| db.query_row("SELECT sum(total) FROM orders", [], |row| row.get(0)))
            .await
            .unwrap();
        assert_eq!((added, sum), (2, 12));
    });
}

#[test]
fn a_closure_that_fails_leaves_nothing() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        sqlite
            .write(|tx| tx.execute_batch("CREATE TABLE mine (x)"))
            .await
            .unwrap();
        let failed = sqlite
            .write(|tx| {
                tx.execute_batch("INSERT INTO mine VALUES (1)")?;
                tx.execute_batch("INSERT INTO nobodys VALUES (1)")
            })
            .await;
        assert_eq!(failed.unwrap_err().kind(), Kind::Invalid);
        let rows: i64 = sqlite
            .read(|db| db.query_row("SELECT count(*) FROM mine", [], |row| row.get(0)))
            .await
            .unwrap();
        assert_eq!(rows, 0);
    });
}

#[test]
fn threads_survive_panics() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let log = sqlite.ports().log;
        let stream = stream("acme", "1");
        for n in 1..=5 {
            let written = sqlite
                .write(|tx| -> foldwright_adapter_sqlite::rusqlite::Result<()> {
                    tx.execute_batch("CREATE TABLE half (x)")?;
                    panic!("on purpose")
                })
                .await
                .unwrap_err();
            assert!(written.to_string().contains("on purpose"), "{written}");
            let read = sqlite
                .read(|_| -> foldwright_adapter_sqlite::rusqlite::Result<()> { panic!("on purpose") })
                .await;
            assert_eq!(read.unwrap_err().kind(), Kind::Invalid);
            log.append(vec![append(n, &stream)]).await[0].as_ref().unwrap();
        }
        let half: i64 = sqlite
            .read(|db| {
                db.query_row(
                    "SELECT count(*) FROM sqlite_schema WHERE name = 'half'",
                    [],
                    |r| r.get(0),
                )
            })
            .await
            .unwrap();
        assert_eq!(half, 0);
        assert_eq!(
            log.load(&stream, None, Limits::items(9))
                .await
                .unwrap()
                .items
                .len(),
            5
        );
    });
}

#[test]
fn a_closure_that_ends_the_transaction_harms_nobody() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        for verb in ["COMMIT", "ROLLBACK"] {
            let ended = sqlite.write(move |tx| tx.execute_batch(verb)).await;
            assert_eq!(ended.unwrap_err().kind(), Kind::Unavailable, "{verb}");
            let stream = stream("acme", verb);
            sqlite.ports().log.append(vec![append(1, &stream)]).await[0]
                .as_ref()
                .unwrap();
        }
    });
}

#[test]
fn a_read_can_neither_write_nor_freeze_what_is_seen() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        sqlite
            .write(|tx| tx.execute_batch("CREATE TABLE mine (x)"))
            .await
            .unwrap();
        let written = sqlite
            .read(|db| db.execute_batch("INSERT INTO mine VALUES (1)"))
            .await;
        assert_eq!(written.unwrap_err().kind(), Kind::Invalid);
        let count = "SELECT count(*) FROM mine";
        for n in 0..8_i64 {
            let left_open = sqlite.read(move |db| {
                db.execute_batch("BEGIN")?;
                db.query_row(count, [], |row| row.get::<_, i64>(0))
            });
            assert_eq!(left_open.await.unwrap(), n);
            sqlite
                .write(|tx| tx.execute_batch("INSERT INTO mine VALUES (1)"))
                .await
                .unwrap();
        }
    });
}
