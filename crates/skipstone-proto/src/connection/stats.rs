//! Counters of a connection: 64 bits each, the same for every carrier, never decreasing.

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flow {
    /// Datagrams.
    pub datagrams: u64,
    /// Messages of the application.
    pub messages: u64,
    /// Bytes of those messages, each counted once.
    pub payload_bytes: u64,
    /// Bytes of the datagrams: payload, and the overhead of the protocol.
    pub datagram_bytes: u64,
    /// Bytes of the datagrams with IP and carrier headers.
    pub ip_bytes: u64,
}

impl Flow {
    /// Bytes on the wire beyond the payload, in percent of the payload; `None` without payload.
    pub fn overhead_percent(&self) -> Option<f64> {
        (self.payload_bytes > 0).then(|| (self.ip_bytes as f64 / self.payload_bytes as f64 - 1.0) * 100.0)
    }

    fn each(&mut self, other: &Flow, change: &mut impl FnMut(&mut u64, u64)) {
        change(&mut self.datagrams, other.datagrams);
        change(&mut self.messages, other.messages);
        change(&mut self.payload_bytes, other.payload_bytes);
        change(&mut self.datagram_bytes, other.datagram_bytes);
        change(&mut self.ip_bytes, other.ip_bytes);
    }
}

/// Counters of a connection, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Packets and bytes sent.
    pub sent: Flow,
    /// Packets and bytes received and authenticated.
    pub received: Flow,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Packets declared lost whose acknowledgement came later.
    pub packets_spurious: u64,
    /// Messages and fragments retransmitted.
    pub resent: u64,
    /// Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
    pub probes: u64,
    /// Acknowledgements that the peer says to have held back for longer than the settings allow: its machine paused, or an
    /// earlier one with the same news was lost, or it does not keep to them.
    pub acks_overdue: u64,
    /// Times that the connection moved to a new address.
    pub paths_changed: u64,
    /// New addresses that did not prove to be the peer's.
    pub paths_refused: u64,
    /// Black holes: times that large datagrams were lost on the path, so that only small ones are sent.
    pub black_holes: u64,
    /// Redundancy: its cost, and the packets that it recovered.
    pub redundancy: RedundancyStats,
    /// Messages refused or dropped by a full queue.
    pub queue_overflows: u64,
    /// Why datagrams, packets and messages were dropped.
    pub drops: Drops,
}

impl Stats {
    /// Subtracts earlier counters. A connection that has ended takes its counters with it, so no counter falls below
    /// zero.
    pub fn subtract(&mut self, before: &Stats) {
        self.each(before, |mine, before| *mine = mine.saturating_sub(before));
    }

    /// Adds another connection's counters.
    pub fn add(&mut self, other: &Stats) {
        self.each(other, |mine, theirs| *mine += theirs);
    }

    /// Applies `change` to every counter, with the same counter of `other`.
    fn each(&mut self, other: &Stats, mut change: impl FnMut(&mut u64, u64)) {
        let Stats { sent, received, redundancy, .. } = self;
        sent.each(&other.sent, &mut change);
        received.each(&other.received, &mut change);
        redundancy.each(&other.redundancy, &mut change);
        change(&mut self.packets_lost, other.packets_lost);
        change(&mut self.packets_spurious, other.packets_spurious);
        change(&mut self.resent, other.resent);
        change(&mut self.probes, other.probes);
        change(&mut self.acks_overdue, other.acks_overdue);
        change(&mut self.paths_changed, other.paths_changed);
        change(&mut self.paths_refused, other.paths_refused);
        change(&mut self.black_holes, other.black_holes);
        change(&mut self.queue_overflows, other.queue_overflows);
        self.drops.0.iter_mut().zip(other.drops.0).for_each(|(mine, theirs)| change(mine, theirs));
    }
}

/// Redundancy: its cost, and the packets that it recovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedundancyStats {
    /// Repair packets sent.
    pub repairs_sent: u64,
    /// Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages of
    /// earlier ones.
    pub copies_sent: u64,
    /// Bytes of these, IP headers included, and of messages repeated.
    pub bytes_sent: u64,
    /// Packets sent here that were lost and that the peer recovered, each without waiting for a round trip.
    pub packets_recovered_by_peer: u64,
    /// Packets of the peer that were lost and recovered here.
    pub packets_recovered: u64,
}

impl RedundancyStats {
    fn each(&mut self, other: &RedundancyStats, change: &mut impl FnMut(&mut u64, u64)) {
        change(&mut self.repairs_sent, other.repairs_sent);
        change(&mut self.copies_sent, other.copies_sent);
        change(&mut self.bytes_sent, other.bytes_sent);
        change(&mut self.packets_recovered_by_peer, other.packets_recovered_by_peer);
        change(&mut self.packets_recovered, other.packets_recovered);
    }
}

