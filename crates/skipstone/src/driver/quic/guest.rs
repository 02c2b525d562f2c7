//! One QUIC connection of a client, and the session in it.

use super::session::Session;
use crate::driver::carrier::webtransport_carrier;
use quinn_proto::{Connection, ConnectionHandle, FrameStats};
use skipstone_proto::{Allowance, CoreShare, Cost, Path, Time};
use std::net::{IpAddr, SocketAddr};

pub(super) struct Guest {
    /// The shared UDP socket.
    pub(super) socket: u32,
    /// The client's original address. QUIC may migrate; the path of the protocol's connection stays.
    pub(super) remote: SocketAddr,
    /// The server's address to which the client sent, if the socket has several: QUIC answers from there.
    pub(super) local: Option<IpAddr>,
    pub(super) handle: ConnectionHandle,
    pub(super) quic: Connection,
    pub(super) session: Session,
    pub(super) stage: Stage,
    pub(super) until: Time,
    /// The entry in the list of deadlines: never later than the next deadline.
    pub(super) due: Time,
    /// Bytes of a packet, as reported to the protocol.
    pub(super) packet_bytes: u16,
    /// Bytes of the datagram that was passed to QUIC last and has no packet yet; 0 if all have one.
    pub(super) newest_bytes: usize,
    /// It is in the list of guests with new events.
    pub(super) is_unsettled: bool,
    /// The client's budget of the driver's work.
    pub(super) allowance: Allowance,
    /// Frames that were counted.
    pub(super) frames: u64,
    /// Memory of its streams, as reported to the protocol.
    pub(super) held_bytes: usize,
    /// QUIC has forgotten the connection.
    pub(super) is_drained: bool,
}

/// The stage of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Its handshake began without a proof of its address.
    Stranger,
    /// Its address is proven; it has no session yet.
    Proven,
    /// It has a session without a connection of the protocol.
    Open,
    /// The protocol has answered it: it is a client, whatever the answer.
    Answered,
    Connected,
    /// It is being notified that the session has ended.
    Closing,
}

/// Share of a core for a client without a session.
const STRANGERS_SHARE: CoreShare = CoreShare { per_micro: Cost::nanos(10), burst: Cost::micros(8_000) };
/// Share for a client with a session: a page at 500 datagrams a second uses a fiftieth of it.
const CLIENTS_SHARE: CoreShare = CoreShare { per_micro: Cost::nanos(100), burst: Cost::micros(20_000) };
/// CRYPTO frames of a client. QUIC keeps each piece of a handshake whose beginning is missing: 90 KB of one client with
/// 2,000 pieces. Chromium cuts a ClientHello into some ten pieces, and may repeat them.
const HANDSHAKE_PIECES_MAX: u64 = 256;
/// A datagram that is opened and read.
const DATAGRAM: Cost = Cost::nanos(3_000);
/// A frame in it.
const FRAME: Cost = Cost::nanos(300);

impl Guest {
    /// Whether the client's budget allows more work now: a datagram beyond it is lost, as on a full path.
    pub(super) fn may_be_heard(&mut self, now: Time) -> bool {
        let share = if self.stage < Stage::Open { &STRANGERS_SHARE } else { &CLIENTS_SHARE };
        self.allowance.left(now, share).is_left()
    }

    /// Charges a datagram that was handled, with its frames, and returns what it cost.
    pub(super) fn charge(&mut self) -> Cost {
        let frames = frames_of(&self.quic.stats().frame_rx);
        let cost = DATAGRAM + FRAME * (frames - self.frames);
        self.frames = frames;
        self.allowance.charge(cost);
        cost
    }

    /// Whether the client has cut its handshake into more pieces than any client would.
    pub(super) fn is_in_pieces(&self) -> bool {
        self.quic.stats().frame_rx.crypto > HANDSHAKE_PIECES_MAX
    }

    pub(super) fn path(&self, number: u32) -> Path {
        Path { socket: number, local: self.local, remote: self.remote, carrier: webtransport_carrier(&self.remote) }
    }

    /// Bytes of a packet that the session currently accepts; `None` without a session.
    pub(super) fn packet_bytes(&mut self) -> Option<u16> {
        let prefix = Some(self.session.prefix().len()).filter(|bytes| *bytes > 0)?;
        let bytes = self.quic.datagrams().max_size()?.saturating_sub(prefix);
        Some(u16::try_from(bytes).unwrap_or(u16::MAX))
    }
}

/// Frames of all kinds that cost something.
fn frames_of(stats: &FrameStats) -> u64 {
    let FrameStats { acks, crypto, data_blocked, datagram, max_data, max_stream_data, ping, .. } = *stats;
    let FrameStats { new_connection_id, new_token, path_challenge, path_response, reset_stream, .. } = *stats;
    let FrameStats { retire_connection_id, stop_sending, stream, stream_data_blocked, .. } = *stats;
    let FrameStats { immediate_ack, ack_frequency, .. } = *stats;
    let FrameStats { max_streams_bidi, max_streams_uni, streams_blocked_bidi, streams_blocked_uni, .. } = *stats;
    let of_data = acks + crypto + data_blocked + datagram + max_data + max_stream_data + ping;
    let of_paths = new_connection_id + new_token + path_challenge + path_response + reset_stream;
    let of_streams = retire_connection_id + stop_sending + stream + stream_data_blocked + immediate_ack + ack_frequency;
    of_data + of_paths + of_streams + max_streams_bidi + max_streams_uni + streams_blocked_bidi + streams_blocked_uni
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest").field("remote", &self.remote).field("stage", &self.stage).finish_non_exhaustive()
    }
}
