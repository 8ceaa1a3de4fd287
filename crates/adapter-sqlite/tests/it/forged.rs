//! Rows that were tampered with.
use crate::support::{append, event, group, job, nonce, open, place, position, run, stream, tenant, want};
use bytes::Bytes;
use foldwright_adapter_sqlite::Sqlite;
use foldwright_domain::{EventId, Millis};
use foldwright_ports::{
    Answer, BlobHash, BlobRef, EventRef, Fence, Kind, Limits, Outcome, Record, Rest, Result, Revision, Room,
    Selection, Settlement, StateKey, StateRow, WorkerId,
};

async fn forge(sqlite: &Sqlite, sql: &'static str) {
    let changed = sqlite.write(move |tx| tx.execute(sql, [])).await.unwrap();
    assert!(changed > 0, "{sql} changes something");
}

/// The number that a tenant is stored under.
const EVIL: &str = "(SELECT id FROM fw_names WHERE text = 'evil')";

fn refused<T: std::fmt::Debug>(answer: Result<T>) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), Kind::Security, "{error}");
}

/// T-04
#[test]
fn a_forged_event_is_never_returned() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let log = sqlite.ports().log;
        let (mine, theirs) = (stream("acme", "1"), stream("evil", "1"));
        let appends = vec![append(1, &mine), append(2, &theirs)];
        for answer in log.append(appends).await {
            answer.unwrap();
        }
        // The row of `acme` now says that it is of `evil`, and stands in a stream of `acme` all the same.
        let changed = sqlite
            .write(|tx| {
                tx.execute(
                    &format!("UPDATE fw_events SET tenant = {EVIL} WHERE data = CAST('{{\"n\":1}}' AS BLOB)"),
                    [],
                )
            })
            .await
            .unwrap();
        assert_eq!(changed, 1);
        refused(log.load(&mine, None, Limits::items(9)).await);
        let id = command_event(1);
        refused(log.find(&[EventRef { stream: mine, id }]).await);
        refused(
            log.scan(&Selection::all(tenant("evil")), None, Limits::items(9))
                .await,
        );
    });
}

fn command_event(n: u64) -> EventId {
    event(n, &stream("acme", "1")).meta.id
}

/// T-04
#[test]
fn a_forged_state_record_or_body_is_never_returned() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let ports = sqlite.ports();
        let key = StateKey {
            tenant: tenant("acme"),
            projection: "totals".into(),
            key: "1".into(),
        };
        let row = StateRow {
            key: key.clone(),
            state: Bytes::from_static(b"{}"),
            fold_version: 1,
            revision: Revision {
                fence: Fence(1),
                write: 1,
            },
            events: 1,
            last_applied: None,
            created_at: Millis(1),
            updated_at: Millis(1),
            ledger: Bytes::new(),
        };
        ports.folds.store(vec![row]).await.remove(0).unwrap();
        let record = Record {
            stream: stream("acme", "1"),
            projection: "rows".into(),
            version: 1,
            identity: event(1, &stream("acme", "1")).meta.identity,
            position: position(1),
            record: Bytes::from_static(b"{}"),
        };
        ports.records.append(vec![record]).await.remove(0).unwrap();
        let blob = BlobRef {
            tenant: tenant("acme"),
            hash: BlobHash::of(b"body"),
        };
        ports
            .hot_blobs
            .put(&blob, Bytes::from_static(b"body"))
            .await
            .unwrap();
        // Rows that belonged to another tenant before somebody moved them under this tenant's keys.
        for sql in [
            "UPDATE fw_folds SET owner = owner + 1000",
            "UPDATE fw_records SET owner = owner + 1000",
            "UPDATE fw_blobs SET owner = owner + 1000",
        ] {
            forge(&sqlite, sql).await;
        }
        refused(ports.folds.load(std::slice::from_ref(&key)).await);
        refused(
            ports
                .folds
                .list(&tenant("acme"), "totals", None, Limits::items(9))
                .await,
        );
        refused(
            ports
                .records
                .list(&tenant("acme"), "rows", None, None, Limits::items(9))
                .await,
        );
        refused(
            ports
                .records
                .list(&tenant("acme"), "rows", Some("1"), None, Limits::items(9))
                .await,
        );
        refused(ports.hot_blobs.get(&blob).await);
        refused(
            ports
                .hot_blobs
                .list(Millis(i64::MAX), None, Limits::items(9))
                .await,
        );
    });
}

