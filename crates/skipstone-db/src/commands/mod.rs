//! The commands on accounts and their flags. `records` has those that write, `looks` those that read.

mod accounts;
mod answer;
mod looks;
mod records;
mod tables;

use crate::database::{Database, Limits};
use crate::error::{Failure, FailureKind, Outcome};
use crate::progress::Watcher;
use crate::url::DatabaseUrl;

pub(crate) use answer::Answer;

/// The commands on a database.
#[derive(Debug, Clone, clap::Subcommand)]
pub(crate) enum DbCommand {
    /// Create or update the tables
    Create,
    /// Drop the tables with their contents
    Delete {
        /// Drop them; without this flag, only list the tables
        #[arg(long)]
        yes: bool,
    },
    /// Add N accounts, determined by the seed
    Add {
        /// Number of accounts
        count: u32,
        /// Seed of the accounts
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Show one account
    Show {
        /// Its number
        id: i64,
    },
    /// Show the number of rows and their size
    Stats,
    /// Read N accounts by number, chosen by the seed
    Seek {
        /// Number of accounts
        count: u32,
        /// Seed of the accounts
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Change N accounts, each with its own statement and commit
    Update {
        /// Number of accounts
        count: u32,
        /// Seed of the accounts and their changes
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Show the first N accounts by the column without an index, and by the one with an index
    Rank {
        /// Number of accounts
        count: u32,
    },
}

/// Runs a command.
pub(crate) async fn run(url: &DatabaseUrl, command: &DbCommand, watcher: Watcher<'_>) -> Outcome<Answer> {
    if url.is_in_memory() {
        return Err(Failure::other("sqlite::memory: is lost when the command ends, so only `bench` supports it"));
    }
    let database = Database::new(url, Limits::default());
    let outcome = run_in(&database, url, command, watcher).await;
    database.close().await;
    outcome
}

async fn run_in(database: &Database, url: &DatabaseUrl, command: &DbCommand, watcher: Watcher<'_>) -> Outcome<Answer> {
    if let DbCommand::Create = command {
        return tables::create(database, url).await;
    }
    if let DatabaseUrl::Sqlite { place: crate::url::SqlitePlace::File(path), .. } = url
        && !path.exists()
    {
        let sentence = format!("there is no {}: `skipstone db {url} create` creates it", path.display());
        return Err(Failure::new(FailureKind::Missing, sentence));
    }
    let mut session = database.session().await?;
    let session = &mut session;
    let answer = match *command {
        DbCommand::Create => unreachable!("done above"),
        DbCommand::Delete { yes } => tables::delete(session, yes).await,
        DbCommand::Add { count, seed } => records::add(session, count, seed, watcher).await,
        DbCommand::Update { count, seed } => records::update(session, count, seed, watcher).await,
        DbCommand::Show { id } => looks::show(session, id).await,
        DbCommand::Stats => tables::stats(session, url).await,
        DbCommand::Seek { count, seed } => looks::seek(session, count, seed, watcher).await,
        DbCommand::Rank { count } => looks::rank(session, count).await,
    };
    answer.map_err(|failure| missing_tables(failure, url))
}

/// The whole command that creates the tables.
fn missing_tables(failure: Failure, url: &DatabaseUrl) -> Failure {
    if failure.kind != FailureKind::Missing {
        return failure;
    }
    Failure::new(FailureKind::Missing, format!("the tables do not exist: `skipstone db {url} create` creates them"))
}
