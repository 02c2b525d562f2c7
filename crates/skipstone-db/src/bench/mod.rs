//! `db URL bench`: the cost of each durability of each engine, by kind of work, statement form and number of
//! connections.
//!
//! ```text
//! flags ─> plan, durability ─> stage (table, ledger) ─> worker (a connection) ─> result ─> table, JSON, page
//! ```

mod durability;
mod flush;
mod ledger;
mod page;
mod plan;
mod result;
mod stage;
mod table;
mod task;
mod worker;

use crate::database::{Database, Limits};
use crate::dialect::Dialect;
use crate::error::Outcome;
use crate::progress::Watcher;
use crate::secret::Secret;
use crate::url::{DatabaseUrl, SqlitePlace};
use durability::{Durability, Extent};
use plan::cells;
use result::{ORIGINAL, StageResult};
use skipstone_lab::report::Verdict;
use skipstone_lab::units::Span;
use stage::Stage;
use std::path::{Path, PathBuf};
use task::{Show, Task};

pub(crate) use page::page;
pub(crate) use result::DbBench;
pub(crate) use table::table;

/// Flags of `bench`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BenchFlags {
    /// Accounts in the table
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50_000,
        value_parser = clap::value_parser!(u32).range(100..=10_000_000)
    )]
    pub(crate) records: u32,
    /// Seed of accounts, changes and queries
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Duration of each measurement
    #[arg(long, value_name = "TIME", default_value = "500ms")]
    pub(crate) each: Span,
    /// Every combination of durability, work, statement form and number of connections
    #[arg(long)]
    pub(crate) full: bool,
    /// Change innodb_flush_log_at_trx_commit of the whole MariaDB or MySQL server during the bench, which requires the
    /// privilege to do so
    #[arg(long)]
    pub(crate) change_server: bool,
    /// Another database to measure, with the password of the first; may be given several times
    #[arg(long, value_name = "URL")]
    pub(crate) also: Vec<DatabaseUrl>,
    /// Write a page with plots
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

/// Measures, and returns the results so far even if it fails. The password is also used for the databases of `--also`:
/// a file has no password.
pub(crate) async fn run(
    (first, password): (&DatabaseUrl, Option<Secret>),
    flags: &BenchFlags,
    watcher: Watcher<'_>,
) -> DbBench {
    let task = Task { seed: flags.seed, records: flags.records.into(), duration: flags.each.0 };
    let mut bench = DbBench {
        verdict: Verdict::Pass,
        reasons: Vec::new(),
        is_partial: false,
        seed: flags.seed,
        records: flags.records.into(),
        seconds_per_cell: flags.each.0.as_secs_f64(),
        flush_ms: flush::flush_ms(folder(first)),
        original: ORIGINAL,
        stages: Vec::new(),
    };
    let extent = if flags.full { Extent::Full } else { Extent::Usual };
    for url in std::iter::once(first.clone()).chain(flags.also.iter().cloned()) {
        let url = url.with_password(password.clone());
        if let Err(sentence) = measure(&url, &task, extent, flags.change_server, watcher, &mut bench.stages).await {
            bench.reasons.push(format!("{url}: {sentence}"));
        }
    }
    judge(&mut bench, watcher.must_stop());
    bench
}

async fn measure(
    url: &DatabaseUrl,
    task: &Task,
    extent: Extent,
    may_change_server: bool,
    watcher: Watcher<'_>,
    stages: &mut Vec<StageResult>,
) -> Result<(), String> {
    let all = durability::of(url.dialect(), may_change_server, extent);
    let planned: Vec<_> = all.iter().enumerate().map(|(at, one)| cells(one, at == 0, extent)).collect();
    let bar = watcher.bar(planned.iter().map(|cells| cells.len() as u64 + 1).sum(), url.engine());
    let show = Show { watcher, bar };
    let before = ServerSetting::read(url, may_change_server).await.map_err(|failure| failure.sentence)?;
    let mut outcome = Ok(());
    for (durability, cells) in all.into_iter().zip(planned) {
        if watcher.must_stop() || outcome.is_err() {
            break;
        }
        outcome = play(url, task, durability, &cells, &show, stages).await;
    }
    before.restore(url).await.map_err(|failure| failure.sentence)?;
    show.bar.finish_and_clear();
    outcome
}

