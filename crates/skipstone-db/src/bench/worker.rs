//! One working connection: a thread with its own runtime, like an independent client.

use super::ledger::Deeds;
use super::plan::{Asking, Cell, GROUP, RANKED, Work};
use crate::account::Account;
use crate::dialect::{Dialect, Statement};
use crate::draw::Draw;
use crate::error::{Failure, Outcome};
use crate::session::Session;
use crate::statements::{AccountTable, Change, Ranked};
use crate::timing::Timer;
use crate::value::Value;
use std::time::{Duration, Instant};

/// Which accounts are a worker's, and for how long it works.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) seed: u64,
    pub(crate) records: i64,
    /// Of how many workers it is which: it changes the accounts whose numbers leave this remainder.
    pub(crate) number: usize,
    pub(crate) workers: usize,
    /// Numbers for accounts that it adds.
    pub(crate) free: std::ops::Range<i64>,
    /// Accounts that it may delete.
    pub(crate) spare: Vec<i64>,
    pub(crate) duration: Duration,
}

/// The measurements of a worker.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) timer: Timer,
    pub(crate) accounts: u64,
    pub(crate) deeds: Deeds,
    /// Wrong answers.
    pub(crate) wrong: u64,
    pub(crate) failure: Option<Failure>,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

/// A connection, the table, and the prepared statements.
pub(crate) struct Worker<'a> {
    session: &'a mut Session,
    cell: Cell,
    share: Share,
    table: AccountTable,
    statement: Statement,
    draw: Draw,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(session: &'a mut Session, table: AccountTable, cell: Cell, share: Share) -> Worker<'a> {
        let count = if cell.asking == Asking::Batched { GROUP } else { 1 };
        let sql = match cell.work {
            Work::Add => table.insert(count),
            Work::Seek if count > 1 => table.seek_many(count),
            Work::Seek => table.seek(),
            Work::Update if count > 1 => table.update_many(count),
            Work::Update => table.update(),
            Work::RankUnindexed => table.rank(Ranked::Unindexed),
            Work::RankIndexed => table.rank(Ranked::Indexed),
            Work::Delete => table.delete(count),
        };
        let statement = table.statement(&sql);
        let purpose = (share.number as u64) << 8 | cell.work as u64;
        let draw = Draw::new(share.seed, purpose);
        Worker { session, cell, share, table, statement, draw }
    }

    /// One call whose duration does not count: it prepares the statement.
    pub(crate) async fn warm_up(&mut self) -> Outcome<()> {
        match self.cell.work {
            Work::RankUnindexed | Work::RankIndexed => drop(self.accounts(&[Value::Int(1)]).await?),
            _ => {
                let seek = self.table.statement(&self.table.seek());
                self.session.accounts(&seek, &[Value::Int(1)]).await?;
            }
        }
        Ok(())
    }

    /// Works until its time is over.
    pub(crate) async fn run(mut self) -> Measured {
        let began = Instant::now();
        let mut measured = Measured {
            timer: Timer::new(),
            accounts: 0,
            deeds: Deeds::default(),
            wrong: 0,
            failure: None,
            began,
            ended: began,
        };
        while began.elapsed() < self.share.duration {
            let Some(group) = self.group() else { break };
            let started = Instant::now();
            let outcome = self.step(&group, started).await;
            measured.ended = Instant::now();
            match outcome {
                Ok((took, wrong)) => {
                    measured.timer.record(took);
                    measured.accounts += group.count();
                    measured.wrong += wrong;
                    group.enter(&mut measured.deeds);
                }
                Err(failure) => {
                    measured.deeds.unknown.extend(group.ids());
                    measured.failure = Some(failure);
                    break;
                }
            }
        }
        measured
    }

    /// The accounts of the next call; `None` at the end.
    fn group(&mut self) -> Option<Group> {
        let count = match self.cell.asking {
            Asking::Single | Asking::Prepared => 1,
            Asking::Batched | Asking::Transaction => GROUP,
        };
        Some(match self.cell.work {
            Work::Add => {
                let first = self.share.free.start;
                if first + count as i64 > self.share.free.end {
                    return None;
                }
                self.share.free.start += count as i64;
                Group::Add((first..first + count as i64).map(|id| Account::of(self.share.seed, id)).collect())
            }
            Work::Seek => Group::Seek(self.distinct(count, 0, 1)),
            Work::Update => {
                let ids = self.distinct(count, self.share.number as i64, self.share.workers as i64);
                Group::Update(ids.into_iter().map(|id| self.draw.change(id)).collect())
            }
            Work::RankUnindexed | Work::RankIndexed => Group::Rank,
            Work::Delete => {
                let rest = self.share.spare.len().checked_sub(count)?;
                Group::Delete(self.share.spare.split_off(rest))
            }
        })
    }

    /// Distinct accounts among those with this remainder.
    fn distinct(&mut self, count: usize, remainder: i64, divisor: i64) -> Vec<i64> {
        let slots = (self.share.records / divisor).max(1);
        let (start, count) = (self.draw.below(slots as u64) as i64, (count as i64).min(slots));
        // An odd step visits many slots before it returns to one.
        let step = if count == 1 { 1 } else { slots / count };
        (0..count).map(|at| 1 + remainder + (start + at * step.max(1)) % slots * divisor).collect()
    }

    async fn step(&mut self, group: &Group, started: Instant) -> Outcome<(Duration, u64)> {
        if self.cell.asking == Asking::Transaction {
            // Reading together needs no lock of a writer.
            match (self.session.dialect(), group) {
                (Dialect::Sqlite, Group::Seek(_)) => self.session.script("BEGIN").await?,
                _ => self.session.begin().await?,
            }
            let mut wrong = 0;
            for one in group.singles() {
                wrong += self.call(&one).await?.1;
            }
            self.session.commit().await?;
            return Ok((started.elapsed(), wrong));
        }
        let (ended, wrong) = self.call(group).await?;
        Ok((ended.duration_since(started), wrong))
    }

    /// One statement: the time of its answer, and the number of wrong answers.
    async fn call(&mut self, group: &Group) -> Outcome<(Instant, u64)> {
        let arguments = group.arguments(self.cell.asking);
        match group {
            Group::Seek(ids) => {
                let found = self.accounts(&arguments).await?;
                let ended = Instant::now();
                let is_right = |account: &&Account| account.name == Account::of(self.share.seed, account.id).name;
                let right = found.iter().filter(is_right).count();
                Ok((ended, (ids.len() - right.min(ids.len())) as u64))
            }
            Group::Rank => {
                let found = self.accounts(&arguments).await?;
                let ended = Instant::now();
                let key = |account: &Account| match self.cell.work {
                    Work::RankUnindexed => (account.score, account.id),
                    _ => (account.rating, account.id),
                };
                // Added accounts may be there, too.
                let is_whole = (RANKED.min(self.share.records)..=RANKED).contains(&(found.len() as i64));
                let is_sorted = found.is_sorted_by(|a, b| key(a) > key(b));
                Ok((ended, u64::from(!(is_whole && is_sorted))))
            }
            Group::Add(_) | Group::Update(_) | Group::Delete(_) => {
                let rows = self.execute(&arguments).await?;
                Ok((Instant::now(), group.count().saturating_sub(rows)))
            }
        }
    }

    async fn accounts(&mut self, arguments: &[Value]) -> Outcome<Vec<Account>> {
        match self.cell.asking {
            Asking::Single => self.session.accounts_text(&self.text(arguments)).await,
            _ => self.session.accounts(&self.statement, arguments).await,
        }
    }

    async fn execute(&mut self, arguments: &[Value]) -> Outcome<u64> {
        match self.cell.asking {
            Asking::Single => self.session.execute_text(&self.text(arguments)).await,
            _ => self.session.execute(&self.statement, arguments).await,
        }
    }

    fn text(&self, arguments: &[Value]) -> String {
        let sql = match self.cell.work {
            Work::Add => self.table.insert(1),
            Work::Seek => self.table.seek(),
            Work::Update => self.table.update(),
            Work::RankUnindexed => self.table.rank(Ranked::Unindexed),
            Work::RankIndexed => self.table.rank(Ranked::Indexed),
            Work::Delete => self.table.delete(1),
        };
        Dialect::inlined(&sql, arguments)
    }
}

