//! The differences of the engines' SQL. Statements are written with `?` for each argument.

use crate::value::Value;
use std::sync::Arc;

/// A kind of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dialect {
    Sqlite,
    Mysql,
    Postgres,
}

/// A statement in the words of one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement(Arc<str>);

impl Statement {
    pub(crate) fn sql(&self) -> &Arc<str> {
        &self.0
    }
}

impl Dialect {
    /// A statement whose arguments are written as `?`.
    pub(crate) fn statement(self, sql: &str) -> Statement {
        if self != Dialect::Postgres {
            return Statement(sql.into());
        }
        let mut numbered = String::with_capacity(sql.len() + 16);
        for (at, piece) in sql.split('?').enumerate() {
            if at > 0 {
                numbered += &format!("${at}");
            }
            numbered += piece;
        }
        Statement(numbered.into())
    }

    /// A statement with its arguments in its text, for connections without prepared statements.
    pub(crate) fn inlined(sql: &str, arguments: &[Value]) -> String {
        let mut pieces = sql.split('?');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for (piece, argument) in pieces.zip(arguments) {
            match argument {
                Value::Int(number) => text += &number.to_string(),
                // A backslash escapes in MariaDB, and is literal elsewhere: none is sent.
                Value::Text(value) => {
                    assert!(!value.contains('\\'), "a name of ours has no backslash");
                    text += &format!("'{}'", value.replace('\'', "''"));
                }
            }
            text += piece;
        }
        text
    }

    /// The type of 64-bit numbers in a cast.
    pub(crate) fn integer(self) -> &'static str {
        match self {
            Dialect::Sqlite => "INTEGER",
            Dialect::Mysql => "SIGNED",
            Dialect::Postgres => "BIGINT",
        }
    }

    /// Counts a table's rows for the planner, which uses no index of a table that it considers empty.
    pub(crate) fn analyze(self, table: &str) -> String {
        match self {
            Dialect::Sqlite | Dialect::Postgres => format!("ANALYZE {table}"),
            Dialect::Mysql => format!("ANALYZE TABLE {table}"),
        }
    }

    /// Makes a ranking read the column's index. From a limit of a few hundred rows on, InnoDB's planner would otherwise
    /// sort the whole table, which takes ten times as long.
    pub(crate) fn in_order_of(self, table: &str, column: &str) -> String {
        match self {
            Dialect::Mysql => format!(" FORCE INDEX FOR ORDER BY ({table}_{column})"),
            Dialect::Sqlite | Dialect::Postgres => String::new(),
        }
    }

    /// The columns of a table of accounts.
    pub(crate) fn account_columns(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL, rating INTEGER NOT NULL, balance \
                 INTEGER NOT NULL"
            }
            Dialect::Mysql | Dialect::Postgres => {
                "id BIGINT PRIMARY KEY, name VARCHAR(32) NOT NULL, score BIGINT NOT NULL, rating BIGINT NOT NULL, \
                 balance BIGINT NOT NULL"
            }
        }
    }

    /// The clause of an `INSERT` for an existing row: it adds these columns to it.
    pub(crate) fn adding(self, table: &str, key: &str, columns: &[&str]) -> String {
        let sums = columns.iter().map(|column| match self {
            Dialect::Mysql => format!("{column} = {column} + VALUES({column})"),
            _ => format!("{column} = {table}.{column} + excluded.{column}"),
        });
        let sums = sums.collect::<Vec<_>>().join(", ");
        match self {
            Dialect::Mysql => format!(" ON DUPLICATE KEY UPDATE {sums}"),
            _ => format!(" ON CONFLICT ({key}) DO UPDATE SET {sums}"),
        }
    }
}

/// `(?, ?), (?, ?)`: placeholders for rows of columns.
pub(crate) fn rows(rows: usize, columns: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(", "));
    vec![row; rows].join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_numbered_only_for_postgres() {
        let sql = "UPDATE t SET a = ? WHERE id = ?";
        assert_eq!(&**Dialect::Postgres.statement(sql).sql(), "UPDATE t SET a = $1 WHERE id = $2");
        assert_eq!(&**Dialect::Mysql.statement(sql).sql(), sql);
        assert_eq!(rows(2, 2), "(?, ?), (?, ?)");
    }

    #[test]
    fn unprepared_statements_contain_their_arguments() {
        let arguments = [Value::Int(-5), "it's".into()];
        assert_eq!(Dialect::inlined("SELECT ?, ? FROM t", &arguments), "SELECT -5, 'it''s' FROM t");
    }
}