/// Why something that arrived was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// Not a datagram of ours, or cut short.
    Malformed,
    /// No connection has this id.
    UnknownConnection,
    /// The connection uses another path.
    WrongPath,
    /// Damaged, or sealed with another key.
    NotAuthentic,
    /// The packet's number was opened before.
    Replay,
    /// A frame that is invalid, or not allowed in this state.
    BadFrame,
    /// The peer sent more than it was allowed to.
    WindowExceeded,
    /// A handshake with an expired or wrong cookie.
    BadCookie,
    /// No version or suite in common.
    NoCommonVersion,
    /// A client that came, or was accepted, when every place for a player was taken; or that came while the application was so far
    /// behind with its events that they filled the memory budget.
    Full,
    /// A message that had arrived before.
    DuplicateMessage,
    /// A message of a sequenced channel that came after a newer one.
    StaleMessage,
    /// An unreliable message whose fragments did not all come in time.
    IncompleteMessage,
    /// The queue of stateless answers is full.
    TooManyReplies,
    /// An invalid repair, or an invalid packet recovered with a repair.
    BadRepair,
    /// A suite that this side did not offer: a possible downgrade attack.
    WrongSuite,
    /// Handshake bytes that are invalid, or not allowed in this state.
    BadHandshake,
    /// A sealed packet that arrived before its keys were available, or a message that overtook the server's ACCEPT. Both are sent again.
    TooEarly,
    /// Longer than the settings allow.
    TooLong,
    /// An encrypted handshake that could not begin, or was removed, because too many are pending or began in this second, or too many of
    /// its host's failed. And a client, encrypted or not, that could not begin, because too many of all clients, or of its network, were
    /// not accepted yet, because so much is closing, or because no id is left. The client repeats its OPEN.
    TooManyHandshakes,
    /// A query without an answer: the application has set none, or the query is shorter than the answer.
    UnansweredQuery,
    /// An unreliable message that the server's inbound rules do not allow.
    InboundRule,
    /// A message that the application had not polled when its connection was closed for exceeding a memory budget.
    OverBudget,
    /// A client that came, or was accepted, when its network had as many players as it may.
    NetworkFull,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [DropReason; 24] = [
        DropReason::Malformed,
        DropReason::UnknownConnection,
        DropReason::WrongPath,
        DropReason::NotAuthentic,
        DropReason::Replay,
        DropReason::BadFrame,
        DropReason::WindowExceeded,
        DropReason::BadCookie,
        DropReason::NoCommonVersion,
        DropReason::Full,
        DropReason::DuplicateMessage,
        DropReason::StaleMessage,
        DropReason::IncompleteMessage,
        DropReason::TooManyReplies,
        DropReason::BadRepair,
        DropReason::WrongSuite,
        DropReason::BadHandshake,
        DropReason::TooEarly,
        DropReason::TooLong,
        DropReason::TooManyHandshakes,
        DropReason::UnansweredQuery,
        DropReason::InboundRule,
        DropReason::OverBudget,
        DropReason::NetworkFull,
    ];

    /// Its name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Malformed => "malformed",
            DropReason::UnknownConnection => "unknown_connection",
            DropReason::WrongPath => "wrong_path",
            DropReason::NotAuthentic => "not_authentic",
            DropReason::Replay => "replay",
            DropReason::BadFrame => "bad_frame",
            DropReason::WindowExceeded => "window_exceeded",
            DropReason::BadCookie => "bad_cookie",
            DropReason::NoCommonVersion => "no_common_version",
            DropReason::Full => "full",
            DropReason::DuplicateMessage => "duplicate_message",
            DropReason::StaleMessage => "stale_message",
            DropReason::IncompleteMessage => "unfinished_message",
            DropReason::TooManyReplies => "too_many_replies",
            DropReason::BadRepair => "bad_repair",
            DropReason::WrongSuite => "wrong_suite",
            DropReason::BadHandshake => "bad_handshake",
            DropReason::TooEarly => "too_early",
            DropReason::TooLong => "too_long",
            DropReason::TooManyHandshakes => "too_many_handshakes",
            DropReason::UnansweredQuery => "unanswered_query",
            DropReason::InboundRule => "inbound_rule",
            DropReason::OverBudget => "over_budget",
            DropReason::NetworkFull => "network_full",
        }
    }
}

/// Drops by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    /// Counts one drop.
    pub fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    /// Counts several drops.
    pub fn count_many(&mut self, reason: DropReason, count: u32) {
        self.0[reason as usize] += u64::from(count);
    }

    /// Number of drops for this reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Number of all drops.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Each reason with its count.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.into_iter().map(|reason| (reason, self.of(reason)))
    }
}
