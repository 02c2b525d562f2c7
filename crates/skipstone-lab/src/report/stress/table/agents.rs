//! The rows of a run's machines, and the precision of their clocks.

use crate::report::format::{milliseconds, or_dash, percent, thousands};
use crate::report::stress::result::{AgentResult, Fleet, FleetClock};
use crate::report::{Cell, Page, Tone};

/// A row for each agent, beneath the figures; none for one process that followed a fleet's clock.
pub(super) fn rows(page: &mut Page, fleet: &Fleet) {
    if fleet.agents.is_empty() {
        return;
    }
    let heads = ["clients", "delivered", "lost", "p99", "late", "CPU"];
    page.row("Agent", NAME_COLUMNS, heads.iter().map(|head| Cell::right(head, CELL_COLUMNS).toned(Tone::Faint)));
    for agent in &fleet.agents {
        let name: String = agent.name.chars().take(NAME_COLUMNS - 1).collect();
        page.row(&name, NAME_COLUMNS, cells(agent));
    }
    page.blank();
}

fn cells(agent: &AgentResult) -> Vec<Cell> {
    let Some(generator) = agent.generator.filter(|_| agent.lost.is_none()) else {
        let clients = Cell::right(thousands(agent.clients.asked), CELL_COLUMNS);
        return vec![clients, Cell::right("LOST", CELL_COLUMNS).toned(Tone::Bad)];
    };
    let (clients, messages) = (&agent.clients, &agent.messages);
    let right = |text: String| Cell::right(text, CELL_COLUMNS);
    vec![
        narrow(clients.connected, clients.connected < clients.asked || clients.dropped > 0),
        narrow(messages.delivered, false),
        narrow(messages.lost, messages.lost > 0),
        right(or_dash(agent.latency_ms.and_then(|latency| latency.p99), milliseconds)),
        narrow(generator.late_sends, false),
        right(or_dash(generator.cpu_percent, percent)),
    ]
}

fn narrow(count: u64, is_bad: bool) -> Cell {
    let cell = Cell::right(thousands(count), CELL_COLUMNS);
    if is_bad { cell.toned(Tone::Bad) } else { cell }
}

/// The precision of the clocks, and the excused deliveries.
pub(super) fn notes(fleet: &Fleet) -> Vec<(&'static str, String)> {
    let by = match fleet.clock {
        FleetClock::Server => "the server's clock",
        FleetClock::Coordinator => "the coordinator's clock, since the server tells none",
    };
    let same = fleet.latency_same_agent_ms.and_then(|latency| latency.p99);
    let same = same.map_or(String::new(), |p99| format!("; p99 within an agent {}", milliseconds(p99)));
    let mut notes = vec![(
        "Clocks",
        format!(
            "by {by}, at most {} apart; latencies below ten times that are withheld{same}",
            milliseconds(fleet.clock_error_ms)
        ),
    )];
    let lost: Vec<&AgentResult> = fleet.agents.iter().filter(|agent| agent.lost.is_some()).collect();
    if !lost.is_empty() {
        let told = |agent: &&AgentResult| {
            format!("{} ({}; {})", agent.name, agent.numbers, agent.lost.as_deref().unwrap_or_default())
        };
        let names: Vec<String> = lost.iter().map(told).collect();
        notes.push((
            "Excused",
            format!("{} deliveries by or to the clients of {}", thousands(fleet.deliveries_excused), names.join(", ")),
        ));
    }
    let logs: Vec<String> =
        fleet.agents.iter().filter_map(|agent| Some(format!("{}: {}", agent.name, agent.qlog.as_ref()?))).collect();
    if !logs.is_empty() {
        notes.push(("Packets", format!("logged on each agent's machine, {}", logs.join(", "))));
    }
    notes
}

const NAME_COLUMNS: usize = 14;
const CELL_COLUMNS: usize = 11;
