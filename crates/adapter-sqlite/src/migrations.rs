//! The versions of the schema. They travel in the binary.
use crate::error::{Fault, Outcome};
use foldwright_ports::Kind;
use rusqlite::{Connection, TransactionBehavior};

/// What makes a file ours: "Fwrt" in its header.
pub(crate) const APPLICATION_ID: i32 = 0x4677_7274;

/// In order; the header's user version counts those that were applied.
const MIGRATIONS: [&str; 2] = [
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_fair_claims.sql"),
];

/// Refuses a file of another program, or of a newer release.
pub(crate) fn check(db: &Connection) -> Outcome<()> {
    pending(db).map(drop)
}

/// Applies what is missing. Any number of processes may do so at once.
pub(crate) fn apply(db: &mut Connection) -> Outcome<()> {
    if pending(db)?.is_empty() {
        return Ok(());
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for migration in pending(&tx)? {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    Ok(tx.commit()?)
}

fn pending(db: &Connection) -> Outcome<&'static [&'static str]> {
    let (application, version, tables): (i32, u32, i64) = db.query_row(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_application_id, pragma_user_version",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    if application != APPLICATION_ID && (application != 0 || tables != 0) {
        return Err(Fault::invalid(
            "the file belongs to another program: name a file of its own, or one that does not exist yet",
        ));
    }
    MIGRATIONS.get(version as usize..).ok_or_else(|| {
        Fault::Port(
            Kind::Unsupported,
            format!(
                "the file has schema version {version}, this binary knows {}: run the newer release",
                MIGRATIONS.len()
            ),
        )
    })
}
