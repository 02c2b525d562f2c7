//! The memory that a connection holds at the end of a day, its work in an idle hour, and its counters.

use crate::simulation::Node;
use skipstone_proto::{Endpoint, Stats, Work};

/// The memory that both sides hold, the server's first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// Timers that wait.
    pub(crate) timers: [usize; 2],
    /// Bytes that the peer makes each side hold.
    pub(crate) memory_bytes: [u64; 2],
    /// Messages and channels that wait, and bytes that wait for others or are in flight, as one sum.
    pub(crate) waiting: [u64; 2],
}

impl Holdings {
    pub(crate) fn of(server: &mut Node, client: &mut Node) -> Holdings {
        let waiting = |node: &mut Node| {
            let overview = node.overview();
            let depth = overview.depth;
            depth.messages + u64::from(depth.channels) + depth.held_bytes + u64::from(overview.bytes_in_flight)
        };
        Holdings {
            timers: [server.endpoint.work().timers, client.endpoint.work().timers],
            memory_bytes: [server.endpoint.memory_bytes(), client.endpoint.memory_bytes()],
            waiting: [waiting(server), waiting(client)],
        }
    }
}

/// The cost of an idle hour to both sides together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdleHour {
    /// Timers that expired, connections that had something to do then, and connections that were asked for something to
    /// send.
    pub(crate) wakes: u64,
    pub(crate) datagrams: u64,
}

impl IdleHour {
    /// The total costs of both endpoints so far.
    pub(crate) fn so_far(endpoints: [&Endpoint; 2], sent: (u64, u64)) -> IdleHour {
        let wakes = |Work { entries, timeouts, transmits, .. }: Work| entries + timeouts + transmits;
        IdleHour { wakes: endpoints.into_iter().map(|it| wakes(it.work())).sum(), datagrams: sent.0 + sent.1 }
    }

    pub(crate) fn since(self, before: IdleHour) -> IdleHour {
        IdleHour { wakes: self.wakes - before.wakes, datagrams: self.datagrams - before.datagrams }
    }
}

/// Whether no counter has decreased.
pub(crate) fn has_only_grown(now: &Stats, before: &Stats) -> bool {
    // A difference below zero would be cut to zero, and the sum too high.
    let mut sum = *now;
    sum.subtract(before);
    sum.add(before);
    sum == *now
}