/// T-04
#[test]
fn a_forged_answer_or_dead_letter_is_never_returned() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let ports = sqlite.ports();
        let jobs = vec![job(1, &group("acme", "g")), job(2, &group("acme", "h"))];
        let (answered, dead) = (jobs[0].id, jobs[1].id);
        ports.queue.stage(nonce(), jobs, Room::Sender).await.unwrap();
        let leases = ports
            .queue
            .claim(nonce(), WorkerId(1), &want(9, 9))
            .await
            .unwrap();
        let settlements = leases.iter().map(|lease| {
            let is_first = lease.jobs[0].id == answered;
            let error = "on purpose".to_owned();
            Settlement {
                lease: lease.reference(),
                outcome: if is_first {
                    Outcome::complete(1)
                } else {
                    Outcome::none(Rest::DeadLetter { error })
                },
                answers: vec![Answer {
                    job: answered,
                    answer: Bytes::from_static(b"ok"),
                }],
                then: Vec::new(),
            }
        });
        ports
            .queue
            .settle(nonce(), WorkerId(1), settlements.collect(), None)
            .await
            .unwrap();
        assert!(
            ports
                .queue
                .answer(&tenant("acme"), answered)
                .await
                .unwrap()
                .is_some()
        );
        forge(&sqlite, "UPDATE fw_answers SET owner = owner + 1000").await;
        forge(&sqlite, "UPDATE fw_dead SET tenant = tenant + 1000").await;
        refused(ports.queue.answer(&tenant("acme"), answered).await);
        refused(ports.queue_admin.dead_letters(None, None, Limits::items(9)).await);
        refused(ports.queue_admin.requeue(&tenant("acme"), dead).await);
        refused(ports.queue_admin.discard(&tenant("acme"), dead).await);
    });
}

/// T-04, G6: a forged job is handed to nobody; its group is blocked for a person to look at, and the others run.
#[test]
fn a_forged_job_is_never_handed_out_and_holds_up_nobody() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let ports = sqlite.ports();
        let (forged, other) = (group("acme", "forged"), group("acme", "other"));
        ports
            .queue
            .stage(
                nonce(),
                vec![job(1, &forged), job(2, &forged), job(3, &other)],
                Room::Sender,
            )
            .await
            .unwrap();
        forge(
            &sqlite,
            "UPDATE fw_jobs SET tenant = tenant + 1000 WHERE body = CAST('body 1' AS BLOB)",
        )
        .await;
        let leases = ports
            .queue
            .claim(nonce(), WorkerId(1), &want(9, 9))
            .await
            .unwrap();
        let groups: Vec<_> = leases.iter().map(|lease| lease.group.clone()).collect();
        assert_eq!(groups, [other]);
        let blocked = ports
            .queue_admin
            .blocked(None, None, Limits::items(9))
            .await
            .unwrap();
        assert_eq!(blocked.items.len(), 1);
        assert!(blocked.items[0].error.starts_with("security"), "{blocked:?}");
        refused(ports.queue_admin.group(&forged).await);
    });
}

/// A group's row that lies about its place is set aside as well, instead of being met by every claim.
#[test]
fn a_group_that_lies_about_its_place_holds_up_nobody() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let ports = sqlite.ports();
        ports
            .queue
            .stage(nonce(), vec![job(1, &group("acme", "gone"))], Room::Sender)
            .await
            .unwrap();
        ports
            .queue
            .stage(nonce(), vec![job(2, &group("acme", "well"))], Room::Sender)
            .await
            .unwrap();
        forge(&sqlite, "DELETE FROM fw_jobs WHERE body = CAST('body 1' AS BLOB)").await;
        let leases = ports
            .queue
            .claim(nonce(), WorkerId(1), &want(1, 9))
            .await
            .unwrap();
        assert_eq!(leases[0].group, group("acme", "well"));
    });
}
