//! In place of `travel` in a build without fleets: no client moves.

use super::audience::Audience;
use super::game::Game;
use super::input::LoopEvent;
use super::restart::DrainPhase;
use super::visit::Visit;
use bytes::Bytes;
use skipstone::{Group, PeerId};
use skipstone_lab::workload::LINES;

impl Game {
    pub(super) fn poll_input(&mut self) -> Option<LoopEvent> {
        self.server.poll_event().map(LoopEvent::Server)
    }

    pub(super) fn enter_chat(&mut self, _: PeerId) {}

    pub(super) fn on_closed_move(&mut self, _: PeerId) -> Option<Visit> {
        None
    }

    pub(super) fn broadcast_line(&mut self, _: PeerId, line: &Bytes) {
        self.send_blocking(|server| server.broadcast(Group::EVERYONE, LINES, line.clone()).map(drop));
    }

    pub(super) fn tick_node(&mut self, _: &Audience) {}

    pub(super) fn drain_phase(&self) -> DrainPhase {
        DrainPhase::Nothing
    }

    pub(super) fn begin_drain(&mut self, _: &Audience) {}

    pub(super) fn end_drain(&mut self) {}

    pub(super) fn why_no_drain(&self) -> Option<String> {
        None
    }

    pub(super) fn elsewhere(&mut self) -> Option<String> {
        None
    }

    pub(super) fn move_one(&mut self, _: &str) -> Result<String, String> {
        Err("this build has no fleets".into())
    }
}
