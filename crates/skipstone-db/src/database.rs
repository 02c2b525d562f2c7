//! A database and its sessions: a pool with time limits for each engine.

use crate::dialect::Dialect;
use crate::error::{Failure, Outcome};
use crate::migrations;
use crate::session::{Session, open_sqlite};
use crate::url::{DatabaseUrl, ServerUrl, SqliteDriver, SqlitePlace};
use sqlx::mysql::{MySqlConnectOptions, MySqlPool, MySqlPoolOptions};
use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use std::time::Duration;

/// An open database.
pub(crate) struct Database {
    pool: Pool,
    limits: Limits,
}

enum Pool {
    Rusqlite(SqlitePlace),
    Sqlite(SqlitePool),
    Mysql(MySqlPool),
    Postgres(PgPool),
}

/// How long things may take, and how many connections there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) connections_max: u32,
    pub(crate) connect_max: Duration,
    pub(crate) answer_max: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections_max: 4, connect_max: Duration::from_secs(5), answer_max: Duration::from_secs(30) }
    }
}

impl Database {
    /// Prepares a pool. Nothing is connected yet. Called within a runtime.
    pub(crate) fn new(url: &DatabaseUrl, limits: Limits) -> Database {
        // `verify-ca` needs a provider; a process keeps the first one installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let pool = match url {
            DatabaseUrl::Sqlite { place, driver: SqliteDriver::Rusqlite } => Pool::Rusqlite(place.clone()),
            DatabaseUrl::Sqlite { place, driver: SqliteDriver::Sqlx } => Pool::Sqlite(sqlite_pool(place, limits)),
            DatabaseUrl::Mysql(server) => Pool::Mysql(mysql_pool(server, limits)),
            DatabaseUrl::Postgres(server) => Pool::Postgres(postgres_pool(server, limits)),
        };
        Database { pool, limits }
    }

    /// A connection, new or waiting in the pool.
    pub(crate) async fn session(&self) -> Outcome<Session> {
        let answer_max = self.limits.answer_max;
        Ok(match &self.pool {
            Pool::Rusqlite(place) => {
                let connection = open_sqlite(place, self.limits.connect_max)?;
                Session::rusqlite(connection, answer_max)
            }
            Pool::Sqlite(pool) => Session::sqlite(pool.acquire().await?, answer_max),
            Pool::Mysql(pool) => Session::mysql(pool.acquire().await?, answer_max),
            Pool::Postgres(pool) => Session::postgres(pool.acquire().await?, answer_max),
        })
    }

    /// Makes the tables, or brings them up to date.
    pub(crate) async fn migrate(&self) -> Outcome<()> {
        let work = async {
            match &self.pool {
                Pool::Rusqlite(place) => {
                    // Those who read do not hold up the one who writes. The file remembers it.
                    self.session().await?.script("PRAGMA journal_mode = WAL").await?;
                    let pool = sqlite_pool(place, self.limits);
                    let outcome = migrations::of(Dialect::Sqlite).run(&pool).await;
                    pool.close().await;
                    outcome
                }
                Pool::Sqlite(pool) => migrations::of(Dialect::Sqlite).run(pool).await,
                Pool::Mysql(pool) => migrations::of(Dialect::Mysql).run(pool).await,
                Pool::Postgres(pool) => migrations::of(Dialect::Postgres).run(pool).await,
            }
            .map_err(Failure::from)
        };
        match tokio::time::timeout(self.limits.answer_max, work).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::timed_out("making the tables", self.limits.answer_max)),
        }
    }

    /// Ends all connections, and waits a little for that.
    pub(crate) async fn close(self) {
        let work = async {
            match self.pool {
                Pool::Rusqlite(_) => {}
                Pool::Sqlite(pool) => pool.close().await,
                Pool::Mysql(pool) => pool.close().await,
                Pool::Postgres(pool) => pool.close().await,
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), work).await;
    }
}

fn limited<D: sqlx::Database>(limits: Limits) -> PoolOptions<D> {
    PoolOptions::new()
        .max_connections(limits.connections_max)
        .min_connections(0)
        .acquire_timeout(limits.connect_max)
        .idle_timeout(Duration::from_secs(60))
}

fn sqlite_pool(place: &SqlitePlace, limits: Limits) -> SqlitePool {
    let options = match place {
        SqlitePlace::File(path) => SqliteConnectOptions::new().filename(path).create_if_missing(true),
        SqlitePlace::Memory => SqliteConnectOptions::new().in_memory(true),
    };
    limited(limits).connect_lazy_with(options.busy_timeout(limits.connect_max))
}

fn mysql_pool(server: &ServerUrl, limits: Limits) -> MySqlPool {
    let mut options = MySqlConnectOptions::new().host(&server.host).username(&server.user).database(&server.database);
    if let Some(port) = server.port {
        options = options.port(port);
    }
    if let Some(socket) = &server.socket {
        options = options.socket(socket);
    }
    if let Some(password) = &server.password {
        options = options.password(password.reveal());
    }
    if let Some(mode) = server.tls.for_mysql() {
        options = options.ssl_mode(mode);
    }
    if let Some(file) = server.tls.authorities() {
        options = options.ssl_ca(file);
    }
    let pool: MySqlPoolOptions = limited(limits);
    pool.connect_lazy_with(options)
}

fn postgres_pool(server: &ServerUrl, limits: Limits) -> PgPool {
    let mut options = PgConnectOptions::new_without_pgpass()
        .host(&server.host)
        .port(server.port.unwrap_or(5432))
        .username(&server.user)
        .database(&server.database)
        .application_name("skipstone");
    if let Some(socket) = &server.socket {
        options = options.socket(socket);
    }
    if let Some(password) = &server.password {
        options = options.password(password.reveal());
    }
    if let Some(mode) = server.tls.for_postgres() {
        options = options.ssl_mode(mode);
    }
    if let Some(file) = server.tls.authorities() {
        options = options.ssl_root_cert(file);
    }
    let pool: PgPoolOptions = limited(limits);
    pool.connect_lazy_with(options)
}
