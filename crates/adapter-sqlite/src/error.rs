//! What goes wrong inside, and what a caller hears of it.
use foldwright_domain::SecurityError;
use foldwright_ports::{Error, Kind};
use rusqlite::ErrorCode;

/// What an operation failed with, before it has a name.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(rusqlite::Error),
    Port(Kind, String),
    Foreign(&'static str),
}

pub(crate) type Outcome<T> = Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl Fault {
    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        Self::Port(Kind::Corrupt, what.into())
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Port(Kind::Invalid, what.into())
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Sql(error) => kind_of(error),
            Self::Port(kind, _) => *kind,
            Self::Foreign(_) => Kind::Security,
        }
    }

    /// The error of a port's `operation`.
    pub(crate) fn at(self, operation: &'static str) -> Error {
        match self {
            Self::Sql(error) => of_sqlite(operation, error),
            Self::Port(kind, message) => Error::new(kind, operation, message),
            Self::Foreign(what) => Error::new(Kind::Security, operation, "do not retry; alert")
                .caused_by(SecurityError::ForeignTenant { what }),
        }
    }
}

/// Gives an error of SQLite the kind and the advice that a port's error has.
#[must_use]
pub fn of_sqlite(operation: &'static str, error: rusqlite::Error) -> Error {
    let kind = kind_of(&error);
    let advice = match kind {
        Kind::Unavailable if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            "the file cannot be opened; check that its directory exists and may be written"
        }
        Kind::Full => "make room on the disk or raise max_page_count",
        Kind::Unavailable => "another process holds the file, or the disk fails; try again",
        Kind::Corrupt => "the file is damaged; restore it from a backup",
        _ => "",
    };
    Error::new(kind, operation, advice).caused_by(error)
}

fn kind_of(error: &rusqlite::Error) -> Kind {
    use rusqlite::Error as E;
    match error {
        E::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DiskFull => Kind::Full,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Kind::Corrupt,
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::OperationAborted
            | ErrorCode::FileLockingProtocolFailed => Kind::Unavailable,
            _ => Kind::Invalid,
        },
        E::FromSqlConversionFailure(..)
        | E::IntegralValueOutOfRange(..)
        | E::InvalidColumnType(..)
        | E::Utf8Error(..)
        | E::QueryReturnedNoRows => Kind::Corrupt,
        _ => Kind::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    fn failure(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    ///
    #[test]
    fn a_locked_file_is_retryable_and_a_missing_table_is_not() {
        for (code, kind) in [
            (ffi::SQLITE_BUSY, Kind::Unavailable),
            (ffi::SQLITE_LOCKED, Kind::Unavailable),
            (ffi::SQLITE_IOERR_FSYNC, Kind::Unavailable),
            (ffi::SQLITE_FULL, Kind::Full),
            (ffi::SQLITE_CORRUPT, Kind::Corrupt),
            (ffi::SQLITE_NOTADB, Kind::Corrupt),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, Kind::Invalid),
            (ffi::SQLITE_MISMATCH, Kind::Invalid),
            (ffi::SQLITE_ERROR, Kind::Invalid),
        ] {
            assert_eq!(of_sqlite("append", failure(code)).kind(), kind, "{code}");
        }
    }
}
