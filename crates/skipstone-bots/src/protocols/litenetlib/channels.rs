//! The channels of a connection, made when they are first used.

use super::fragments::{Fragments, Joined};
use super::merge::Merge;
use super::packet::{Content, Parts};
use super::reliable_incoming::{Arrival, Order, ReliableIncoming, Stored};
use super::reliable_outgoing::ReliableOutgoing;
use super::sequence::Sequence;
use super::sequenced::{Last, Sequenced};
use crate::protocol::Delivery;
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;
use std::collections::BTreeMap;

/// All channels of a connection.
#[derive(Debug)]
pub(super) struct Channels {
    /// Channels of each kind.
    count: u8,
    mtu: usize,
    merges: bool,
    channels: BTreeMap<u8, Channel>,
    fragments: Fragments,
    fragmented: u16,
    duplicates: u64,
}

#[derive(Debug)]
enum Channel {
    Reliable(ReliableOutgoing, ReliableIncoming),
    Sequenced(Sequenced),
}

/// A message and its channel.
pub(super) type ChannelMessage = (u16, Bytes);

/// Why a packet was not taken; the worst is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PacketFault {
    /// It was dropped.
    Packet,
    /// A message is longer than the bound: it would never arrive.
    TooLong,
}

/// Kinds of channels; the wire's number of a channel is the script's times this, plus its kind.
const KINDS: u8 = 4;

/// The kind of the channel of a delivery; unreliable messages have none.
fn kind(delivery: Delivery) -> Option<u8> {
    match delivery {
        Delivery::ReliableUnordered => Some(0),
        Delivery::Sequenced => Some(1),
        Delivery::ReliableOrdered => Some(2),
        Delivery::ReliableSequenced => Some(3),
        Delivery::Unreliable => None,
    }
}

impl Channels {
    pub(super) fn new(count: u8, mtu: usize) -> Self {
        Channels {
            count,
            mtu,
            merges: true,
            channels: BTreeMap::new(),
            fragments: Fragments::default(),
            fragmented: 0,
            duplicates: 0,
        }
    }

    /// Whether reliable messages may share packets.
    pub(super) fn merging(self, merges: bool) -> Self {
        Channels { merges, ..self }
    }

    /// Queues a message that is not unreliable.
    pub(super) fn push(&mut self, channel: u8, delivery: Delivery, message: Bytes) {
        let Some(kind) = kind(delivery) else { return };
        let number = self.fragmented.wrapping_add(1);
        let is_fragmented = match self.channel(channel * KINDS + kind) {
            Some(Channel::Reliable(outgoing, _)) => outgoing.push(message, number),
            Some(Channel::Sequenced(channel)) => {
                channel.push(message);
                false
            }
            None => false,
        };
        self.fragmented = self.fragmented.wrapping_add(is_fragmented.into());
    }

    /// A packet of a channel. Appends complete messages to `out`.
    pub(super) fn on_packet(
        &mut self,
        sequence: Sequence,
        channel: u8,
        content: Content<'_>,
        out: &mut Vec<ChannelMessage>,
    ) -> Result<(), PacketFault> {
        let number = u16::from(channel / KINDS);
        match (self.channel(channel).ok_or(PacketFault::Packet)?, content) {
            (Channel::Sequenced(sequenced), Content::Message(data)) => {
                if sequenced.on_packet(sequence) {
                    out.push((number, Bytes::copy_from_slice(data)));
                }
                Ok(())
            }
            (Channel::Sequenced(_), _) => Err(PacketFault::Packet),
            (Channel::Reliable(_, incoming), content) => {
                let mut stored = Vec::new();
                match incoming.on_packet(sequence, content, &mut stored) {
                    // All of them are acknowledged: a fault of one takes no other with it, and the worst is told.
                    Arrival::New => {
                        let passed = stored.into_iter().map(|stored| self.pass_on(channel, stored, out));
                        passed.max().unwrap_or(Ok(()))
                    }
                    Arrival::Invalid => Err(PacketFault::Packet),
                    Arrival::Duplicate => {
                        self.duplicates += 1;
                        Ok(())
                    }
                }
            }
        }
    }

