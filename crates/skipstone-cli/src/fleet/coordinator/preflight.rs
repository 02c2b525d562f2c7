//! Who is there, and whether they are fit for a run.

use super::super::talk::{self, Call, Card};
use skipstone_fleet::bus::{Bus, BusEvent};
use skipstone_lab::report::format::{counted, or_dash, thousands};
use skipstone_lab::signals::Signals;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long agents may take to answer, if there are not enough before.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// The call is repeated: an agent may just have started.
const CALL: Duration = Duration::from_millis(500);

/// Calls all agents; the ones that take part, in the order of their names, and a table of them for people. The error is
/// one sentence.
pub(super) fn call(bus: &Bus, run: &str, count: u32, signals: &Signals) -> Result<(Vec<Card>, String), String> {
    let cards = all(bus, run, count as usize, signals)?;
    let chosen = choose(&cards, count as usize)?;
    let table = table(&chosen);
    Ok((chosen, table))
}

/// The cards of all agents that answer, the first of which are enough.
pub(in super::super) fn all(bus: &Bus, run: &str, enough: usize, signals: &Signals) -> Result<Vec<Card>, String> {
    let inbox = format!("skipstone.load.cards.{run}");
    let answers = bus.subscribe(&inbox).map_err(|error| error.to_string())?;
    let payload = serde_json::to_vec(&Call { talk: talk::TALK_VERSION }).expect("a call has text keys");
    let (began, mut called) = (Instant::now(), None::<Instant>);
    let mut cards: BTreeMap<String, Card> = BTreeMap::new();
    let fit = |cards: &BTreeMap<String, Card>| cards.values().filter(|card| card.busy.is_none()).count();
    while began.elapsed() < ANSWER_MAX && !signals.is_set() {
        if called.is_none_or(|at| at.elapsed() >= CALL) {
            // The second round of answers tells of two agents of one name.
            if called.is_some() && fit(&cards) >= enough {
                break;
            }
            called = Some(Instant::now());
            bus.publish_with_reply(talk::CALL, &inbox, payload.clone()).map_err(|error| error.to_string())?;
        }
        match bus.wait(Duration::from_millis(20)) {
            Some(BusEvent::Message(message)) if message.subscription == answers => {
                if let Ok(talk::AgentReply::Card(card)) = serde_json::from_slice(&message.payload) {
                    cards.insert(card.instance.clone(), *card);
                }
            }
            Some(BusEvent::Refused { why }) => return Err(format!("NATS refuses: {why}")),
            _ => {}
        }
    }
    let _ = bus.unsubscribe(answers);
    Ok(cards.into_values().collect())
}

/// The first by name that are fit.
fn choose(cards: &[Card], count: usize) -> Result<Vec<Card>, String> {
    let mut sorted: Vec<&Card> = cards.iter().collect();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(format!(
            "two agents have the name {}: end one of them, or start it with another --name",
            pair[0].name
        ));
    }
    let own = env!("CARGO_PKG_VERSION");
    let other = |card: &&&Card| card.version != own || card.talk != talk::TALK_VERSION;
    let (others, same): (Vec<&Card>, Vec<&Card>) = sorted.iter().partition(|card| other(card));
    let (free, busy): (Vec<&Card>, Vec<&Card>) = same.into_iter().partition(|card| card.busy.is_none());
    if free.len() >= count {
        return Ok(free.into_iter().take(count).cloned().collect());
    }
    let names =
        |cards: &[&Card], of: fn(&Card) -> String| -> Vec<String> { cards.iter().map(|card| of(card)).collect() };
    let mut found = names(&free, |card| card.name.clone());
    found.extend(names(&busy, |card| {
        format!("{} (busy with run {})", card.name, card.busy.as_deref().unwrap_or_default())
    }));
    found.extend(names(&others, |card| match card.version == env!("CARGO_PKG_VERSION") {
        true => format!("{} (another build of version {})", card.name, card.version),
        false => format!("{} (version {}, this is {})", card.name, card.version, env!("CARGO_PKG_VERSION")),
    }));
    let found = if found.is_empty() { "none answered".to_owned() } else { format!("there are: {}", found.join(", ")) };
    Err(format!(
        "--agents {count}: {} free; {found}. Start `skipstone agent --fleet URL` on another machine, or ask for fewer",
        counted(free.len() as u64, "agent") + if free.len() == 1 { " is" } else { " are" }
    ))
}

/// What people should know of the machines.
fn table(cards: &[Card]) -> String {
    let mut text = format!("{:<20}{:>9}{:>7}{:>12}  {}\n", "Agent", "version", "cores", "open files", "machine");
    for card in cards {
        let files = or_dash(card.open_files.map(|files| files as f64), |files| thousands(files as u64));
        let machine = format!("{}, {}", card.machine.cpu, card.machine.kernel);
        text += &format!("{:<20}{:>9}{:>7}{files:>12}  {machine}\n", card.name, card.version, card.machine.cores);
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_lab::measure::machine::Machine;

    fn card(name: &str) -> Card {
        Card {
            talk: talk::TALK_VERSION,
            name: name.into(),
            instance: format!("{name}-1"),
            version: env!("CARGO_PKG_VERSION").into(),
            machine: Machine::default(),
            open_files: Some(1_024),
            allowed: Vec::new(),
            busy: None,
            kept: Vec::new(),
        }
    }

    #[test]
    fn the_first_free_agents_by_name_take_part() {
        let mut cards = ["c", "a", "d", "b"].map(card);
        cards[1].busy = Some("r".into());
        let names =
            |count| choose(&cards, count).map(|cards| cards.iter().map(|card| card.name.clone()).collect::<Vec<_>>());
        assert_eq!(names(2).unwrap(), ["b", "c"]);
        let error = names(4).unwrap_err();
        assert!(error.contains("3 agents are free") && error.contains("a (busy with run r)"), "{error}");
    }

    #[test]
    fn two_agents_of_one_name_and_other_versions_are_refused_by_name() {
        let mut cards = [card("a"), card("a")];
        cards[1].instance = "other".into();
        assert!(choose(&cards, 1).unwrap_err().contains("two agents have the name a"));
        let mut cards = [card("a"), card("b")];
        cards[0].version = "0.0.1".into();
        let error = choose(&cards, 2).unwrap_err();
        assert!(error.contains("a (version 0.0.1, this is"), "{error}");
        assert_eq!(choose(&cards, 1).unwrap()[0].name, "b");
        (cards[0].version, cards[0].talk) = (env!("CARGO_PKG_VERSION").into(), talk::TALK_VERSION - 1);
        let error = choose(&cards, 2).unwrap_err();
        assert!(error.contains("a (another build of version"), "{error}");
        assert!(choose(&[], 1).unwrap_err().contains("none answered"));
    }
}
