//! Sessions of SQLite by rusqlite, in the caller's thread.

use crate::account::Account;
use crate::dialect::Statement;
use crate::error::{Failure, FailureKind, Outcome};
use crate::url::SqlitePlace;
use crate::value::Value;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Row, ToSql, params_from_iter};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Value::Int(number) => number.to_sql(),
            Value::Text(text) => text.to_sql(),
        }
    }
}

/// Opens a database, and waits at most this long for locks. A missing file is created.
pub(crate) fn open(place: &SqlitePlace, busy_max: Duration) -> Outcome<Connection> {
    let connection = match place {
        SqlitePlace::File(path) => Connection::open(path).map_err(|error| located(error.into(), path))?,
        SqlitePlace::Memory => Connection::open_in_memory()?,
    };
    connection.busy_timeout(busy_max)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// A failure of a file that could not be opened, with the reason of the system, which SQLite keeps to itself.
pub(super) fn located(failure: Failure, path: &Path) -> Failure {
    if failure.kind != FailureKind::Unopenable {
        return failure;
    }
    let name = path.display();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let sentence = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && !folder.is_dir() => {
            format!("there is no folder {} for {name}: make it, or name another", folder.display())
        }
        Err(error) if error.kind() != ErrorKind::NotFound => format!("{name} cannot be opened: {error}"),
        _ => format!("{name}: {}", failure.sentence),
    };
    Failure::new(failure.kind, sentence)
}

pub(super) fn script(link: &mut Connection, sql: &str) -> Outcome<()> {
    link.execute_batch(sql).map_err(explain)
}

pub(super) fn execute(link: &mut Connection, statement: &Statement, arguments: &[Value]) -> Outcome<u64> {
    let changed = link.prepare_cached(statement.sql()).and_then(|mut ready| ready.execute(params_from_iter(arguments)));
    Ok(changed.map_err(explain)? as u64)
}

pub(super) fn execute_text(link: &mut Connection, sql: &str) -> Outcome<u64> {
    Ok(link.execute(sql, []).map_err(explain)? as u64)
}

pub(super) fn accounts(link: &mut Connection, statement: &Statement, arguments: &[Value]) -> Outcome<Vec<Account>> {
    let mut ready = link.prepare_cached(statement.sql()).map_err(explain)?;
    let rows = ready.query_map(params_from_iter(arguments), account).map_err(explain)?;
    rows.collect::<Result<_, _>>().map_err(explain)
}

pub(super) fn accounts_text(link: &mut Connection, sql: &str) -> Outcome<Vec<Account>> {
    let mut ready = link.prepare(sql).map_err(explain)?;
    let rows = ready.query_map([], account).map_err(explain)?;
    rows.collect::<Result<_, _>>().map_err(explain)
}

pub(super) fn word(link: &mut Connection, sql: &str) -> Outcome<String> {
    link.query_row(sql, [], |row| row.get(0)).map_err(explain)
}

pub(super) fn numbers(link: &mut Connection, statement: &Statement, arguments: &[Value]) -> Outcome<Vec<i64>> {
    let mut ready = link.prepare_cached(statement.sql()).map_err(explain)?;
    let columns = ready.column_count();
    let mut rows = ready.query(params_from_iter(arguments)).map_err(explain)?;
    let mut numbers = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        for column in 0..columns {
            numbers.push(row.get(column).map_err(explain)?);
        }
    }
    Ok(numbers)
}

fn account(row: &Row<'_>) -> rusqlite::Result<Account> {
    Ok(Account { id: row.get(0)?, name: row.get(1)?, score: row.get(2)?, rating: row.get(3)?, balance: row.get(4)? })
}

fn explain(error: rusqlite::Error) -> Failure {
    let is_database = |error: &rusqlite::Error| error.sqlite_error_code() != Some(rusqlite::ErrorCode::NotADatabase);
    if is_database(&error) {
        return error.into();
    }
    Failure::new(FailureKind::Other, "the file is not an SQLite database, or is encrypted: name another file")
}
