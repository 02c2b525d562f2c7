//! `create`, `delete` and `stats`: the tables as a whole.

use super::accounts::sums;
use super::answer::Answer;
use crate::database::Database;
use crate::dialect::Dialect;
use crate::error::{Failure, FailureKind, Outcome};
use crate::migrations::TABLES;
use crate::session::Session;
use crate::url::DatabaseUrl;
use serde_json::json;
use skipstone_lab::report::format::{bytes, counted, thousands};

pub(super) async fn create(database: &Database, url: &DatabaseUrl) -> Outcome<Answer> {
    database.migrate().await?;
    Ok(Answer { text: format!("the tables are there: {url}"), json: json!({ "result": "created" }), is_partial: false })
}

pub(super) async fn delete(session: &mut Session, is_sure: bool) -> Outcome<Answer> {
    let rows = match sums(session).await {
        Ok(sums) => sums[0] as u64,
        Err(failure) if failure.kind == FailureKind::Missing => 0,
        Err(failure) => return Err(failure),
    };
    let what = format!("{} tables with {}", TABLES.len(), counted(rows, "account"));
    if !is_sure {
        let text = format!("{what} and all that `serve --db` recorded would be dropped: `delete --yes` does it");
        return Ok(Answer { text, json: json!({ "result": "not deleted" }), is_partial: true });
    }
    for table in TABLES {
        session.script(&format!("DROP TABLE IF EXISTS {table}")).await?;
    }
    Ok(Answer { text: format!("dropped {what}"), json: json!({ "result": "deleted" }), is_partial: false })
}

pub(super) async fn stats(session: &mut Session, url: &DatabaseUrl) -> Outcome<Answer> {
    let [accounts, first, last, score, rating, balance] = sums(session).await?;
    let [connections, sessions, total_sessions, total_lines] = recorded(session).await?;
    let size = size(session).await?;
    let text = [
        format!("{} at {url}: {}", url.engine(), bytes(size)),
        format!("accounts     {}, numbers {first} to {last}", thousands(accounts as u64)),
        format!("sums         score {score}, rating {rating}, balance {balance}"),
        format!("recorded     {connections} connections, {sessions} sessions"),
        format!("day totals   {total_sessions} sessions, {total_lines} lines"),
    ];
    let result = json!({
        "accounts": accounts, "first": first, "last": last, "score": score, "rating": rating, "balance": balance,
        "connections": connections, "sessions": sessions, "total_sessions": total_sessions, "total_lines": total_lines,
    });
    Ok(Answer { text: text.join("\n"), json: json!({ "result": result, "bytes": size }), is_partial: false })
}

/// Connections, sessions, and sessions and lines of the days: in one statement, since a server may be writing.
async fn recorded(session: &mut Session) -> Outcome<[i64; 4]> {
    let dialect = session.dialect();
    let count = |table: &str| format!("(SELECT COUNT(*) FROM {table})");
    let integer = dialect.integer();
    let sum =
        |column: &str| format!("(SELECT CAST(COALESCE(SUM({column}), 0) AS {integer}) FROM skipstone_daily_totals)");
    let sql = format!(
        "SELECT {}, {}, {}, {}",
        count("skipstone_connections"),
        count("skipstone_sessions"),
        sum("session_count"),
        sum("line_count")
    );
    let numbers = session.numbers(&dialect.statement(&sql), &[]).await?;
    numbers.try_into().map_err(|_| Failure::other("the database returned a wrong number of counts"))
}

/// Bytes of the tables and their indexes; of the whole file for SQLite.
async fn size(session: &mut Session) -> Outcome<u64> {
    let sql = match session.dialect() {
        Dialect::Sqlite => "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        Dialect::Mysql => {
            "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS SIGNED) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name LIKE 'skipstone%'"
        }
        Dialect::Postgres => {
            "SELECT CAST(COALESCE(SUM(pg_total_relation_size(oid)), 0) AS BIGINT) FROM pg_class \
             WHERE relkind = 'r' AND relname LIKE 'skipstone%'"
        }
    };
    Ok(session.number(sql).await? as u64)
}
