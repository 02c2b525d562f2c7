//! Sends lines that are due, and changes ports whose time it is.

use super::Generator;
use super::client::ClientState;
use skipstone::SendRefusal;
use skipstone_lab::units::{Rate, Span};
use skipstone_lab::workload::LINES;
use std::time::Duration;

impl Generator<'_> {
    /// When the next line is due, since the epoch; `None` when all of the run's lines are.
    pub(crate) fn next_due(&self, rate: Rate, until: Duration) -> Option<Duration> {
        let (round, client) = self.schedule.next;
        let number = self.clients.get(client as usize)?.number;
        let offset = rate.interval().mul_f64(f64::from(number) / f64::from(self.plan.part.total));
        let due = rate.due(round) + offset;
        (due < until).then_some(due)
    }

    /// Sends every line that is due by now.
    pub(crate) fn send_due(&mut self, rate: Rate, until: Duration) {
        while let Some(due) = self.next_due(rate, until) {
            let now = self.epoch.elapsed();
            if due > now {
                break;
            }
            let (round, number) = self.schedule.next;
            self.schedule.next =
                if (number as usize) + 1 < self.clients.len() { (round, number + 1) } else { (round + 1, 0) };
            self.send_line(number, due, now);
        }
        self.pool.flush();
    }

    fn send_line(&mut self, number: u32, due: Duration, now: Duration) {
        let client = &self.clients[number as usize];
        let (ClientState::Connected, Some(peer)) = (client.state, client.peer) else { return };
        self.schedule.plan(1, now);
        let sequence = self.sent[number as usize];
        self.plan.sentences.write(client.number, sequence, due.as_micros() as u64, &mut self.line);
        if let Err(error) = self.pool.send(peer, LINES, self.line.clone()) {
            // A client learns of the end of its connection by an event.
            if error.reason != SendRefusal::NotConnected {
                *self.refused_sends.entry(error.to_string()).or_default() += 1;
            }
            return;
        }
        self.sent[number as usize] += 1;
        self.schedule.note(due, now);
        let at = self.epoch.elapsed();
        self.attendance.iter_mut().for_each(|attendance| attendance.on_sent(number, at));
    }

    /// Changes the ports that are due: each client's once in the plan's span, one after the other.
    pub(crate) fn roam_due(&mut self) -> Result<(), String> {
        let Some(Span(span)) = self.plan.flags.roam else { return Ok(()) };
        let count = self.clients.len() as u32;
        loop {
            let (round, number) = self.next_move;
            let due = span * round + span.mul_f64(f64::from(number) / f64::from(count));
            if due > self.epoch.elapsed() {
                return Ok(());
            }
            self.next_move = if number + 1 < count { (round, number + 1) } else { (round + 1, 0) };
            let client = &self.clients[number as usize];
            if let (ClientState::Connected, Some(peer)) = (client.state, client.peer) {
                let moved = self.pool.rebind(peer).map_err(|error| format!("no socket for a new port: {error}"))?;
                self.moves += u64::from(moved);
            }
        }
    }
}
