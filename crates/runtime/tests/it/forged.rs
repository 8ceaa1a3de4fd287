//! Jobs that were spoilt, forged, or come from another build.
use crate::support::{
    All, Bench, Ear, Faults, Heard, Last, Note, Odds, Op, Run, Story, Total, Totals, What, as_new, blob_of,
    bulky, idle, note, tenant,
};
use bytes::Bytes;
use foldwright_domain::Dispatch;
use foldwright_ports::{GroupId, Held, Limits};
use foldwright_runtime::Pipeline;
use std::{sync::Arc, time::Duration};

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .fold::<Last>(|f| f)
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}

/// B-12, B-14, B-20: what cannot be read is kept with its body, and its error is told.
#[tokio::test(start_paused = true)]
async fn an_unreadable_header_is_retried_and_kept_with_its_body() {
    let bench = Bench::new();
    let job = bench
        .job_of(pipeline(), "runs/command/note", bulky(0, 7, 20_000))
        .await;
    let blob = blob_of(&job);
    for (header, error) in [
        (Bytes::new(), "the header is missing"),
        (
            Bytes::from_static(b"GQ1 what another program wrote"),
            "does not begin as one of Foldwright",
        ),
        (
            Bytes::from_static(b"FW\x01\xff\xff\xff"),
            "the header does not decode",
        ),
        (Bytes::from_static(b"FW\x09from tomorrow"), "is of version 9"),
    ] {
        let mut spoilt = job.clone();
        spoilt.header = header;
        bench.stage(spoilt).await;
        let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
        tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
        let blocked = bench.blocked().await;
        assert_eq!(blocked.len(), 1);
        assert_eq!(blocked[0].failures, 25);
        assert!(blocked[0].error.contains(error), "{}", blocked[0].error);
        assert_eq!(
            bench.ports.queue.held(std::slice::from_ref(&blob)).await.unwrap(),
            [Held::Yes]
        );
        assert_eq!(bench.ports.queue_admin.drain(&job.group, 10).await.unwrap(), 1);
        kernel.close().await;
    }
}

/// B-21
#[tokio::test(start_paused = true)]
async fn a_newer_envelope_waits_for_a_newer_worker() {
    let bench = Bench::new();
    let mut job = bench
        .job_of(pipeline(), "runs/command/note", note("r", 0, 7))
        .await;
    job.format = 2;
    bench.stage(job.clone()).await;
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(kernel.backlog().await.unwrap().commands.waiting, 1);
    assert_eq!(kernel.counters().jobs_completed.get(), 0);
    let view = bench.ports.queue_admin.group(&job.group).await.unwrap().unwrap();
    assert_eq!((view.failures, view.depth, view.leased), (0, 1, false));
    // A newer worker is handed it.
    let leases = bench.take("runs/command/note").await;
    assert_eq!(as_new(&leases[0], &leases[0].jobs[0]), job);
}

/// B-10, T-03, G11: a header or a reference of another tenant gives nothing away.
#[tokio::test(start_paused = true)]
async fn a_forged_job_reads_nothing_of_another_tenant() {
    let bench = Bench::new();
    let mut theirs = bulky(0, 7, 20_000);
    theirs.tenant = tenant("b");
    let secret = bench.job_of(pipeline(), "runs/command/note", theirs).await;
    let mine = bench
        .job_of(pipeline(), "runs/command/note", note("r", 0, 1))
        .await;
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();

    // The whole job, moved into my group: its header names the other tenant.
    let mut moved = secret.clone();
    moved.group = GroupId {
        key: "run:moved".into(),
        ..mine.group.clone()
    };
    bench.stage(moved.clone()).await;
    idle(&kernel).await;
    let blocked = bench.blocked().await;
    assert_eq!((blocked.len(), blocked[0].failures), (1, 1));
    assert!(
        blocked[0]
            .error
            .contains("security: job header belongs to another tenant"),
        "{}",
        blocked[0].error
    );

    // My header, pointing to their body: under my tenant there is no such body.
    let mut forged = mine.clone();
    forged.group.key = "run:forged".into();
    forged.body = secret.body.clone();
    bench.stage(forged.clone()).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let view = bench
        .ports
        .queue_admin
        .group(&forged.group)
        .await
        .unwrap()
        .unwrap();
    assert!(
        view.last_error
            .as_deref()
            .is_some_and(|e| e.contains("is gone from its tier")),
        "{view:?}"
    );
    assert!(bench.reader().tenants().await.unwrap().is_empty());
    kernel.close().await;
}

