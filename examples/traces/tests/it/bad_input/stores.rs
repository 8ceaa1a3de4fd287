//! Stores and ports that cannot be used.
use super::{file, good, ingest, run, stored};
use crate::{command::Traces, server::Process};
use foldwright::sqlite::rusqlite::Connection;
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::Path,
    process::Command,
};

#[test]
fn a_store_of_a_newer_schema_is_left_alone() {
    let traces = Traces::new();
    let path = file(&traces, "spans", good(1));
    assert!(ingest(&traces, &path).succeeded);
    let db = Connection::open(traces.path("traces.db")).unwrap();
    db.execute_batch("PRAGMA user_version = 999;").unwrap();
    drop(db);
    ingest(&traces, &path).refuses(&["999", "newer release"]);
    let db = Connection::open(traces.path("traces.db")).unwrap();
    db.execute_batch("PRAGMA user_version = 2;").unwrap();
    drop(db);
    stored(&traces, 1);
}

#[test]
fn a_store_that_is_a_directory_is_named() {
    let traces = Traces::new();
    fs::create_dir(traces.path("traces.db")).unwrap();
    ingest(&traces, &file(&traces, "spans", good(1))).refuses(&[
        "traces.db is a directory: name a file in it",
        "name another with --store",
    ]);
}

/// The superuser writes to everything, so the command runs as nobody where a superuser runs the tests.
#[test]
fn a_read_only_file_is_refused_and_unchanged() {
    const NOBODY: u32 = 65_534;
    let traces = Traces::new();
    let path = file(&traces, "spans", good(1));
    assert!(ingest(&traces, &path).succeeded);
    let store = traces.path("traces.db");
    let before = fs::read(&store).unwrap();
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(&store, 0o444);
    let program = traces.path("traces");
    fs::copy(env!("CARGO_BIN_EXE_traces"), &program).unwrap();
    allow(&program, 0o755);
    allow(store.parent().unwrap(), 0o755);
    let more = file(&traces, "more", good(2));
    let mut command = Command::new(program);
    command.arg("ingest").arg(more).arg("--store").arg(&store);
    if fs::metadata(&store).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    assert!(!output.status.success());
    let complained = String::from_utf8(output.stderr).unwrap();
    assert!(complained.contains("traces.db"), "{complained}");
    assert!(complained.contains("name another with --store"), "{complained}");
    assert_eq!(fs::read(&store).unwrap(), before);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let traces = Traces::new();
    let server = Process::start(&traces, None, &[]);
    let address = server.address.to_string();
    let other = Traces::new();
    run(&other, &["serve", "--listen", &address]).refuses(&[&address, "--listen"]);
    server.stop();
}
