//! A batch and its transaction. Its number makes it happen once: its commit advances the run's number, and a batch
//! whose answer was lost finds its own number there.

use super::note::{Kind, Note};
use crate::dialect::rows;
use crate::error::{Failure, Outcome};
use crate::session::Session;
use crate::value::Value;
use std::collections::BTreeMap;

/// Notes that are written together.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) run: i64,
    /// From 1; a batch that was dropped leaves a gap.
    pub(super) number: i64,
    pub(super) notes: Vec<Note>,
    pub(super) bytes: u64,
}

/// The stored part of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Written,
    Nothing,
}

/// The totals of an account for a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    sessions: i64,
    duration_ms: i64,
    lines: i64,
}

/// Rows of one statement.
const ROWS: usize = 200;

impl Batch {
    /// Writes all of it, or nothing. Writing it twice has the same effect as once.
    pub(super) async fn write(&self, session: &mut Session) -> Outcome<()> {
        session.begin().await?;
        let dialect = session.dialect();
        let forward = dialect.statement("UPDATE skipstone_runs SET batch = ? WHERE run = ? AND batch < ?");
        let moved = session.execute(&forward, &[self.number.into(), self.run.into(), self.number.into()]).await?;
        if moved == 0 && self.find(session).await? == Found::Written {
            return session.rollback().await;
        }
        self.write_connections(session).await?;
        self.write_sessions(session).await?;
        self.write_totals(session).await?;
        session.commit().await
    }

    /// The run's number is not below this batch's: it is this one's, or the tables were dropped and created again, and
    /// then the run's row is written again.
    async fn find(&self, session: &mut Session) -> Outcome<Found> {
        let dialect = session.dialect();
        let statement = dialect.statement("SELECT batch FROM skipstone_runs WHERE run = ?");
        match session.numbers(&statement, &[self.run.into()]).await?.first() {
            Some(number) if *number == self.number => Ok(Found::Written),
            Some(_) => Err(Failure::other("the run's row has changed: another program writes to skipstone_runs")),
            None => {
                let insert = dialect.statement("INSERT INTO skipstone_runs (run, batch) VALUES (?, ?)");
                session.execute(&insert, &[self.run.into(), self.number.into()]).await?;
                Ok(Found::Nothing)
            }
        }
    }

    async fn write_connections(&self, session: &mut Session) -> Outcome<()> {
        let values = self.notes.iter().filter_map(|note| match &note.kind {
            Kind::Began { carrier } => Some(vec![
                Value::Int(self.run),
                note.number.into(),
                note.account.as_str().into(),
                carrier.as_str().into(),
                note.at_ms.into(),
            ]),
            Kind::Ended { .. } => None,
        });
        insert(session, "skipstone_connections (run, number, account, carrier, began_ms)", "", values.collect()).await
    }

    async fn write_sessions(&self, session: &mut Session) -> Outcome<()> {
        let values = self.notes.iter().filter_map(|note| match note.kind {
            Kind::Ended { duration_ms, lines, code } => Some(vec![
                Value::Int(self.run),
                note.number.into(),
                note.account.as_str().into(),
                note.at_ms.into(),
                duration_ms.into(),
                lines.into(),
                code.into(),
            ]),
            Kind::Began { .. } => None,
        });
        let table = "skipstone_sessions (run, number, account, ended_ms, duration_ms, line_count, code)";
        insert(session, table, "", values.collect()).await
    }

    async fn write_totals(&self, session: &mut Session) -> Outcome<()> {
        let columns = ["session_count", "duration_ms", "line_count"];
        let adding = session.dialect().adding("skipstone_daily_totals", "day, account", &columns);
        let values = self.totals().into_iter().map(|((day, account), totals)| {
            let Totals { sessions, duration_ms, lines } = totals;
            vec![day.into(), account.into(), sessions.into(), duration_ms.into(), lines.into()]
        });
        let table = "skipstone_daily_totals (day, account, session_count, duration_ms, line_count)";
        insert(session, table, &adding, values.collect()).await
    }

    /// By day, in UTC, and account: in the same order on every server, so that two servers never deadlock on rows.
    fn totals(&self) -> BTreeMap<(String, &str), Totals> {
        let mut totals = BTreeMap::<_, Totals>::new();
        for note in &self.notes {
            let Kind::Ended { duration_ms, lines, .. } = note.kind else { continue };
            let sum = totals.entry((day(note.at_ms), note.account.as_str())).or_default();
            sum.sessions += 1;
            sum.duration_ms += duration_ms;
            sum.lines += lines;
        }
        totals
    }
}

async fn insert(session: &mut Session, table: &str, ending: &str, all: Vec<Vec<Value>>) -> Outcome<()> {
    for some in all.chunks(ROWS) {
        let sql = format!("INSERT INTO {table} VALUES {}{ending}", rows(some.len(), some[0].len()));
        session.execute(&session.dialect().statement(&sql), &some.concat()).await?;
    }
    Ok(())
}

fn day(at_ms: i64) -> String {
    let moment = std::time::UNIX_EPOCH + std::time::Duration::from_millis(at_ms.max(0) as u64);
    skipstone_lab::report::format::rfc3339(moment)[..10].to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::note::{Began, Ended};
    use super::*;
    use std::time::Duration;

    #[test]
    fn totals_are_per_day_and_account() {
        let ended = |account, lines, at_ms| {
            let lasted = Duration::from_millis(5);
            Note::ended(Ended { number: 1, account, lasted, lines, code: 0 }, at_ms)
        };
        let began = Note::began(Began { number: 1, account: "a", carrier: "udp" }, 0);
        let notes = vec![began, ended("a", 1, 0), ended("b", 2, 0), ended("a", 3, 5), ended("a", 4, 86_400_000)];
        let batch = Batch { run: 1, number: 1, notes, bytes: 0 };
        let totals = batch.totals();
        let first = Totals { sessions: 2, duration_ms: 10, lines: 4 };
        assert_eq!(totals[&("1970-01-01".to_owned(), "a")], first);
        assert_eq!((totals.len(), totals[&("1970-01-02".to_owned(), "a")].lines), (3, 4));
    }
}
