//! One durability of one database: its table is created and filled, each cell is measured, every row is compared, and
//! all of it is removed again.

use super::durability::Durability;
use super::ledger::{Deeds, Ledger};
use super::plan::{Cell, Work};
use super::result::{CellResult, StageResult};
use super::task::{Show, Task};
use super::worker::{Measured, Share, Worker};
use crate::account::Account;
use crate::database::{Database, Limits};
use crate::dialect::Dialect;
use crate::error::{Failure, FailureKind, Outcome};
use crate::runtime::runtime;
use crate::session::Session;
use crate::statements::AccountTable;
use crate::timing::Timer;
use crate::url::{DatabaseUrl, SqlitePlace};
use crate::value::Value;
use std::path::PathBuf;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The table of a bench. It is dropped before and after.
const TABLE: &str = "skipstone_bench";

/// Numbers for the accounts that one worker adds in one cell: more than any engine takes in a minute.
const FREE_NUMBERS: i64 = 10_000_000;

/// A stage under way.
pub(super) struct Stage<'a> {
    task: &'a Task,
    url: DatabaseUrl,
    durability: Durability,
    session: Session,
    table: AccountTable,
    ledger: Ledger,
    result: StageResult,
    /// Removed when this is dropped.
    _files: TemporaryFiles,
}

impl<'a> Stage<'a> {
    /// Makes the table and fills it.
    pub(super) async fn open(
        task: &'a Task,
        url: &DatabaseUrl,
        durability: Durability,
        show: &Show<'_>,
    ) -> Outcome<Stage<'a>> {
        let files = TemporaryFiles::beside(url);
        let place = files.url(url, &durability);
        let mut session = connect(&place, &durability).await?;
        let dialect = session.dialect();
        session.script(&format!("DROP TABLE IF EXISTS {TABLE}")).await?;
        session.script(&durability.table(dialect, TABLE)).await?;
        let version = match dialect {
            Dialect::Sqlite => "SELECT sqlite_version()",
            Dialect::Mysql => "SELECT version()",
            Dialect::Postgres => "SELECT current_setting('server_version')",
        };
        let result = StageResult {
            url: url.to_string(),
            engine: url.engine(),
            version: session.word(version).await?,
            durability: durability.name,
            is_durable: durability.is_full,
            load_per_second: 0.0,
            bytes: 0,
            rows_verified: 0,
            rows_wrong: 0,
            cells: Vec::new(),
        };
        let table = AccountTable::new(dialect, TABLE);
        let ledger = Ledger::new(task.seed, task.records);
        let mut stage = Stage { task, url: place, durability, session, table, ledger, result, _files: files };
        stage.load(show).await?;
        Ok(stage)
    }

    async fn load(&mut self, show: &Show<'_>) -> Outcome<()> {
        const ROWS: i64 = 500;
        let began = Instant::now();
        let mut next = 1;
        self.session.begin().await?;
        while next <= self.task.records && !show.watcher.must_stop() {
            let end = (next + ROWS).min(self.task.records + 1);
            let values: Vec<Value> = (next..end).flat_map(|id| Account::of(self.task.seed, id).values()).collect();
            let statement = self.table.statement(&self.table.insert((end - next) as usize));
            self.session.execute(&statement, &values).await?;
            next = end;
        }
        self.session.commit().await?;
        self.result.load_per_second = self.task.records as f64 / began.elapsed().as_secs_f64().max(1e-9);
        let analyze = self.session.dialect().analyze(TABLE);
        self.session.script(&analyze).await
    }

    /// Measures one cell. A failure of the database is the cell's; an error means that nothing more can be measured.
    pub(super) async fn measure(&mut self, cell: Cell) -> Outcome<()> {
        let shares = self.shares(cell);
        let measured = match <[Share; 1]>::try_from(shares) {
            Ok([share]) => vec![work(&mut self.session, &self.table, cell, share).await],
            Err(shares) => self.at_once(cell, shares),
        };
        let mut timer = Timer::new();
        let (mut accounts, mut wrong, mut failure) = (0, 0, None);
        let began = measured.iter().map(|part| part.began).min();
        let ended = measured.iter().map(|part| part.ended).max();
        for part in measured {
            timer.add(&part.timer);
            accounts += part.accounts;
            wrong += part.wrong;
            failure = failure.or(part.failure);
            self.ledger.enter(part.deeds);
        }
        let took = began.zip(ended).map_or(Duration::ZERO, |(began, ended)| ended.duration_since(began));
        self.result.cells.push(CellResult {
            cell,
            per_second: accounts as f64 / took.as_secs_f64().max(1e-9),
            timing: timer.timing(),
            wrong_answers: wrong,
            failure: failure.as_ref().map(|failure| failure.sentence.clone()),
        });
        match failure {
            Some(failure) if failure.kind == FailureKind::Lost => Err(failure),
            _ => Ok(()),
        }
    }

    fn shares(&mut self, cell: Cell) -> Vec<Share> {
        let mut spare = if cell.work == Work::Delete { self.ledger.added(self.task.records) } else { Vec::new() };
        let each = spare.len().div_ceil(cell.connections);
        let share = |number| {
            let free = if cell.work == Work::Add { self.ledger.reserve(FREE_NUMBERS) } else { 0 };
            Share {
                seed: self.task.seed,
                records: self.task.records,
                number,
                workers: cell.connections,
                free: free..free + FREE_NUMBERS,
                spare: spare.split_off(spare.len().saturating_sub(each)),
                duration: self.task.duration,
            }
        };
        (0..cell.connections).map(share).collect()
    }

    /// Workers in threads of their own, which begin together.
    fn at_once(&self, cell: Cell, shares: Vec<Share>) -> Vec<Measured> {
        // Each has one before any begins: they wait for each other.
        let runtimes: Outcome<Vec<_>> = shares.iter().map(|_| runtime()).collect();
        let runtimes = match runtimes {
            Ok(runtimes) => runtimes,
            Err(failure) => return vec![nothing(failure)],
        };
        let start = &Barrier::new(shares.len());
        let (url, durability, table) = (&self.url, &self.durability, &self.table);
        let beside =
            move |runtime: Runtime, share| runtime.block_on(beside_others(url, durability, table, cell, share, start));
        std::thread::scope(|scope| {
            let each = runtimes.into_iter().zip(shares);
            let started: Vec<_> = each.map(|(own, share)| scope.spawn(move || beside(own, share))).collect();
            started.into_iter().map(|thread| thread.join().expect("a worker does not panic")).collect()
        })
    }

    /// Compares every row, drops the table, and returns the findings.
    pub(super) async fn close(mut self) -> Outcome<StageResult> {
        self.result.bytes = self.bytes().await?;
        let rows = self.ledger.len();
        let page = self.table.statement(&self.table.page());
        let mut last = 0;
        loop {
            let found = self.session.accounts(&page, &[Value::Int(last)]).await?;
            let Some(end) = found.last().map(|row| row.id) else { break };
            self.result.rows_wrong += self.ledger.compare(&found, Some(end));
            last = end;
        }
        self.result.rows_wrong += self.ledger.compare(&[], None);
        self.result.rows_verified = rows;
        self.session.script(&format!("DROP TABLE {TABLE}")).await?;
        Ok(self.result)
    }

    /// The results until the failure.
    pub(super) fn broken(self) -> StageResult {
        self.result
    }

    async fn bytes(&mut self) -> Outcome<u64> {
        let sql = match self.session.dialect() {
            Dialect::Sqlite => "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()".to_owned(),
            Dialect::Mysql => format!(
                "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS SIGNED) FROM information_schema.tables \
                 WHERE table_schema = DATABASE() AND table_name = '{TABLE}'"
            ),
            Dialect::Postgres => format!("SELECT pg_total_relation_size('{TABLE}')"),
        };
        Ok(self.session.number(&sql).await? as u64)
    }
}

