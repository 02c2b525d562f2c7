//! The tables, by version. A released migration is never changed: a new version adds one.

use crate::dialect::Dialect;
use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// The table of applied migrations: an application in the same database may use sqlx's own.
pub(crate) const HISTORY: &str = "skipstone_migrations";

/// Everything that `delete` drops, and what its rows are.
pub(crate) const TABLES: [&str; 6] = [
    "skipstone_accounts",
    "skipstone_connections",
    "skipstone_sessions",
    "skipstone_daily_totals",
    "skipstone_runs",
    HISTORY,
];

/// The migrations in an engine's words.
pub(crate) fn of(dialect: Dialect) -> Migrator {
    let all: [(&'static str, &'static str); 2] = match dialect {
        Dialect::Sqlite => [
            ("accounts", include_str!("migrations/sqlite-1-accounts.sql")),
            ("recording", include_str!("migrations/sqlite-2-recording.sql")),
        ],
        Dialect::Mysql => [
            ("accounts", include_str!("migrations/mysql-1-accounts.sql")),
            ("recording", include_str!("migrations/mysql-2-recording.sql")),
        ],
        Dialect::Postgres => [
            ("accounts", include_str!("migrations/postgres-1-accounts.sql")),
            ("recording", include_str!("migrations/postgres-2-recording.sql")),
        ],
    };
    let versions = all.into_iter().zip(1..).map(|((name, sql), version)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    let mut migrator = Migrator::with_migrations(versions.collect());
    migrator.dangerous_set_table_name(HISTORY);
    migrator
}
