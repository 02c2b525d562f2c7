//! The bytes of a recording of flows: a header, then entries. Numbers are little-endian.
//!
//! ```text
//! header  "SKSFLOWS", version u16, length u16 of the server's address, the address as text
//! entry   event u8, protocol u8, flow u32, time u64 in µs since the recording began, length u32, that many bytes
//! ```
//! The last entry is the end, whose bytes say why: 0 the relay was stopped, 1 the limit of bytes was reached; then the
//! number u64 of packets that are missing because the disk was too slow. A file without it was cut off. Readers skip
//! events that they do not know; other changes raise the version.

use std::time::Duration;

/// What a file begins with.
pub(super) const MAGIC: &[u8; 8] = b"SKSFLOWS";
/// Of this form.
pub(super) const VERSION: u16 = 1;
/// Bytes of an entry before those that it carries.
pub(super) const ENTRY_BYTES: usize = 18;
/// The end.
pub(super) const END: u8 = 255;
/// Reasons of the end.
pub(super) const COMPLETE: u8 = 0;
pub(super) const FULL: u8 = 1;

/// A client's exchange with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    /// Its number among those of its protocol, from 1.
    pub number: u32,
    /// What carries it.
    pub protocol: FlowProtocol,
}

/// What carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowProtocol {
    /// Datagrams.
    Udp,
    /// A stream, in the pieces in which the relay read it.
    Tcp,
}

/// What happened at the client's end of the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEvent {
    /// A client's stream was accepted.
    Opened,
    /// The client sent these bytes.
    Up,
    /// These bytes left for the client.
    Down,
    /// The client's stream ended.
    UpEnded,
    /// The end of the server's stream reached the client.
    DownEnded,
}

const EVENTS: [FlowEvent; 5] =
    [FlowEvent::Opened, FlowEvent::Up, FlowEvent::Down, FlowEvent::UpEnded, FlowEvent::DownEnded];

impl FlowProtocol {
    /// Its name, as in URLs.
    pub fn name(self) -> &'static str {
        match self {
            FlowProtocol::Udp => "udp",
            FlowProtocol::Tcp => "tcp",
        }
    }
}

/// The header of a recording of the traffic to this server.
pub(super) fn header(server: &str) -> Vec<u8> {
    let server = &server.as_bytes()[..server.len().min(usize::from(u16::MAX))];
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((server.len() as u16).to_le_bytes());
    bytes.extend(server);
    bytes
}

/// An entry of a flow.
pub(super) fn encode(flow: FlowId, event: FlowEvent, at: Duration, payload: &[u8]) -> Vec<u8> {
    let event = EVENTS.iter().position(|own| *own == event).expect("it is one of them") as u8;
    entry(event, flow.protocol as u8, flow.number, at, payload)
}

/// The last entry.
pub(super) fn encode_end(reason: u8, missed: u64, at: Duration) -> Vec<u8> {
    let mut payload = vec![reason];
    payload.extend(missed.to_le_bytes());
    entry(END, 0, 0, at, &payload)
}

fn entry(event: u8, protocol: u8, flow: u32, at: Duration, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ENTRY_BYTES + payload.len());
    bytes.extend([event, protocol]);
    bytes.extend(flow.to_le_bytes());
    bytes.extend((at.as_micros() as u64).to_le_bytes());
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// An entry's fields before its bytes.
pub(super) struct EntryHead {
    pub(super) event: u8,
    pub(super) protocol: u8,
    pub(super) flow: u32,
    pub(super) at: Duration,
    pub(super) length: usize,
}

impl EntryHead {
    pub(super) fn decode(bytes: &[u8; ENTRY_BYTES]) -> EntryHead {
        let [event, protocol, f0, f1, f2, f3, t0, t1, t2, t3, t4, t5, t6, t7, l0, l1, l2, l3] = *bytes;
        EntryHead {
            event,
            protocol,
            flow: u32::from_le_bytes([f0, f1, f2, f3]),
            at: Duration::from_micros(u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7])),
            length: u32::from_le_bytes([l0, l1, l2, l3]) as usize,
        }
    }

    /// Flow and event, if this version knows them.
    pub(super) fn known(&self) -> Option<(FlowId, FlowEvent)> {
        let protocol = [FlowProtocol::Udp, FlowProtocol::Tcp].get(usize::from(self.protocol)).copied()?;
        let event = EVENTS.get(usize::from(self.event)).copied()?;
        Some((FlowId { number: self.flow, protocol }, event))
    }
}