async fn beside_others(
    url: &DatabaseUrl,
    durability: &Durability,
    table: &AccountTable,
    cell: Cell,
    share: Share,
    start: &Barrier,
) -> Measured {
    let warm = async {
        let mut session = connect(url, durability).await?;
        Worker::new(&mut session, table.clone(), cell, share.clone()).warm_up().await?;
        Ok(session)
    };
    let warm = warm.await;
    start.wait();
    match warm {
        Ok(mut session) => Worker::new(&mut session, table.clone(), cell, share).run().await,
        Err(failure) => nothing(failure),
    }
}

async fn work(session: &mut Session, table: &AccountTable, cell: Cell, share: Share) -> Measured {
    let mut worker = Worker::new(session, table.clone(), cell, share);
    match worker.warm_up().await {
        Ok(()) => worker.run().await,
        Err(failure) => nothing(failure),
    }
}

fn nothing(failure: Failure) -> Measured {
    let now = Instant::now();
    let failure = Some(failure);
    Measured { timer: Timer::new(), accounts: 0, deeds: Deeds::default(), wrong: 0, failure, began: now, ended: now }
}

/// A connection of its own, with the durability's settings.
async fn connect(url: &DatabaseUrl, durability: &Durability) -> Outcome<Session> {
    let limits = Limits { connections_max: 1, connect_max: Duration::from_secs(10), ..Limits::default() };
    let mut session = Database::new(url, limits).session().await?;
    if let Some(settings) = durability.of_connection() {
        session.script(&settings).await?;
    }
    Ok(session)
}

/// The database file of a benchmark, next to the URL's file: it is on the same disk, and leaves that file alone.
struct TemporaryFiles(Option<PathBuf>);

impl TemporaryFiles {
    fn beside(url: &DatabaseUrl) -> TemporaryFiles {
        let DatabaseUrl::Sqlite { place: SqlitePlace::File(path), .. } = url else { return TemporaryFiles(None) };
        let mut name = path.clone().into_os_string();
        name.push(format!(".bench-{}", std::process::id()));
        let files = TemporaryFiles(Some(name.into()));
        files.remove();
        files
    }

    fn url(&self, url: &DatabaseUrl, durability: &Durability) -> DatabaseUrl {
        let DatabaseUrl::Sqlite { driver, .. } = url else { return url.clone() };
        let place = match &self.0 {
            Some(path) if !durability.has_one_connection() => SqlitePlace::File(path.clone()),
            _ => SqlitePlace::Memory,
        };
        DatabaseUrl::Sqlite { place, driver: *driver }
    }

    fn remove(&self) {
        let Some(path) = &self.0 else { return };
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut name = path.clone().into_os_string();
            name.push(end);
            let _ = std::fs::remove_file(name);
        }
    }
}

impl Drop for TemporaryFiles {
    fn drop(&mut self) {
        self.remove();
    }
}
