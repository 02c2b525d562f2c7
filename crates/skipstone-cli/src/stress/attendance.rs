//! The proof of a run whose clients reconnect after a restart: which clients were connected when a line was sent, and
//! what was acknowledged.
//!
//! A line counts as acknowledged when its own sender has it back: a server sends a line to all of its clients at once,
//! its sender among them. Every client connected by then must have it, even if the connection ended with a restart
//! meanwhile.

use skipstone_lab::measure::ledger::Tally;
use std::time::Duration;

/// The sessions of all clients, and the lines that they have sent and received.
#[derive(Debug, Default)]
pub(crate) struct Attendance {
    clients: Vec<Visits>,
    /// By receiver, then by sender: a bit for each line.
    got: Vec<Vec<Vec<u64>>>,
    /// Times away from one connection to the next.
    away: Vec<Duration>,
}

#[derive(Debug, Default)]
struct Visits {
    sessions: Vec<Session>,
    /// Sent lines, indexed by sequence number.
    lines: Vec<SentLine>,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    from: Duration,
    end: Option<SessionEnd>,
}

#[derive(Clone, Copy, Debug)]
struct SessionEnd {
    at: Duration,
    by_restart: bool,
}

#[derive(Clone, Copy, Debug)]
struct SentLine {
    at: Duration,
    back: Option<Duration>,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// The server said that it restarts.
    Restart,
    Lost,
}

impl Attendance {
    pub(crate) fn new(clients: usize) -> Self {
        let visits = (0..clients).map(|_| Visits::default()).collect();
        Attendance { clients: visits, got: vec![vec![Vec::new(); clients]; clients], away: Vec::new() }
    }

    /// A client is connected. Times count from the run's epoch.
    pub(crate) fn on_connected(&mut self, client: u32, at: Duration) {
        let sessions = &mut self.clients[client as usize].sessions;
        let left = sessions.last().and_then(|session| session.end);
        self.away.extend(left.map(|end| at.saturating_sub(end.at)));
        sessions.push(Session { from: at, end: None });
    }

    pub(crate) fn on_closed(&mut self, client: u32, at: Duration, departure: Departure) {
        let by_restart = departure == Departure::Restart;
        if let Some(open) = self.clients[client as usize].sessions.last_mut().filter(|session| session.end.is_none()) {
            open.end = Some(SessionEnd { at, by_restart });
        }
    }

    /// A client has sent its next line.
    pub(crate) fn on_sent(&mut self, client: u32, at: Duration) {
        self.clients[client as usize].lines.push(SentLine { at, back: None });
    }

    /// A client got a line.
    pub(crate) fn on_line(&mut self, receiver: u32, sender: u32, sequence: u32, at: Duration) {
        let Some(visits) = self.clients.get_mut(sender as usize) else { return };
        let Some(line) = visits.lines.get_mut(sequence as usize) else { return };
        if receiver == sender {
            line.back.get_or_insert(at);
        }
        let bits = &mut self.got[receiver as usize][sender as usize];
        let place = sequence as usize / 64;
        bits.resize(bits.len().max(place + 1), 0);
        bits[place] |= 1 << (sequence % 64);
    }

    fn has(&self, receiver: usize, sender: usize, sequence: usize) -> bool {
        let word = self.got[receiver][sender].get(sequence / 64);
        word.is_some_and(|word| word >> (sequence % 64) & 1 == 1)
    }

    /// Lines that came back to their senders, and lines that did not.
    pub(crate) fn acknowledged(&self) -> (u64, u64) {
        let all = self.clients.iter().flat_map(|client| &client.lines);
        let (back, not): (Vec<&SentLine>, Vec<_>) = all.partition(|line| line.back.is_some());
        (back.len() as u64, not.len() as u64)
    }

    /// How many times a client was away and came back, and the longest of these times.
    pub(crate) fn returns(&self) -> (u64, Duration) {
        (self.away.len() as u64, self.away.iter().max().copied().unwrap_or_default())
    }

    /// Lines that may still come back to their senders.
    pub(crate) fn pending(&self) -> usize {
        let open =
            |visits: &Visits| visits.sessions.last().filter(|session| session.end.is_none()).map(|open| open.from);
        let of = |visits: &Visits| {
            let from = open(visits);
            visits.lines.iter().filter(|line| line.back.is_none() && from.is_some_and(|from| line.at >= from)).count()
        };
        self.clients.iter().map(of).sum()
    }

    /// The deliveries of acknowledged lines to these receivers.
    pub(crate) fn tally(&self, is_meant: impl Fn(usize) -> bool) -> Tally {
        let mut tally = Tally::default();
        for (sender, visits) in self.clients.iter().enumerate() {
            for (sequence, line) in visits.lines.iter().enumerate() {
                let Some(back) = line.back else { continue };
                for (receiver, there) in self.clients.iter().enumerate().filter(|(receiver, _)| is_meant(*receiver)) {
                    if there.sessions.iter().any(|session| session.must_have(line.at, back)) {
                        tally.expected += 1;
                        tally.delivered += u64::from(self.has(receiver, sender, sequence));
                    }
                }
            }
        }
        tally.lost = tally.expected - tally.delivered;
        tally
    }
}

impl Session {
    /// Whether a line that was sent and came back at these times was sent to this client, too. A server that restarts
    /// delivers what it has before it closes.
    fn must_have(&self, sent: Duration, back: Duration) -> bool {
        let was_there = |end: SessionEnd| end.at >= back || end.by_restart && end.at >= sent;
        self.from <= sent && self.end.is_none_or(was_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Two connected clients, and a line of the first that came back.
    fn talk() -> Attendance {
        let mut attendance = Attendance::new(2);
        (0..2).for_each(|client| attendance.on_connected(client, ms(0)));
        attendance.on_sent(0, ms(10));
        attendance.on_line(0, 0, 0, ms(20));
        attendance
    }

    #[test]
    fn an_echoed_line_must_reach_every_connected_client() {
        let mut attendance = talk();
        attendance.on_closed(1, ms(15), Departure::Restart);
        assert_eq!((attendance.tally(|_| true).expected, attendance.tally(|_| true).lost), (2, 1));
        attendance.on_line(1, 0, 0, ms(14));
        assert_eq!(attendance.tally(|_| true).lost, 0);
    }

    #[test]
    fn no_line_is_expected_from_absent_or_lost_clients() {
        let mut attendance = talk();
        attendance.on_closed(1, ms(5), Departure::Restart);
        attendance.on_connected(1, ms(12));
        assert_eq!((attendance.tally(|_| true).expected, attendance.returns()), (1, (1, ms(7))));
        let mut attendance = talk();
        attendance.on_closed(1, ms(15), Departure::Lost);
        assert_eq!(attendance.tally(|_| true).expected, 1);
    }

    #[test]
    fn a_line_without_an_echo_is_counted_and_expected_from_no_client() {
        let mut attendance = talk();
        attendance.on_sent(0, ms(30));
        assert_eq!((attendance.acknowledged(), attendance.tally(|_| true).expected), ((1, 1), 2));
    }
}
