//! Stopping `traces ingest`.
use crate::{
    command::{Traces, printed},
    server::{pause, terminate},
};
use std::{
    fs,
    io::{Read, Write},
    path::Path,
    process::Stdio,
};

const SPANS: u64 = 5_000;

/// H-01: told to stop in the middle it closes its store and says so; the next run finishes, each span once.
#[test]
fn a_signal_stops_it_in_order_and_the_next_run_finishes() {
    let traces = Traces::new();
    let file = traces.path("requests.jsonl");
    let mut lines = fs::File::create(&file).unwrap();
    for n in 1..=SPANS {
        let trace = n % 100 + 1;
        writeln!(
            lines,
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"{trace:032x}","spanId":"{n:016x}","name":"n","startTimeUnixNano":"1764500000000000000","endTimeUnixNano":"1764500000000000001"}}]}}]}}]}}"#
        )
        .unwrap();
    }
    drop(lines);
    let args = ["ingest", file.to_str().unwrap()];
    let mut child = traces
        .command(&args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let wal = traces.path("traces.db-wal");
    let size = |name: &Path| fs::metadata(name).map_or(0, |file| file.len());
    // Well beyond an empty store, well before the end.
    while size(&wal) + size(&traces.path("traces.db")) < 1_500_000 {
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
        pause();
    }
    terminate(&child);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(1), "{status}: {said}");
    assert!(said.contains("interrupted: run it again to finish"), "{said}");
    assert_eq!(size(&wal), 0, "the store was not closed: {said}");
    let totals = printed(&traces.run(&args));
    let totals: Vec<_> = totals.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(totals[..3], ["default", "5000", "100"]);
}