/// The accounts of one call.
#[derive(Debug)]
enum Group {
    Add(Vec<Account>),
    Seek(Vec<i64>),
    Update(Vec<Change>),
    Delete(Vec<i64>),
    Rank,
}

impl Group {
    fn count(&self) -> u64 {
        match self {
            Group::Add(accounts) => accounts.len() as u64,
            Group::Seek(ids) | Group::Delete(ids) => ids.len() as u64,
            Group::Update(changes) => changes.len() as u64,
            Group::Rank => 1,
        }
    }

    /// The numbers of accounts that it changes.
    fn ids(&self) -> Vec<i64> {
        match self {
            Group::Add(accounts) => accounts.iter().map(|account| account.id).collect(),
            Group::Update(changes) => changes.iter().map(|change| change.id).collect(),
            Group::Delete(ids) => ids.clone(),
            Group::Seek(_) | Group::Rank => Vec::new(),
        }
    }

    fn singles(&self) -> Vec<Group> {
        match self {
            Group::Add(accounts) => accounts.iter().map(|account| Group::Add(vec![account.clone()])).collect(),
            Group::Seek(ids) => ids.iter().map(|id| Group::Seek(vec![*id])).collect(),
            Group::Update(changes) => changes.iter().map(|change| Group::Update(vec![*change])).collect(),
            Group::Delete(ids) => ids.iter().map(|id| Group::Delete(vec![*id])).collect(),
            Group::Rank => vec![Group::Rank],
        }
    }

    fn arguments(&self, asking: Asking) -> Vec<Value> {
        match self {
            Group::Add(accounts) => accounts.iter().flat_map(Account::values).collect(),
            Group::Seek(ids) | Group::Delete(ids) => ids.iter().map(|id| Value::Int(*id)).collect(),
            Group::Update(changes) if asking == Asking::Batched => {
                changes.iter().flat_map(Change::values_id_first).collect()
            }
            Group::Update(changes) => changes.iter().flat_map(Change::values).collect(),
            Group::Rank => vec![Value::Int(RANKED)],
        }
    }

    fn enter(self, deeds: &mut Deeds) {
        match self {
            Group::Add(accounts) => deeds.added.extend(accounts.iter().map(|account| account.id)),
            Group::Update(changes) => deeds.changed.extend(changes),
            Group::Delete(ids) => deeds.deleted.extend(ids),
            Group::Seek(_) | Group::Rank => {}
        }
    }
}
