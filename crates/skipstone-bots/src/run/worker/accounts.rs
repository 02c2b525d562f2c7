//! What a worker writes down beside the bots' own measures: lateness, round trips, and what viewers see.

use super::super::link::Link;
use super::super::tally::Tally;
use super::super::timers::TimerKind;
use super::{Slot, Worker};
use std::time::Duration;

impl Worker<'_> {
    /// What was due before the end and did not happen any more is late: a worker that stands still until the end has
    /// not kept its schedule.
    pub(super) fn note_overdue(&mut self) {
        let (now, end) = (self.host.elapsed(), self.plan.duration);
        if now < end {
            // The run was interrupted.
            return;
        }
        while let Some((due, kind, slot)) = self.timers.take_due(end) {
            let is_kept = match kind {
                TimerKind::Start | TimerKind::Beat => true,
                TimerKind::Tick => self.host.links.borrow()[slot].is_connected,
                TimerKind::Wake => self.slots[slot].wake.rings(due),
                TimerKind::Resume => self.slots[slot].resume.rings(due),
                TimerKind::Deadline | TimerKind::Stop | TimerKind::Sample => false,
            };
            if is_kept && due < end {
                self.note(due, now);
            }
        }
    }

    /// Bots that the end of the run found on their way: they say nothing about the server.
    pub(super) fn count_cut_off(&mut self) {
        let (now, links) = (self.host.elapsed(), self.host.links.borrow());
        let is_on_its_way = |(slot, link): (&Slot, &Link)| {
            let has_just_begun = link.connecting_since.is_some_and(|since| now.saturating_sub(since) < CUT_OFF_MAX);
            slot.script.is_some() && !link.was_connected && (link.connections == 0 || has_just_begun)
        };
        let count = self.slots.iter().zip(links.iter()).filter(|both| is_on_its_way(*both)).count();
        self.host.tally.borrow_mut().cut_off += count as u64;
    }

    /// Estimates of the round-trip time, one of each bot.
    pub(super) fn sample(&mut self) {
        let tally = &mut *self.host.tally.borrow_mut();
        for link in self.host.links.borrow_mut().iter_mut().filter(|link| link.is_connected) {
            let figures = link.socket.as_mut().map(|socket| socket.protocol().figures());
            if let Some(rtt) = figures.and_then(|figures| figures.rtt) {
                tally.rtt.record(rtt.as_micros() as u64);
            }
        }
    }

    /// Tells viewers what was found so far, the traffic of open connections included.
    pub(super) fn publish(&self) {
        if !self.host.progress.is_published() {
            return;
        }
        let (calls, in_scripts) = self.engine.cost();
        let mut tally = self.host.tally.borrow_mut().without_bots();
        for socket in self.host.links.borrow_mut().iter_mut().filter_map(|link| link.socket.as_mut()) {
            tally.socket += socket.counts();
            tally.protocol += socket.protocol().figures().counts;
        }
        let memory_bytes = self.engine.memory_bytes() as u64;
        self.host.progress.publish(Tally { calls, in_scripts, memory_bytes, ..tally });
    }

    pub(super) fn note(&self, due: Duration, now: Duration) {
        self.host.tally.borrow_mut().lateness.note(due, now);
    }
}

/// A connection that has taken longer at the end of the run was not made.
const CUT_OFF_MAX: Duration = Duration::from_secs(1);
