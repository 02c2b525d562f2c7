//! A sequential connection to a database of any engine; each wait has a time limit.

mod drivers;
mod sqlite;

use crate::account::Account;
use crate::dialect::{Dialect, Statement};
use crate::error::{Failure, Outcome};
use crate::value::Value;
use sqlx::pool::PoolConnection;
use sqlx::{MySql, Postgres, Sqlite};
use std::time::Duration;

pub(crate) use sqlite::open as open_sqlite;

/// A connection.
pub(crate) struct Session {
    link: Link,
    time_max: Duration,
}

enum Link {
    Rusqlite(rusqlite::Connection),
    Sqlite(PoolConnection<Sqlite>),
    Mysql(PoolConnection<MySql>),
    Postgres(PoolConnection<Postgres>),
}

/// Runs the same call of each driver, within the time limit.
macro_rules! on_link {
    ($session:expr, $function:ident ( $($argument:expr),* )) => {{
        let time_max = $session.time_max;
        let answer = async {
            match &mut $session.link {
                Link::Rusqlite(connection) => {
                    let answer = sqlite::$function(connection, $($argument),*);
                    answer.map_err(|failure| match connection.path() {
                        Some(path) => sqlite::located(failure, path.as_ref()),
                        None => failure,
                    })
                }
                Link::Sqlite(connection) => drivers::sqlite::$function(connection, $($argument),*).await,
                Link::Mysql(connection) => drivers::mysql::$function(connection, $($argument),*).await,
                Link::Postgres(connection) => drivers::postgres::$function(connection, $($argument),*).await,
            }
        };
        let answer = tokio::time::timeout(time_max, answer).await;
        match answer {
            Ok(answer) => answer,
            Err(_) => {
                $session.spoil();
                Err(Failure::timed_out("an answer of the database", time_max))
            }
        }
    }};
}

impl Session {
    pub(crate) fn rusqlite(connection: rusqlite::Connection, time_max: Duration) -> Session {
        Session { link: Link::Rusqlite(connection), time_max }
    }

    pub(crate) fn sqlite(connection: PoolConnection<Sqlite>, time_max: Duration) -> Session {
        Session { link: Link::Sqlite(connection), time_max }
    }

    pub(crate) fn mysql(connection: PoolConnection<MySql>, time_max: Duration) -> Session {
        Session { link: Link::Mysql(connection), time_max }
    }

    pub(crate) fn postgres(connection: PoolConnection<Postgres>, time_max: Duration) -> Session {
        Session { link: Link::Postgres(connection), time_max }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.link {
            Link::Rusqlite(_) | Link::Sqlite(_) => Dialect::Sqlite,
            Link::Mysql(_) => Dialect::Mysql,
            Link::Postgres(_) => Dialect::Postgres,
        }
    }

    /// How long a thread waits for a lock of SQLite. The other drivers wait without holding up their thread.
    pub(crate) fn wait_for_locks(&self, time_max: Duration) -> Outcome<()> {
        match &self.link {
            Link::Rusqlite(connection) => Ok(connection.busy_timeout(time_max)?),
            Link::Sqlite(_) | Link::Mysql(_) | Link::Postgres(_) => Ok(()),
        }
    }

    /// Statements without arguments, separated by semicolons.
    pub(crate) async fn script(&mut self, sql: &str) -> Outcome<()> {
        on_link!(self, script(sql))
    }

    /// Runs a statement that changes rows; returns how many.
    pub(crate) async fn execute(&mut self, statement: &Statement, arguments: &[Value]) -> Outcome<u64> {
        on_link!(self, execute(statement, arguments))
    }

    /// Accounts; columns as [`ACCOUNT`] has them.
    pub(crate) async fn accounts(&mut self, statement: &Statement, arguments: &[Value]) -> Outcome<Vec<Account>> {
        on_link!(self, accounts(statement, arguments))
    }

    /// Rows of whole numbers alone, one after the other.
    pub(crate) async fn numbers(&mut self, statement: &Statement, arguments: &[Value]) -> Outcome<Vec<i64>> {
        on_link!(self, numbers(statement, arguments))
    }

    /// As [`Session::execute`], with everything in the text.
    pub(crate) async fn execute_text(&mut self, sql: &str) -> Outcome<u64> {
        on_link!(self, execute_text(sql))
    }

    /// As [`Session::accounts`], with everything in the text.
    pub(crate) async fn accounts_text(&mut self, sql: &str) -> Outcome<Vec<Account>> {
        on_link!(self, accounts_text(sql))
    }

    /// The single value that a statement without arguments returns.
    pub(crate) async fn number(&mut self, sql: &str) -> Outcome<i64> {
        let statement = self.dialect().statement(sql);
        let numbers = self.numbers(&statement, &[]).await?;
        numbers.first().copied().ok_or_else(|| Failure::other(format!("the database gave no row for `{sql}`")))
    }

    /// The same for a text.
    pub(crate) async fn word(&mut self, sql: &str) -> Outcome<String> {
        on_link!(self, word(sql))
    }

    /// Begins a transaction. A connection that had one does not go back into its pool: it may have been left within.
    pub(crate) async fn begin(&mut self) -> Outcome<()> {
        self.spoil();
        match self.dialect() {
            // One that reads first and writes later fails when another has written between.
            Dialect::Sqlite => self.script("BEGIN IMMEDIATE").await,
            Dialect::Mysql | Dialect::Postgres => self.script("BEGIN").await,
        }
    }

    pub(crate) async fn commit(&mut self) -> Outcome<()> {
        self.script("COMMIT").await
    }

    pub(crate) async fn rollback(&mut self) -> Outcome<()> {
        self.script("ROLLBACK").await
    }

    /// The connection is ended when this is dropped.
    fn spoil(&mut self) {
        match &mut self.link {
            Link::Rusqlite(_) => {}
            Link::Sqlite(connection) => connection.close_on_drop(),
            Link::Mysql(connection) => connection.close_on_drop(),
            Link::Postgres(connection) => connection.close_on_drop(),
        }
    }
}

/// The columns of an account, in order.
pub(crate) const ACCOUNT: &str = "id, name, score, rating, balance";
