//! The process of an agent's bots: `bots --part`.

use crate::stress::lead::{AgreedStart, Kept, Lead, LeadWord, PartNews, Ready, tell};
use crate::stress::view::Figures;
use skipstone_bots::{BotsArguments, BotsPart, PartSecond};
use skipstone_lab::measure::process::{Probe, Sample};
use skipstone_lab::report::Exit;
use skipstone_lab::report::stress::evidence::ClockEvidence;
use skipstone_lab::report::stress::live::Phase;
use skipstone_lab::signals::Signals;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Plays the part that the parent process asks for.
pub(crate) fn run(arguments: &BotsArguments, part: &str) -> Exit {
    let prepared = Signals::watch_as_child().and_then(|signals| {
        let order = serde_json::from_str(part).map_err(|error| format!("--part: {error}"))?;
        Ok((BotsPart::prepare(arguments, order)?, signals))
    });
    let ended = prepared.and_then(|(part, signals)| play(&part, &signals));
    if let Err(sentence) = &ended {
        tell(&PartNews::Failed(sentence.clone()));
    }
    Exit::of("bots", ended)
}

fn play(part: &BotsPart, signals: &Signals) -> Result<Exit, String> {
    let lead = Lead::listen(signals.clone());
    // Bots connect after the start, as they do in one process.
    tell(&PartNews::Ready(Ready { connected: 0, asked: part.lives(), why: None, server_clock_us: None }));
    let Some(start) = await_start(&lead, signals)? else { return Ok(Exit::Interrupted) };
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch_unix = unix + start.epoch.saturating_duration_since(Instant::now());
    let clock = ClockEvidence {
        by: start.by,
        error_us: start.error.as_micros() as u64,
        epoch_unix_us: epoch_unix.as_micros() as u64,
    };
    let own = Probe::of_self();
    let mut before = own.sample().map(|sample| (Instant::now(), sample));
    let evidence = part.play(start.epoch, clock, signals, |second| {
        let now = own.sample().map(|sample| (Instant::now(), sample));
        let cpu_percent = now.zip(before).map(|(now, before)| cpu_percent(now, before));
        before = now;
        let figures = Figures { cpu_percent, ..figures(part.lives(), &second) };
        tell(&PartNews::Progress(serde_json::to_value(figures).expect("figures have text keys")));
    })?;
    let bytes = evidence.write(part.evidence_path())?;
    let [sent, received, clients_dropped, late_sends] = evidence.totals();
    tell(&PartNews::Kept(Kept { bytes, sent, received, clients_dropped, late_sends }));
    Ok(if signals.is_set() { Exit::Interrupted } else { Exit::Pass })
}

/// Waits for the word; `None` if the parent has ended.
fn await_start(lead: &Lead, signals: &Signals) -> Result<Option<AgreedStart>, String> {
    loop {
        if let Some(LeadWord::Start(at)) = lead.poll() {
            return at.agree(None).map(Some);
        }
        if signals.is_set() {
            return Ok(None);
        }
        std::thread::sleep(STEP);
    }
}

fn figures(lives: u64, now: &PartSecond) -> Figures {
    Figures {
        phase: Phase::Running,
        clients_asked: lives,
        clients_connected: now.second.connected,
        clients_dropped: now.faulted,
        sent_per_second: now.second.sent,
        delivered_per_second: now.second.received,
        delivered: now.received,
        ..Figures::default()
    }
}

fn cpu_percent((now, sample): (Instant, Sample), (then, before): (Instant, Sample)) -> f64 {
    sample.since(&before, now - then).cpu_percent
}

/// How late the word may be heard; the start is later by more.
const STEP: Duration = Duration::from_millis(2);
