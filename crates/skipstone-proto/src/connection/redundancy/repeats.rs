//! Messages that are repeated in the packets after their own, before an acknowledgement or loss is known: small urgent
//! messages, such as a player's inputs. A lost message arrives with the next packet.

use crate::recovery::Record;
use std::collections::VecDeque;

/// The new messages of the last packets of a class.
#[derive(Debug)]
pub(super) struct Repeats {
    /// Number of these packets, and so how often a message is repeated.
    times: u8,
    pub(super) records: VecDeque<Record>,
    /// Number of records of each of the packets.
    packets: VecDeque<usize>,
}

impl Repeats {
    pub(super) fn new(times: u8) -> Self {
        Repeats { times, records: VecDeque::new(), packets: VecDeque::new() }
    }

    /// Adds a packet with these new messages. `forget` is called for those that no later packet repeats.
    pub(super) fn on_packet(&mut self, new: impl Iterator<Item = Record>, forget: impl FnMut(Record)) {
        if self.packets.len() >= usize::from(self.times) {
            let oldest = self.packets.pop_front().unwrap_or(0);
            self.records.drain(..oldest).for_each(forget);
        }
        let before = self.records.len();
        self.records.extend(new);
        self.packets.push_back(self.records.len() - before);
    }
}
