//! The URL of a database: engine, address and user. It is printed without its password.

use crate::dialect::Dialect;
use crate::percent::{decoded, encoded, encoded_path};
use crate::secret::{PASSWORD_VARIABLE, Secret};
use crate::tls::TlsWish;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use url::Url;

/// The address of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file of SQLite, or memory.
    Sqlite {
        /// Its place.
        place: SqlitePlace,
        /// Which driver speaks to it.
        driver: SqliteDriver,
    },
    /// A server of MariaDB or MySQL.
    Mysql(ServerUrl),
    /// A server of PostgreSQL.
    Postgres(ServerUrl),
}

/// Where a database of SQLite is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlitePlace {
    /// In a file, made when it is missing.
    File(PathBuf),
    /// In memory, as long as its connection.
    Memory,
}

/// The driver of SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqliteDriver {
    /// Calls in the caller's own thread.
    Rusqlite,
    /// A thread for each connection, behind a channel.
    Sqlx,
}

/// A database of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    scheme: String,
    /// Its name or address.
    pub host: String,
    /// Its port; the engine's own if it is missing.
    pub port: Option<u16>,
    /// A socket of the file system in place of host and port.
    pub socket: Option<PathBuf>,
    /// As whom.
    pub user: String,
    /// With this password, if it asks for one.
    pub password: Option<Secret>,
    /// The database's name.
    pub database: String,
    /// How the connection is encrypted.
    pub tls: TlsWish,
}

/// Whether a URL may hold a password: one of the command line may not, since every user of the machine can read it
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passwords {
    Refused,
    Taken,
}

const EXAMPLES: &str = "sqlite:skipstone.db, mysql://user@host/database, mariadb://…, postgres://…";

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<DatabaseUrl, String> {
        DatabaseUrl::parse(text, Passwords::Refused)
    }
}

impl DatabaseUrl {
    pub(crate) fn parse(text: &str, passwords: Passwords) -> Result<DatabaseUrl, String> {
        // The text is not repeated: it may hold a password.
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(format!("a database's URL begins with its engine, as in {EXAMPLES}"));
        };
        match scheme {
            "sqlite" => sqlite(rest, SqliteDriver::Rusqlite),
            "sqlite+sqlx" => sqlite(rest, SqliteDriver::Sqlx),
            "mysql" | "mariadb" => server(text, scheme, passwords).map(DatabaseUrl::Mysql),
            "postgres" | "postgresql" => server(text, scheme, passwords).map(DatabaseUrl::Postgres),
            _ => Err(format!("there is no engine '{scheme}': there are {EXAMPLES}")),
        }
    }

    /// The same including a password: for a text that only its owner reads.
    ///
    /// # Errors
    /// A sentence with the remedy, without the text.
    pub fn with_secrets(text: &str) -> Result<DatabaseUrl, String> {
        DatabaseUrl::parse(text, Passwords::Taken)
    }

    /// The same with this password, unless it has one.
    pub fn with_password(mut self, password: Option<Secret>) -> DatabaseUrl {
        if let DatabaseUrl::Mysql(server) | DatabaseUrl::Postgres(server) = &mut self {
            server.password = server.password.take().or(password);
        }
        self
    }

    /// Its kind of SQL.
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            DatabaseUrl::Sqlite { .. } => Dialect::Sqlite,
            DatabaseUrl::Mysql(_) => Dialect::Mysql,
            DatabaseUrl::Postgres(_) => Dialect::Postgres,
        }
    }

    pub(crate) fn password(&self) -> Option<Secret> {
        match self {
            DatabaseUrl::Sqlite { .. } => None,
            DatabaseUrl::Mysql(server) | DatabaseUrl::Postgres(server) => server.password.clone(),
        }
    }

    /// The engine's name for people.
    pub fn engine(&self) -> &'static str {
        match self {
            DatabaseUrl::Sqlite { driver: SqliteDriver::Rusqlite, .. } => "SQLite",
            DatabaseUrl::Sqlite { driver: SqliteDriver::Sqlx, .. } => "SQLite (sqlx)",
            DatabaseUrl::Mysql(_) => "MariaDB/MySQL",
            DatabaseUrl::Postgres(_) => "PostgreSQL",
        }
    }

    /// Whether it is forgotten as soon as its connection ends.
    pub fn is_in_memory(&self) -> bool {
        matches!(self, DatabaseUrl::Sqlite { place: SqlitePlace::Memory, .. })
    }
}

fn sqlite(rest: &str, driver: SqliteDriver) -> Result<DatabaseUrl, String> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let place = match path {
        "" => return Err("the URL names no file: sqlite:skipstone.db".into()),
        ":memory:" => SqlitePlace::Memory,
        path => SqlitePlace::File(path.into()),
    };
    Ok(DatabaseUrl::Sqlite { place, driver })
}

