//! The statements on a table of accounts, in an engine's dialect.

use crate::account::Account;
use crate::dialect::{Dialect, Statement, rows};
use crate::session::ACCOUNT;
use crate::value::Value;

/// A table of accounts.
#[derive(Clone, Debug)]
pub(crate) struct AccountTable {
    dialect: Dialect,
    name: &'static str,
}

/// A change of an account: new points, and money on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) id: i64,
    pub(crate) score: i64,
    pub(crate) rating: i64,
    pub(crate) deposit: i64,
}

/// By which column accounts are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ranked {
    /// By the column without an index.
    Unindexed,
    /// By the column with an index.
    Indexed,
}

impl Ranked {
    pub(crate) fn column(self) -> &'static str {
        match self {
            Ranked::Unindexed => "score",
            Ranked::Indexed => "rating",
        }
    }
}

impl AccountTable {
    pub(crate) fn new(dialect: Dialect, name: &'static str) -> AccountTable {
        AccountTable { dialect, name }
    }

    /// With `?` for each argument; every statement below is made of such text.
    pub(crate) fn statement(&self, sql: &str) -> Statement {
        self.dialect.statement(sql)
    }

    pub(crate) fn insert(&self, count: usize) -> String {
        format!("INSERT INTO {} ({ACCOUNT}) VALUES {}", self.name, rows(count, 5))
    }

    pub(crate) fn seek(&self) -> String {
        format!("SELECT {ACCOUNT} FROM {} WHERE id = ?", self.name)
    }

    pub(crate) fn seek_many(&self, count: usize) -> String {
        format!("SELECT {ACCOUNT} FROM {} WHERE id IN ({})", self.name, vec!["?"; count].join(", "))
    }

    pub(crate) fn rank(&self, by: Ranked) -> String {
        let (name, column) = (self.name, by.column());
        let hint = match by {
            Ranked::Indexed => self.dialect.in_order_of(name, column),
            Ranked::Unindexed => String::new(),
        };
        format!("SELECT {ACCOUNT} FROM {name}{hint} ORDER BY {column} DESC, id DESC LIMIT ?")
    }

    pub(crate) fn update(&self) -> String {
        format!("UPDATE {} SET score = ?, rating = ?, balance = balance + ? WHERE id = ?", self.name)
    }

    /// Changes many in one statement: each of its rows has id, score, rating and deposit.
    pub(crate) fn update_many(&self, count: usize) -> String {
        let name = self.name;
        if self.dialect == Dialect::Mysql {
            let more = " UNION ALL SELECT ?, ?, ?, ?".repeat(count.saturating_sub(1));
            return format!(
                "UPDATE {name} a JOIN (SELECT ? AS id, ? AS score, ? AS rating, ? AS deposit{more}) v ON a.id = v.id \
                 SET a.score = v.score, a.rating = v.rating, a.balance = a.balance + v.deposit"
            );
        }
        format!(
            "WITH v (id, score, rating, deposit) AS (VALUES {}) UPDATE {name} SET score = v.score, rating = v.rating, \
             balance = balance + v.deposit FROM v WHERE {name}.id = v.id",
            rows(count, 4)
        )
    }

    pub(crate) fn delete(&self, count: usize) -> String {
        format!("DELETE FROM {} WHERE id IN ({})", self.name, vec!["?"; count].join(", "))
    }

    /// A page of accounts, by number, after the bound number.
    pub(crate) fn page(&self) -> String {
        format!("SELECT {ACCOUNT} FROM {} WHERE id > ? ORDER BY id LIMIT 5000", self.name)
    }

    /// Rows, greatest number, and sums: six numbers.
    pub(crate) fn sums(&self) -> String {
        let integer = self.dialect.integer();
        let sum = |column: &str| format!("CAST(COALESCE(SUM({column}), 0) AS {integer})");
        format!(
            "SELECT COUNT(*), COALESCE(MIN(id), 0), COALESCE(MAX(id), 0), {}, {}, {} FROM {}",
            sum("score"),
            sum("rating"),
            sum("balance"),
            self.name
        )
    }
}

impl Account {
    pub(crate) fn values(&self) -> [Value; 5] {
        [self.id.into(), self.name.as_str().into(), self.score.into(), self.rating.into(), self.balance.into()]
    }

    pub(crate) fn apply(&mut self, change: Change) {
        (self.score, self.rating) = (change.score, change.rating);
        self.balance += change.deposit;
    }
}

impl Change {
    /// In the order of [`AccountTable::update`].
    pub(crate) fn values(&self) -> [Value; 4] {
        [self.score.into(), self.rating.into(), self.deposit.into(), self.id.into()]
    }

    /// In the order of [`AccountTable::update_many`].
    pub(crate) fn values_id_first(&self) -> [Value; 4] {
        [self.id.into(), self.score.into(), self.rating.into(), self.deposit.into()]
    }
}
