//! `show`, `seek` and `rank`: the commands that only read.

use super::accounts::{last_id, table};
use super::answer::Answer;
use crate::account::Account;
use crate::draw::Draw;
use crate::error::{Failure, Outcome};
use crate::progress::Watcher;
use crate::session::Session;
use crate::statements::Ranked;
use crate::timing::{Timer, fine};
use crate::value::Value;
use serde_json::json;
use skipstone_lab::clean;
use skipstone_lab::measure::splitmix::mix;
use skipstone_lab::report::format::counted;
use std::time::Instant;

pub(super) async fn show(session: &mut Session, id: i64) -> Outcome<Answer> {
    let table = table(session.dialect());
    let found = session.accounts(&table.statement(&table.seek()), &[id.into()]).await?;
    let Some(account) = found.first() else {
        return Err(Failure::other(format!("there is no account {id}: `stats` lists the accounts")));
    };
    let text = format!("{HEAD}\n{}", row(account));
    Ok(Answer { text, json: json!({ "result": account }), is_partial: false })
}

pub(super) async fn seek(session: &mut Session, count: u32, seed: u64, watcher: Watcher<'_>) -> Outcome<Answer> {
    let last = last_id(session).await?;
    let table = table(session.dialect());
    let statement = table.statement(&table.seek());
    let (mut draw, mut timer) = (Draw::new(seed, 1), Timer::new());
    let bar = watcher.bar(count.into(), "seeking");
    let began = Instant::now();
    let (mut done, mut found, mut digest) = (0, 0, 0);
    while done < count && !watcher.must_stop() {
        let id = 1 + draw.below(last as u64) as i64;
        let started = Instant::now();
        let accounts = session.accounts(&statement, &[id.into()]).await?;
        timer.record(started.elapsed());
        for account in &accounts {
            found += 1;
            digest = digest_with(digest, account);
        }
        done += 1;
        bar.set_position(done.into());
    }
    bar.finish_and_clear();
    let timing = timer.timing();
    let text = format!("found {} of {done}: {}", counted(found, "account"), timing.sentence(began.elapsed()));
    let json = json!({ "result": { "found": found, "digest": format!("{digest:016x}") }, "timing": timing });
    Ok(Answer { text, json, is_partial: done < count }.marked())
}

/// Lines of each ranking that people are shown; JSON has them all.
const SHOWN: usize = 10;

pub(super) async fn rank(session: &mut Session, count: u32) -> Outcome<Answer> {
    let table = table(session.dialect());
    let mut lines = Vec::new();
    let (mut result, mut milliseconds) = (serde_json::Map::new(), serde_json::Map::new());
    for (by, note) in [(Ranked::Unindexed, "without an index"), (Ranked::Indexed, "with an index")] {
        let statement = table.statement(&table.rank(by));
        let started = Instant::now();
        let best = session.accounts(&statement, &[Value::Int(count.into())]).await?;
        let took = started.elapsed().as_secs_f64() * 1e3;
        let column = by.column();
        lines.push(format!("the first {} by {column}, {note}: {}", counted(best.len() as u64, "account"), fine(took)));
        lines.push(HEAD.into());
        lines.extend(best.iter().take(SHOWN).map(row));
        if best.len() > SHOWN {
            lines.push(format!("… and {} more: `--json -` lists all", best.len() - SHOWN));
        }
        result.insert(column.into(), json!(best));
        milliseconds.insert(column.into(), took.into());
    }
    let json = json!({ "result": result, "milliseconds": milliseconds });
    Ok(Answer { text: lines.join("\n"), json, is_partial: false })
}

const HEAD: &str = "        id  name               score      rating       balance";

fn row(account: &Account) -> String {
    let Account { id, name, score, rating, balance } = account;
    format!("{id:>10}  {:<12}{score:>12}{rating:>12}{balance:>14}", clean::line(name))
}

/// A number that follows from all rows in their order.
fn digest_with(digest: u64, account: &Account) -> u64 {
    let name = account.name.bytes().fold(0, |digest, byte| mix(digest ^ u64::from(byte)));
    let numbers = [account.id, account.score, account.rating, account.balance];
    numbers.iter().fold(mix(digest ^ name), |digest, number| mix(digest ^ *number as u64))
}
