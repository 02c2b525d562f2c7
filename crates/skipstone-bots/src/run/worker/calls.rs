//! Calls of the bots' code, their mistakes, and the requests that they make.

use super::{Slot, Worker};
use crate::script::{BotScript, Engine, Hoard, ScriptFault};
use std::sync::atomic::Ordering;

impl Worker<'_> {
    /// Whether the bot has done what it came for.
    pub(super) fn leaves(&self, slot: usize) -> bool {
        let Slot { life, script, .. } = &self.slots[slot];
        life.leaves && script.as_ref().is_some_and(BotScript::is_done)
    }

    /// Calls the bot's code.
    pub(super) fn call(&mut self, slot: usize, call: impl FnOnce(&mut BotScript, &Engine) -> Result<(), ScriptFault>) {
        let Slot { life, script: Some(script), allocated, .. } = &mut self.slots[slot] else { return };
        self.host.enter(slot);
        let before = self.engine.memory_of(life.number);
        let called = call(script, &self.engine);
        *allocated += self.engine.memory_of(life.number) as i64 - before as i64;
        if let Err(fault) = called {
            self.fault(slot, &fault);
        }
        if self.engine.is_crowded()
            && let Some(hoard) = self.engine.find_hoard()
        {
            self.end_hoarder(hoard);
        }
    }

    /// An error of the script ends its bot.
    pub(super) fn fault(&mut self, slot: usize, fault: &ScriptFault) {
        self.host.progress.faulted.fetch_add(1, Ordering::Relaxed);
        self.host.tally.borrow_mut().count_fault(fault.to_string(), self.slots[slot].life.number);
        self.stop(slot);
    }

    /// Memory is for all: a bot that holds far more than the others ends before they have none.
    pub(super) fn end_hoarder(&mut self, hoard: Hoard) {
        let suspects = self.slots.iter().enumerate().filter(|(_, slot)| slot.script.is_some());
        let suspects = suspects.filter(|(_, slot)| hoard.may_be_of(slot.life.number));
        let Some((slot, _)) = suspects.max_by_key(|(_, slot)| slot.allocated) else { return };
        let mebibytes = hoard.bytes >> 20;
        let why = format!("the bot holds {mebibytes} MiB, far more than the others: does a table grow forever?");
        self.fault(slot, &ScriptFault::new(why));
    }

    /// Begins the requests of scripts, and gives them their answers. Those that follow from the answers begin at the
    /// next turn, so that a script which asks without end does not stop the others.
    pub(super) fn serve_requests(&mut self) {
        let requests = std::mem::take(&mut *self.host.requests.borrow_mut());
        for (ticket, request) in requests {
            self.http.start(self.host.elapsed(), ticket, request, &mut self.datagram);
        }
        self.http.handle_time(self.host.elapsed(), &mut self.datagram);
        while let Some(finished) = self.http.poll_finished() {
            self.host.note_request(&finished);
            let slot = finished.ticket.slot;
            self.call(slot, |script, engine| script.on_answer(engine, finished.ticket.number, finished.outcome));
            self.settle(slot);
        }
    }
}
