//! `stress --fleet`: clients that send lines, on other machines.

use super::super::load::{Load, StressLoad};
use super::super::order::LoadOrder;
use super::conclusion;
use super::leading::{Coordinator, Display, Led};
use super::no_verdict::NoVerdict;
use crate::fleet_flags::FleetArguments;
use crate::stress::plan::{Plan, fresh_run};
use crate::stress::view::Viewer;
use crate::stress::{StressArguments, end_with_parent};
use skipstone_lab::report::stress::roster::Roster;
use skipstone_lab::report::{Exit, output};
use skipstone_lab::signals::Signals;

/// Runs as the flags say.
pub(crate) fn run(arguments: &StressArguments) -> Exit {
    let signals = if arguments.piped { Signals::watch_as_child() } else { Signals::watch() };
    if let (true, Ok(signals)) = (arguments.piped, &signals) {
        end_with_parent(signals.clone());
    }
    let prepared = signals.and_then(|signals| Ok((Plan::from(arguments)?, signals)));
    let ended = prepared.map_err(|sentence| (Exit::BadConfiguration, sentence));
    let ended = ended.and_then(|(plan, signals)| lead(&plan, &arguments.fleet, signals));
    ended.unwrap_or_else(|(exit, sentence)| {
        if arguments.piped {
            output::say(serde_json::json!({ "failed": sentence }));
        }
        exit.told("stress", sentence)
    })
}

fn lead(plan: &Plan, flags: &FleetArguments, signals: Signals) -> Result<Exit, NoVerdict> {
    let bad = |sentence: String| (Exit::BadConfiguration, sentence);
    let order = LoadOrder::of(&plan.flags, plan.seed).map_err(bad)?;
    let viewer = match (plan.flags.piped, plan.flags.quiet) {
        (true, _) => Viewer::Parent,
        (false, true) => Viewer::Nobody,
        (false, false) => Viewer::People,
    };
    let led = Led {
        command: "stress",
        clients: plan.clients,
        ramp: plan.flags.ramp.0,
        duration: plan.flags.duration.0,
        offered_per_second: plan.flags.rate.per_second() * f64::from(plan.clients),
        servers: vec![order.server().map_err(bad)?],
        viewer,
        display: Display::Lines,
    };
    let mut coordinator = Coordinator::assemble(led, flags, signals)?;
    let mut roster = Roster {
        run: coordinator.run().to_owned(),
        seed: plan.seed,
        mix: plan.mix.clone(),
        agents: Vec::new(),
        tolerate: flags.tolerate,
        plan: plan.words.clone(),
        thresholds: plan.flags.threshold.iter().map(ToString::to_string).collect(),
        command: std::env::args().collect(),
    };
    roster.divide(coordinator.names());
    let agents = roster.agents.len();
    coordinator.view.say(&format!(
        "run {}: {} clients on {agents} agents, each {} for {}, lines of size {}, seed {}",
        roster.run, plan.clients, plan.words.rate, plan.flags.duration, plan.words.size, plan.seed
    ));
    let (lines, has_report) = (fresh_run(), plan.report.is_some());
    let part = |agent| StressLoad { order: order.clone(), roster: roster.clone(), agent, lines, has_report };
    let loads = (0..agents).map(|agent| Load::Stress(Box::new(part(agent)))).collect();
    let (gathered, ending) = coordinator.play(loads)?;
    conclusion::show(&roster, &gathered.read(), ending, (plan.report.as_ref(), &plan.sink), viewer)
}