async fn play(
    url: &DatabaseUrl,
    task: &Task,
    durability: Durability,
    cells: &[plan::Cell],
    show: &Show<'_>,
    stages: &mut Vec<StageResult>,
) -> Result<(), String> {
    if let Some(flush) = durability.of_server() {
        ServerSetting::set(url, flush).await.map_err(|failure| format!("{}: {}", durability.name, failure.sentence))?;
    }
    let name = durability.name;
    show.bar.set_message(format!("{}, {name}: filling", url.engine()));
    let mut stage = Stage::open(task, url, durability, show).await.map_err(|failure| format!("{name}: {failure}"))?;
    show.bar.inc(1);
    for cell in cells {
        if show.watcher.must_stop() {
            break;
        }
        let connections = if cell.connections == 1 { String::new() } else { format!(" by {}", cell.connections) };
        show.bar.set_message(format!(
            "{}, {name}: {}, {}{connections}",
            url.engine(),
            cell.work.name(),
            cell.asking.name()
        ));
        if let Err(failure) = stage.measure(*cell).await {
            stages.push(stage.broken());
            return Err(format!("{name}: {failure}"));
        }
        show.bar.inc(1);
    }
    stages.push(stage.close().await.map_err(|failure| format!("{name}: {failure}"))?);
    Ok(())
}

/// InnoDB's setting of a whole server, as it was.
struct ServerSetting(Option<i64>);

impl ServerSetting {
    async fn read(url: &DatabaseUrl, is_to_change: bool) -> Outcome<ServerSetting> {
        if !is_to_change || url.dialect() != Dialect::Mysql {
            return Ok(ServerSetting(None));
        }
        let mut session = Database::new(url, Limits::default()).session().await?;
        let now = session.number("SELECT CAST(@@GLOBAL.innodb_flush_log_at_trx_commit AS SIGNED)").await?;
        Ok(ServerSetting(Some(now)))
    }

    async fn set(url: &DatabaseUrl, flush: u8) -> Outcome<()> {
        let mut session = Database::new(url, Limits::default()).session().await?;
        session.script(&format!("SET GLOBAL innodb_flush_log_at_trx_commit = {flush}")).await
    }

    async fn restore(self, url: &DatabaseUrl) -> Outcome<()> {
        match self.0 {
            Some(before) => ServerSetting::set(url, before as u8).await,
            None => Ok(()),
        }
    }
}

fn judge(bench: &mut DbBench, is_interrupted: bool) {
    let mut failed = std::mem::take(&mut bench.reasons);
    let has_reasons = !failed.is_empty();
    for stage in &bench.stages {
        let name = format!("{}, {}", stage.engine, stage.durability);
        if stage.rows_wrong > 0 {
            failed.push(format!("{name}: {} rows are wrong", stage.rows_wrong));
        }
        for result in &stage.cells {
            let cell = &result.cell;
            let what =
                format!("{name}: {}, {}, {} connections", cell.work.name(), cell.asking.name(), cell.connections);
            if result.wrong_answers > 0 {
                failed.push(format!("{what}: {} wrong answers", result.wrong_answers));
            }
            if let Some(failure) = &result.failure {
                failed.push(format!("{what}: {failure}"));
            }
        }
    }
    let has_failure = |stage: &StageResult| stage.cells.iter().any(|result| result.failure.is_some());
    bench.is_partial = is_interrupted || has_reasons || bench.stages.iter().any(has_failure);
    bench.verdict = Verdict::of(is_interrupted, &[], &failed);
    if is_interrupted {
        failed.insert(0, "The bench was stopped early: unmeasured figures are missing.".into());
    }
    bench.reasons = failed;
}

/// Where the bench's file is; the current folder for a server.
fn folder(url: &DatabaseUrl) -> &Path {
    match url {
        DatabaseUrl::Sqlite { place: SqlitePlace::File(path), .. } => {
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
        }
        _ => Path::new("."),
    }
}
