//! `skipstone db URL COMMAND`, and the same commands as a line of the server's console.

use crate::bench::{self, BenchFlags};
use crate::commands::{self, Answer, DbCommand};
use crate::error::FailureKind;
use crate::progress::Watcher;
use crate::runtime::block_on;
use crate::secret::{PASSWORD_VARIABLE, Secret};
use crate::url::{DatabaseUrl, Passwords, URL_VARIABLE};
use clap::Parser;
use skipstone_lab::clean;
use skipstone_lab::report::{Exit, Sink, Style, output, paint, replace};
use skipstone_lab::signals::Signals;
use std::path::{Path, PathBuf};

/// Flags of `db`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"), subcommand_required = true, arg_required_else_help = true)]
pub struct DbArguments {
    /// The database: sqlite:FILE, mysql://USER@HOST/DATABASE, mariadb://… or postgres://…; without it, that of
    /// SKIPSTONE_DB_URL, else sqlite:skipstone.db
    url: Option<String>,
    #[command(flatten)]
    credentials: Credentials,
    /// Write the answer as JSON to a file; `-` prints it instead of the text
    #[arg(long, value_name = "FILE", global = true)]
    json: Option<String>,
    #[command(subcommand)]
    command: Command,
}

/// A command: one on the accounts, or the bench.
#[derive(Debug, Clone, clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Records(DbCommand),
    /// Measure all commands, for each durability of the engine, in its own table
    Bench(Box<BenchFlags>),
}

/// The source of the password: this flag or the environment, and nothing else.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Credentials {
    /// A file whose first line is the database's password; SKIPSTONE_DB_PASSWORD may contain it instead
    #[arg(long, value_name = "FILE", global = true)]
    password_file: Option<PathBuf>,
}

impl Credentials {
    /// The database of this text, with its password.
    ///
    /// # Errors
    /// A sentence with the remedy.
    pub fn complete(&self, url: Option<&str>) -> Result<DatabaseUrl, String> {
        let url = match (url, variable(URL_VARIABLE)) {
            (Some(text), _) => DatabaseUrl::parse(text, Passwords::Refused)?,
            (None, Some(text)) => {
                DatabaseUrl::parse(&text, Passwords::Taken).map_err(|error| format!("{URL_VARIABLE}: {error}"))?
            }
            (None, None) => DatabaseUrl::parse("sqlite:skipstone.db", Passwords::Refused)?,
        };
        Ok(url.with_password(self.password()?))
    }

    fn password(&self) -> Result<Option<Secret>, String> {
        match &self.password_file {
            Some(file) => Secret::from_file(file).map(Some),
            None => Ok(variable(PASSWORD_VARIABLE).map(Secret::new)),
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// Runs the command of the flags.
pub fn run(arguments: &DbArguments) -> Exit {
    Exit::of("db", play(arguments))
}

fn play(arguments: &DbArguments) -> Result<Exit, String> {
    let url = arguments.credentials.complete(arguments.url.as_deref())?;
    let sink = Sink::open(arguments.json.as_deref())?;
    let signals = Signals::watch()?;
    let watcher = Watcher::terminal(signals.flag());
    let command = match &arguments.command {
        Command::Records(command) => command,
        Command::Bench(flags) => {
            let password = arguments.credentials.password()?;
            return measure((&url, password), flags, &sink, watcher);
        }
    };
    match block_on(commands::run(&url, command, watcher)).flatten() {
        Ok(answer) => {
            let exit = if signals.is_set() { Exit::Interrupted } else { Exit::Pass };
            Ok(exit.once_kept("db", sink.show(&answer.json, &format!("{}\n", answer.text), &[])))
        }
        Err(failure) => {
            output::complain(format_args!("skipstone db: {}", clean::line(&failure.sentence)));
            let is_wrong = matches!(failure.kind, FailureKind::Denied | FailureKind::Missing | FailureKind::Unopenable);
            Ok(if is_wrong { Exit::BadConfiguration } else { Exit::Fail })
        }
    }
}

fn measure(
    database: (&DatabaseUrl, Option<Secret>),
    flags: &BenchFlags,
    sink: &Sink,
    watcher: Watcher<'_>,
) -> Result<Exit, String> {
    let cannot = |file: &Path, error| format!("cannot write --report {}: {error}", file.display());
    if let Some(file) = &flags.report {
        replace::check(file).map_err(|error| cannot(file, error))?;
    }
    let bench = block_on(bench::run(database, flags, watcher)).map_err(|failure| failure.sentence)?;
    let shown = sink.show(&bench, &bench::table(&bench, paint::style()), &bench.reasons);
    let written = flags.report.as_ref().map_or(Ok(()), |file| {
        replace::replace(file, bench::page(&bench).as_bytes()).map_err(|error| cannot(file, error))
    });
    Ok(Exit::from(bench.verdict).once_kept("db", shown.and(written)))
}

/// A line of the console, after `db`.
#[derive(Debug, Parser)]
#[command(name = "db", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

/// Runs a line of the console in the caller's thread; an error is a sentence.
///
/// # Errors
/// The error of the line, or of the database.
pub fn run_line(url: &DatabaseUrl, line: &str) -> Result<String, String> {
    answer(url, line).map(|answer| answer.text)
}

/// The same as JSON: `result` contains the values that follow from the seed, the same for every engine.
///
/// # Errors
/// As [`run_line`].
pub fn run_line_json(url: &DatabaseUrl, line: &str) -> Result<serde_json::Value, String> {
    answer(url, line).map(|answer| answer.json)
}

fn answer(url: &DatabaseUrl, line: &str) -> Result<Answer, String> {
    let line = Line::try_parse_from(line.split_whitespace()).map_err(|error| {
        let text = error.render().to_string();
        text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()
    })?;
    let answer = match line.command {
        Command::Records(command) => block_on(commands::run(url, &command, Watcher::none())).flatten(),
        Command::Bench(flags) => {
            let password = url.password().or_else(|| variable(PASSWORD_VARIABLE).map(Secret::new));
            block_on(bench::run((url, password), &flags, Watcher::none())).map(|bench| benched(&bench))
        }
    };
    answer.map_err(|failure| clean::line(&failure.sentence))
}

fn benched(bench: &bench::DbBench) -> Answer {
    let reasons: String = bench.reasons.iter().map(|reason| format!("\n{}", clean::line(reason))).collect();
    let text = bench::table(bench, Style::Plain).trim_end().to_owned() + &reasons;
    Answer { text, json: serde_json::json!(bench), is_partial: false }
}
