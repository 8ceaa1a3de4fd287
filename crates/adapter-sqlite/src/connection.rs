//! Opening connections.
use crate::{
    SqliteSettings, Synchronous,
    error::{Fault, Outcome},
    migrations,
    writer::MOST_CHECKPOINTS,
};
use foldwright_ports::Kind;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::{path::Path, time::Duration};

/// Larger pages than SQLite's own 4 KiB: fewer of them are touched, summed up and written per commit. Measured: an
/// eighth less work per job.
const PAGE_BYTES: i64 = 8_192;

/// A page in the write-ahead file.
const FRAME_BYTES: i64 = PAGE_BYTES + 24;

/// Statements that a connection keeps prepared; more than the kernel has.
const STATEMENTS: usize = 256;

/// The pause before the write-ahead mode is asked for again. SQLite's own waiting does not cover that switch.
const PAUSE: Duration = Duration::from_millis(5);

/// The connection that writes; creates and migrates the file.
pub(crate) fn writer(path: &Path, settings: &SqliteSettings) -> Outcome<Connection> {
    let mut db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    db.busy_timeout(settings.busy_timeout)?;
    // Before anything is written: a file of another program stays as it is.
    migrations::check(&db)?;
    // Takes effect in a new file alone.
    db.pragma_update(None, "page_size", PAGE_BYTES)?;
    write_ahead(&db, settings.busy_timeout)?;
    migrations::apply(&mut db)?;
    tune(&db, settings)?;
    db.pragma_update(
        None,
        "journal_size_limit",
        i64::from(settings.checkpoint_pages) * FRAME_BYTES * i64::from(MOST_CHECKPOINTS),
    )?;
    Ok(db)
}

/// A connection that only reads; it can move the write-ahead file all the same.
pub(crate) fn reader(path: &Path, settings: &SqliteSettings) -> Outcome<Connection> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    db.busy_timeout(settings.busy_timeout)?;
    tune(&db, settings)?;
    db.pragma_update(None, "query_only", true)?;
    Ok(db)
}

fn tune(db: &Connection, settings: &SqliteSettings) -> Outcome<()> {
    let synchronous = match settings.synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    db.pragma_update(None, "synchronous", synchronous)?;
    db.pragma_update(None, "foreign_keys", false)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    let kibibytes = i64::try_from(settings.cache_bytes / 1_024).unwrap_or(i64::MAX);
    db.pragma_update(None, "cache_size", -kibibytes)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    #[cfg(test)]
    crate::effort_test::watch(db);
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "runs while a file is opened, before there is a port or a runtime to wait on"
)]
fn write_ahead(db: &Connection, patience: Duration) -> Outcome<()> {
    let mut pauses = patience.as_millis() / PAUSE.as_millis();
    loop {
        match db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                return Err(Fault::Port(
                    Kind::Unsupported,
                    format!(
                        "the file cannot be written ahead, its mode stays {mode}: put it on a local disk"
                    ),
                ));
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && pauses > 0 => {
                pauses -= 1;
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    }
}