/// T-03: an event of another tenant in the body of a job.
#[tokio::test(start_paused = true)]
async fn a_foreign_event_in_a_job_is_refused() {
    let bench = Bench::new();
    let folds = || {
        Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .fold::<Totals>(|f| f)
            .build()
            .unwrap()
    };
    let mut jobs = Vec::new();
    for owner in ["a", "b"] {
        let faults = Arc::new(Faults::new());
        faults.always(Op::LoadRows, "", What::Hang);
        let kernel = bench.faulty(&faults).pipeline(folds()).start().unwrap();
        let mut intent = note("r", 0, 7);
        intent.tenant = tenant(owner);
        kernel.send(intent).await.unwrap();
        faults.hung(1).await;
        drop(kernel);
        bench.leases_lapse().await;
        bench.ports.queue.reap(10).await.unwrap();
        let lease = bench.take("runs/fold/totals").await.remove(0);
        bench.done(&lease).await;
        jobs.push(as_new(&lease, &lease.jobs[0]));
    }
    let mut forged = jobs[0].clone();
    forged.body = jobs[1].body.clone();
    bench.stage(forged).await;
    let kernel = bench.kernel().pipeline(folds()).start().unwrap();
    idle(&kernel).await;
    let blocked = bench.blocked().await;
    assert!(
        blocked[0]
            .error
            .contains("security: event belongs to another tenant"),
        "{}",
        blocked[0].error
    );
    assert_eq!(bench.state::<Totals>("r").await, None);
}

/// T-05: a reader of one tenant finds nothing of another.
#[tokio::test(start_paused = true)]
async fn nothing_of_one_tenant_is_found_under_another() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    kernel.send(note("r", 0, 7)).await.unwrap();
    idle(&kernel).await;
    let reader = bench.reader();
    let other = tenant("b");
    assert!(
        reader
            .state::<Totals, Run>(&crate::support::key("b", "r"))
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        reader
            .states::<Totals>(&other, None, Limits::items(10))
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(
        reader
            .records::<Odds>(&other, Some("r"), None, Limits::items(10))
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let mine = tenant("a");
    assert_eq!(
        reader
            .states::<Totals>(&mine, None, Limits::items(10))
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    let from = reader
        .states::<Totals>(&mine, None, Limits::items(1))
        .await
        .unwrap()
        .next;
    assert!(from.is_none());
}

/// A trace context that would not fit into the headers of the jobs that follow is left out where it comes in.
///
/// G2
#[tokio::test(start_paused = true)]
async fn no_header_outgrows_its_job_on_the_way() {
    let bench = Bench::new();
    let heard: Arc<Heard<Total>> = Heard::new();
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), Dispatch::each()))
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    let mut accepted = 0;
    // With and without room for the longer route of a subscriber.
    for length in [55, 256, 257].into_iter().chain((3_300..3_700).step_by(3)) {
        let origin = foldwright_domain::Origin {
            trace_context: Some("t".repeat(length).into()),
            ..foldwright_domain::Origin::default()
        };
        let run = "r".repeat(512);
        accepted += usize::from(
            kernel
                .send(note(&run, length as i64, 1).caused_by(origin))
                .await
                .is_ok(),
        );
    }
    idle(&kernel).await;
    assert_eq!(accepted, 137, "a broken trace context refuses no command");
    assert_eq!(heard.runs().len(), accepted);
    let stream = crate::support::key::<Run>("a", &"r".repeat(512)).erase();
    let events = bench
        .ports
        .log
        .load(&stream, None, Limits::items(1_000))
        .await
        .unwrap()
        .items;
    let passed_on: Vec<_> = events
        .iter()
        .filter_map(|event| event.meta.trace_context.clone())
        .collect();
    assert_eq!(
        passed_on.iter().map(|context| context.len()).collect::<Vec<_>>(),
        [55, 256]
    );
    assert!(bench.blocked().await.is_empty());
}
