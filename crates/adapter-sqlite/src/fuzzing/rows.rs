//! Rows whose columns hold what they should not.
use crate::{error::Outcome, log, names::Names, queue};
use foldwright_ports::Kind;
use rusqlite::{Connection, Row, params_from_iter, types::Value};

/// The columns of a group, the widest row there is.
const COLUMNS: usize = 17;

thread_local! {
    static FILE: Option<Connection> = Connection::open_in_memory().ok().filter(|file| {
        file.execute_batch(
            "CREATE TABLE fw_names (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
             INSERT INTO fw_names VALUES (1, 'acme'), (2, 'run'), (3, '2026-03-01'), (4, 'a/fold/b'), (5, 'no/route');",
        )
        .is_ok()
    });
}

/// Takes the bytes as values of a row, and the row as an event and as a group. A value of another type, size or meaning
/// than its column's is corruption or a breach of tenants, and never worth another attempt.
pub fn sqlite_row(bytes: &[u8]) {
    let values = values(bytes);
    FILE.with(|file| {
        let Some(file) = file else {
            panic!("there is no file in memory");
        };
        for read in [event, group, names] {
            let outcome = row(file, &values, read);
            if let Err(fault) = outcome {
                assert!(
                    matches!(fault.kind(), Kind::Corrupt | Kind::Security),
                    "{fault:?}"
                );
            }
        }
    });
}

type Read = fn(&Connection, &Row<'_>) -> Outcome<()>;

fn event(file: &Connection, row: &Row<'_>) -> Outcome<()> {
    log::fuzzing(file, &mut Names::default(), row)
}

fn group(_file: &Connection, row: &Row<'_>) -> Outcome<()> {
    queue::fuzzing_group(row)
}

fn names(file: &Connection, row: &Row<'_>) -> Outcome<()> {
    let mut names = Names::default();
    let number: i64 = row.get(1)?;
    let text = names.text(file, number)?;
    if let Ok(tenant) = names.tenant(file, number) {
        assert_eq!(tenant.as_str(), &*text);
    }
    let route = names.route(file, number)?;
    assert_eq!(route.as_str(), &*text);
    Ok(())
}

/// Hands a row of these values to `read`. Text is cast from bytes, as a damaged file may hold any.
fn row(file: &Connection, values: &[(bool, Value)], read: Read) -> Outcome<()> {
    let columns: Vec<_> = (1..)
        .zip(values)
        .map(|(n, (text, _))| {
            if *text {
                format!("CAST(?{n} AS TEXT)")
            } else {
                format!("?{n}")
            }
        })
        .collect();
    let mut select = file.prepare_cached(&format!("SELECT {}", columns.join(", ")))?;
    let mut rows = select.query(params_from_iter(values.iter().map(|(_, value)| value)))?;
    match rows.next()? {
        Some(row) => read(file, row),
        None => panic!("a select without a table has one row"),
    }
}

/// Each begins with its type; what is not there is nothing.
fn values(mut bytes: &[u8]) -> Vec<(bool, Value)> {
    let mut take = |length: usize| {
        let (head, rest) = bytes.split_at(length.min(bytes.len()));
        bytes = rest;
        head.to_vec()
    };
    let mut values = Vec::new();
    for _ in 0..COLUMNS {
        let kind = take(1).first().copied().unwrap_or_default();
        let mut number = || {
            let mut bytes = take(8);
            bytes.resize(8, 0);
            bytes.try_into().map_or(0, i64::from_be_bytes)
        };
        values.push(match kind {
            // Small numbers are names, counts and flags.
            16..=31 => (false, Value::Integer(i64::from(kind) - 16)),
            1 => (false, Value::Integer(number())),
            2 => (false, Value::Real(number() as f64)),
            32..=63 => (false, Value::Blob(take(usize::from(kind) - 32))),
            64..=127 => (true, Value::Blob(take(usize::from(kind) - 64))),
            _ => (false, Value::Null),
        });
    }
    values
}