fn server(text: &str, scheme: &str, passwords: Passwords) -> Result<ServerUrl, String> {
    let url = Url::parse(text).map_err(|error| format!("the database's URL is invalid ({error}): {EXAMPLES}"))?;
    if url.password().is_some() && passwords == Passwords::Refused {
        return Err(format!(
            "a password in a command line can be read by every user of this machine: leave it out, and put it into \
             {PASSWORD_VARIABLE}, into a file for --password-file, or the whole URL into {URL_VARIABLE}"
        ));
    }
    let (mut socket, mut tls) = (None, TlsWish::default());
    for (key, value) in url.query_pairs() {
        if key == "socket" {
            socket = Some(PathBuf::from(value.as_ref()));
        } else if !tls.take(&key, &value)? {
            return Err(format!(
                "a database's URL has `?socket=PATH`, `sslmode` and `sslrootcert`, but not '{key}={value}'"
            ));
        }
    }
    let database = decoded(url.path().trim_matches('/'));
    if database.is_empty() {
        return Err(format!("the URL names no database: {scheme}://user@host/DATABASE"));
    }
    let user = if url.username().is_empty() { "skipstone".into() } else { decoded(url.username()) };
    let password = url.password().map(|password| Secret::new(decoded(password)));
    let host = url.host_str().filter(|host| !host.is_empty()).unwrap_or("localhost").trim_matches(['[', ']']).into();
    Ok(ServerUrl { scheme: scheme.into(), host, port: url.port(), socket, user, password, database, tls })
}

/// The environment's name for a URL.
pub(crate) const URL_VARIABLE: &str = "SKIPSTONE_DB_URL";

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseUrl::Sqlite { place, driver } => {
                let scheme = if *driver == SqliteDriver::Sqlx { "sqlite+sqlx" } else { "sqlite" };
                match place {
                    SqlitePlace::File(path) => write!(f, "{scheme}:{}", path.display()),
                    SqlitePlace::Memory => write!(f, "{scheme}::memory:"),
                }
            }
            DatabaseUrl::Mysql(server) | DatabaseUrl::Postgres(server) => server.fmt(f),
        }
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{}://{}@{host}", self.scheme, encoded(&self.user))?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", encoded(&self.database))?;
        let socket = self.socket.as_ref().map(|socket| format!("&socket={}", encoded_path(socket)));
        let parameters = socket.unwrap_or_default() + &self.tls.to_string();
        parameters.strip_prefix('&').map_or(Ok(()), |parameters| write!(f, "?{parameters}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_printed_unchanged_except_for_its_password() {
        for text in [
            "sqlite:a b.db",
            "sqlite::memory:",
            "sqlite+sqlx:t.db",
            "mysql://me@host:3307/game",
            "postgres://me@host/game?socket=/run/pg",
            "postgres://me@host/game?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            "mysql://me@host/game?socket=/run/my&sslmode=require",
            "postgres://me@[::1]:5432/game",
            "postgres://a%40b@host/my%20game%3F?sslmode=verify-full&sslrootcert=/etc/a%26b%20%2B%25%23.pem",
            "mysql://me@host/game?socket=/run/m%26y",
        ] {
            assert_eq!(text.parse::<DatabaseUrl>().expect(text).to_string(), text);
        }
        let url = DatabaseUrl::parse("postgres://me:p%40ss@[::1]:5432/game", Passwords::Taken).expect("it is one");
        assert!(!url.to_string().contains("p@ss") && !format!("{url:?}").contains("p@ss"), "{url:?}");
        let DatabaseUrl::Postgres(server) = url else { panic!("another engine") };
        assert_eq!((server.password.as_ref().map(Secret::reveal), server.host.as_str()), (Some("p@ss"), "::1"));
    }

    #[test]
    fn invalid_urls_are_refused_with_a_remedy_and_never_echoed() {
        for (text, word) in [
            ("t.db", "begins with its engine"),
            ("oracle://x/y", "there is no engine 'oracle'"),
            ("sqlite:", "names no file"),
            ("mysql://me@host", "names no database"),
            ("mysql://me@host/game?charset=utf8", "not 'charset=utf8'"),
            ("mysql://me@host/game?ssl-mode=maybe", "verify-full"),
            ("postgres://me:hunter2@host/game", "SKIPSTONE_DB_PASSWORD"),
            ("mysql://me:hunter2@host:99999/game", "is invalid"),
        ] {
            let error = text.parse::<DatabaseUrl>().expect_err(text);
            assert!(error.contains(word) && !error.contains("hunter2"), "{error}");
        }
    }
}
