//! `bots --fleet`: scripted bots, on other machines.

use super::super::load::{BotsLoad, Load};
use super::super::talk;
use super::gather::Gathered;
use super::leading::{Coordinator, Display, Led};
use super::no_verdict::NoVerdict;
use crate::fleet_flags::FleetArguments;
use crate::stress::view::Viewer;
use skipstone_bots::{BotsArguments, BotsEvidence, LedBots, conclude};
use skipstone_lab::report::Exit;
use skipstone_lab::signals::Signals;
use std::time::Duration;

/// Runs as the flags say.
pub(crate) fn run(arguments: &BotsArguments, flags: &FleetArguments) -> Exit {
    let prepared = Signals::watch().and_then(|signals| Ok((LedBots::of(arguments)?, signals)));
    let ended = prepared.map_err(|sentence| (Exit::BadConfiguration, sentence));
    let ended = ended.and_then(|(led, signals)| match led {
        Some(led) => lead(&led, flags, signals),
        None => Ok(Exit::Pass),
    });
    ended.unwrap_or_else(|(exit, sentence)| exit.told("bots", sentence))
}

fn lead(bots: &LedBots, flags: &FleetArguments, signals: Signals) -> Result<Exit, NoVerdict> {
    let led = Led {
        command: "bots",
        clients: bots.bots(),
        // They begin after the start.
        ramp: Duration::ZERO,
        duration: bots.duration(),
        offered_per_second: 0.0,
        servers: bots.server().map_err(|sentence| (Exit::BadConfiguration, sentence))?.into_iter().collect(),
        viewer: if bots.is_quiet() { Viewer::Nobody } else { Viewer::People },
        display: Display::Bots,
    };
    let mut coordinator = Coordinator::assemble(led, flags, signals)?;
    let roster = bots.roster(coordinator.run(), coordinator.names().collect(), flags.tolerate);
    let agents = roster.agents.len();
    coordinator.view.say(&bots.text(&roster.run, agents));
    coordinator.give(bots.bundle().bytes())?;
    let part = |agent| Load::Bots(Box::new(BotsLoad { roster: roster.clone(), agent }));
    let (gathered, ending) = coordinator.play((0..agents).map(part).collect())?;
    coordinator.view.end_line();
    let Gathered { evidence, lost } = gathered.read::<BotsEvidence>();
    conclude(&roster, evidence, &lost, ending, bots.place()).map_err(|sentence| (Exit::Invalid, sentence))
}

impl Coordinator {
    /// Hands all agents the script, before their parts.
    fn give(&mut self, bundle: &[u8]) -> Result<(), NoVerdict> {
        let bytes_max = self.party.nats.bus.server().map_or(talk::PIECE_BYTES, |server| server.payload_bytes_max / 2);
        let bytes_max = bytes_max.clamp(1, talk::PIECE_BYTES);
        for agent in 0..self.party.agents.len() {
            for (piece, from) in bundle.chunks(bytes_max).zip((0..).step_by(bytes_max)) {
                let given = self.party.give(agent, from, piece);
                given.map_err(|why| self.abandon(why))?;
                if self.signals.is_set() {
                    let (_, sentence) = self.abandon("interrupted".into());
                    return Err((Exit::Interrupted, sentence));
                }
            }
        }
        Ok(())
    }
}