    /// Returns false if the acknowledgement is invalid.
    pub(super) fn on_acknowledged(&mut self, sequence: Sequence, channel: u8, bits: &[u8]) -> bool {
        match self.channels.get_mut(&channel) {
            Some(Channel::Reliable(outgoing, _)) => outgoing.on_acknowledged(sequence, bits),
            Some(Channel::Sequenced(channel)) => {
                channel.on_acknowledged(sequence);
                true
            }
            None => false,
        }
    }

    /// Whether something leaves with the next update.
    pub(super) fn is_ready(&self) -> bool {
        self.channels.values().any(|channel| match channel {
            Channel::Reliable(outgoing, incoming) => outgoing.may_send() || incoming.must_acknowledge(),
            Channel::Sequenced(channel) => channel.is_ready(),
        })
    }

    pub(super) fn resend_at(&self, resend_after: Duration) -> Option<Time> {
        let at = |channel: &Channel| match channel {
            Channel::Reliable(outgoing, _) => outgoing.resend_at(resend_after),
            Channel::Sequenced(channel) => channel.resend_at(resend_after),
        };
        self.channels.values().filter_map(at).min()
    }

    pub(super) fn flush(&mut self, now: Time, resend_after: Duration, merge: &mut Merge<'_>) {
        for channel in self.channels.values_mut() {
            match channel {
                Channel::Reliable(outgoing, incoming) => {
                    if let Some(packet) = incoming.take_acknowledgement() {
                        merge.add(&packet);
                    }
                    outgoing.flush(now, resend_after, merge);
                }
                Channel::Sequenced(channel) => channel.flush(now, resend_after, merge),
            }
        }
    }

    /// What waits or is not acknowledged, with the cost of each message.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |channel: &Channel| match channel {
            Channel::Reliable(outgoing, _) => outgoing.bytes(),
            Channel::Sequenced(channel) => channel.bytes(),
        };
        self.channels.values().map(bytes).sum()
    }

    /// Packets sent again, packets that came twice, and messages that sequenced channels left out.
    pub(super) fn retransmitted_duplicates_lost(&self) -> (u64, u64, u64) {
        self.channels.values().fold((0, self.duplicates, 0), |(again, twice, lost), channel| match channel {
            Channel::Reliable(outgoing, _) => (again + outgoing.retransmitted(), twice, lost),
            Channel::Sequenced(channel) => (again + channel.retransmitted(), twice, lost + channel.lost()),
        })
    }

    /// The channel of that number on the wire; `None` if there are fewer.
    fn channel(&mut self, number: u8) -> Option<&mut Channel> {
        let (mtu, merges) = (self.mtu, self.merges);
        let new = || {
            let outgoing = || ReliableOutgoing::new(number, mtu).merging(merges);
            let incoming = |order| ReliableIncoming::new(number, order);
            match number % KINDS {
                0 => Channel::Reliable(outgoing(), incoming(Order::Free)),
                1 => Channel::Sequenced(Sequenced::new(number, Last::Unreliable)),
                2 => Channel::Reliable(outgoing(), incoming(Order::Kept)),
                _ => Channel::Sequenced(Sequenced::new(number, Last::Reliable)),
            }
        };
        (number / KINDS < self.count).then(|| self.channels.entry(number).or_insert_with(new))
    }

    fn pass_on(&mut self, channel: u8, stored: Stored, out: &mut Vec<ChannelMessage>) -> Result<(), PacketFault> {
        let number = u16::from(channel / KINDS);
        match stored {
            Stored::Message(data) => out.push((number, data)),
            Stored::Messages(data) => {
                let mut parts = Parts::new(&data);
                out.extend(parts.by_ref().map(|part| (number, data.slice_ref(part))));
                if !parts.is_valid {
                    return Err(PacketFault::Packet);
                }
            }
            Stored::Fragment(fragment, data) => match self.fragments.on_fragment(channel, fragment, data) {
                Joined::Message(message) => out.push((number, message)),
                Joined::Waits => {}
                Joined::Invalid => return Err(PacketFault::Packet),
                Joined::TooLong => return Err(PacketFault::TooLong),
            },
        }
        Ok(())
    }
}
