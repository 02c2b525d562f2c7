//! The durabilities of an engine, from "every commit is on the disk" to "none is": the safest first.

use crate::dialect::Dialect;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Each statement form and number of connections once, with the safest durability; with the others, only the cost
    /// of durability.
    Usual,
    /// Every combination.
    Full,
}

/// A durability: how its table is created, and the first statements of each connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Durability {
    /// The name of the engine's settings.
    pub(crate) name: &'static str,
    /// Whether a commit that returned outlives a loss of power.
    pub(crate) is_full: bool,
    setting: Setting,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting {
    /// Journal mode and synchronous.
    SqliteFile {
        journal: &'static str,
        synchronous: &'static str,
    },
    SqliteMemory,
    /// `innodb_flush_log_at_trx_commit`; 0 leaves it as it is.
    InnoDb {
        flush: Option<u8>,
    },
    MysqlMemory,
    Postgres {
        synchronous_commit: &'static str,
        unlogged: bool,
    },
}

/// The settings of an engine. Server-wide settings are changed only if the caller allows it.
pub(crate) fn of(dialect: Dialect, may_change_server: bool, extent: Extent) -> Vec<Durability> {
    let durability = |name, is_full, setting| Durability { name, is_full, setting };
    let file =
        |name, journal, synchronous, is_full| durability(name, is_full, Setting::SqliteFile { journal, synchronous });
    match dialect {
        Dialect::Sqlite => {
            let mut all = vec![
                file("WAL, full", "WAL", "FULL", true),
                file("WAL, normal", "WAL", "NORMAL", false),
                file("WAL, off", "WAL", "OFF", false),
                file("delete, full", "DELETE", "FULL", true),
            ];
            if extent == Extent::Full {
                all.push(file("delete, normal", "DELETE", "NORMAL", false));
                all.push(file("truncate, full", "TRUNCATE", "FULL", true));
                all.push(file("persist, full", "PERSIST", "FULL", true));
                all.push(file("journal in memory, off", "MEMORY", "OFF", false));
                all.push(file("no journal, off", "OFF", "OFF", false));
            }
            all.push(durability("in memory", false, Setting::SqliteMemory));
            all
        }
        Dialect::Mysql => {
            let mut all = vec![durability("InnoDB, as it is set", true, Setting::InnoDb { flush: None })];
            if may_change_server {
                all = vec![
                    durability("InnoDB, flush 1", true, Setting::InnoDb { flush: Some(1) }),
                    durability("InnoDB, flush 2", false, Setting::InnoDb { flush: Some(2) }),
                    durability("InnoDB, flush 0", false, Setting::InnoDb { flush: Some(0) }),
                ];
            }
            all.push(durability("ENGINE=MEMORY", false, Setting::MysqlMemory));
            all
        }
        Dialect::Postgres => {
            let postgres = |synchronous_commit, unlogged| Setting::Postgres { synchronous_commit, unlogged };
            vec![
                durability("synchronous_commit on", true, postgres("on", false)),
                durability("synchronous_commit off", false, postgres("off", false)),
                durability("unlogged", false, postgres("on", true)),
            ]
        }
    }
}

impl Durability {
    /// Whether the database is its connection's own.
    pub(crate) fn has_one_connection(&self) -> bool {
        self.setting == Setting::SqliteMemory
    }

    /// The first statement of each connection.
    pub(crate) fn of_connection(&self) -> Option<String> {
        match &self.setting {
            Setting::SqliteFile { journal, synchronous } => {
                Some(format!("PRAGMA journal_mode = {journal}; PRAGMA synchronous = {synchronous}"))
            }
            Setting::Postgres { synchronous_commit, .. } => {
                Some(format!("SET synchronous_commit = {synchronous_commit}"))
            }
            Setting::MysqlMemory => Some("SET SESSION max_heap_table_size = 268435456".into()),
            Setting::SqliteMemory | Setting::InnoDb { .. } => None,
        }
    }

    /// The server's own setting of InnoDB that it needs.
    pub(crate) fn of_server(&self) -> Option<u8> {
        match self.setting {
            Setting::InnoDb { flush } => flush,
            _ => None,
        }
    }

    /// How its table is made.
    pub(crate) fn table(&self, dialect: Dialect, name: &str) -> String {
        let columns = dialect.account_columns();
        let index = format!("CREATE INDEX {name}_rating ON {name} (rating, id)");
        match &self.setting {
            Setting::InnoDb { .. } => {
                format!(
                    "CREATE TABLE {name} ({columns}, INDEX {name}_rating (rating, id)) ENGINE = InnoDB CHARACTER SET \
                     utf8mb4 COLLATE utf8mb4_bin"
                )
            }
            // By default its indexes are hashes, which keep no order.
            Setting::MysqlMemory => format!(
                "CREATE TABLE {name} ({columns}, INDEX {name}_rating USING BTREE (rating, id)) ENGINE = MEMORY \
                 CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
            ),
            Setting::Postgres { unlogged: true, .. } => format!("CREATE UNLOGGED TABLE {name} ({columns}); {index}"),
            _ => format!("CREATE TABLE {name} ({columns}); {index}"),
        }
    }
}
