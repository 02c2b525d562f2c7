//! `add` and `update`: acknowledged changes are committed.

use super::accounts::{ACCOUNTS, last_id, sums, table};
use super::answer::Answer;
use crate::account::Account;
use crate::draw::Draw;
use crate::error::{Failure, Outcome};
use crate::progress::Watcher;
use crate::session::Session;
use crate::timing::Timer;
use crate::value::Value;
use serde_json::json;
use skipstone_lab::report::format::{counted, thousands};
use std::time::Instant;

/// Rows of a statement, and statements of a transaction.
const ROWS: usize = 500;
const STATEMENTS: usize = 10;

pub(super) async fn add(session: &mut Session, count: u32, seed: u64, watcher: Watcher<'_>) -> Outcome<Answer> {
    let first = sums(session).await?[2] + 1;
    let end = first + i64::from(count);
    let bar = watcher.bar(count.into(), "adding");
    let began = Instant::now();
    let mut next = first;
    while next < end && !watcher.must_stop() {
        let until = end.min(next + (ROWS * STATEMENTS) as i64);
        if let Err(failure) = add_at_once(session, next, until, seed).await {
            return Err(after(failure, (next - first) as u64, u64::from(count), "added"));
        }
        next = until;
        bar.set_position((next - first) as u64);
    }
    bar.finish_and_clear();
    let analyze = session.dialect().analyze(ACCOUNTS);
    session.script(&analyze).await?;
    let (added, took) = ((next - first) as u64, began.elapsed());
    let rate = added as f64 / took.as_secs_f64().max(1e-9);
    let text = format!("added {}, {} a second", counted(added, "account"), thousands(rate as u64));
    let json = json!({ "result": { "added": added, "last": next - 1 }, "milliseconds": took.as_secs_f64() * 1e3 });
    Ok(Answer { text, json, is_partial: next < end }.marked())
}

async fn add_at_once(session: &mut Session, from: i64, until: i64, seed: u64) -> Outcome<()> {
    let table = table(session.dialect());
    session.begin().await?;
    let mut next = from;
    while next < until {
        let last = until.min(next + ROWS as i64);
        let values: Vec<Value> = (next..last).flat_map(|id| Account::of(seed, id).values()).collect();
        session.execute(&table.statement(&table.insert((last - next) as usize)), &values).await?;
        next = last;
    }
    session.commit().await
}

pub(super) async fn update(session: &mut Session, count: u32, seed: u64, watcher: Watcher<'_>) -> Outcome<Answer> {
    let last = last_id(session).await?;
    let table = table(session.dialect());
    let statement = table.statement(&table.update());
    let (mut draw, mut timer) = (Draw::new(seed, 2), Timer::new());
    let bar = watcher.bar(count.into(), "updating");
    let began = Instant::now();
    let (mut done, mut changed) = (0, 0);
    while done < count && !watcher.must_stop() {
        let id = 1 + draw.below(last as u64) as i64;
        let change = draw.change(id);
        let started = Instant::now();
        match session.execute(&statement, &change.values()).await {
            Ok(rows) => changed += rows,
            Err(failure) => return Err(after(failure, done.into(), count.into(), "updated")),
        }
        timer.record(started.elapsed());
        done += 1;
        bar.set_position(done.into());
    }
    bar.finish_and_clear();
    let timing = timer.timing();
    let text = format!("updated {}: {}", counted(changed, "account"), timing.sentence(began.elapsed()));
    let json = json!({ "result": { "updated": changed }, "timing": timing });
    Ok(Answer { text, json, is_partial: done < count }.marked())
}

/// The changes committed before a failure are kept.
fn after(failure: Failure, done: u64, asked: u64, verb: &str) -> Failure {
    let committed = format!("{verb} {} of {}, which are committed; then: ", thousands(done), thousands(asked));
    Failure { kind: failure.kind, sentence: committed + &failure.sentence }
}
