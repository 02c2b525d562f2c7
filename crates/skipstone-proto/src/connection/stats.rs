//! What a connection has done: counters of 64 bits, the same for every carrier, that only grow.

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Datagrams.
    pub datagrams: u64,
    /// Messages of the application's.
    pub messages: u64,
    /// Bytes of those messages, each counted once.
    pub payload_bytes: u64,
    /// Bytes of the datagrams: payload, and what the protocol adds.
    pub datagram_bytes: u64,
    /// Bytes of the datagrams with IP and carrier headers.
    pub ip_bytes: u64,
}

impl Flow {
    /// Bytes on the wire beyond the payload, in percent of the payload; 0 without payload.
    pub fn overhead_percent(&self) -> f64 {
        if self.payload_bytes == 0 {
            return 0.0;
        }
        (self.ip_bytes as f64 / self.payload_bytes as f64 - 1.0) * 100.0
    }

    fn add(&mut self, other: &Flow) {
        self.datagrams += other.datagrams;
        self.messages += other.messages;
        self.payload_bytes += other.payload_bytes;
        self.datagram_bytes += other.datagram_bytes;
        self.ip_bytes += other.ip_bytes;
    }
}

/// Counters of a connection, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// What left.
    pub sent: Flow,
    /// What came and was opened.
    pub received: Flow,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Packets declared lost whose acknowledgement came later.
    pub packets_spurious: u64,
    /// Messages and fragments sent again.
    pub resent: u64,
    /// Packets whose acknowledgement was overdue, so that what they held was sent again.
    pub probes: u64,
    /// Times that the connection moved to a new address.
    pub paths_changed: u64,
    /// New addresses that did not prove to be the peer's.
    pub paths_refused: u64,
    /// Times that large datagrams vanished, so that small ones are sent.
    pub black_holes: u64,
    /// What redundancy cost, and what it saved.
    pub redundancy: RedundancyStats,
    /// Messages refused or dropped by a full queue.
    pub queue_overflows: u64,
    /// Why datagrams, packets and messages were dropped.
    pub drops: Drops,
}

impl Stats {
    /// Adds another connection's counters.
    pub fn add(&mut self, other: &Stats) {
        self.sent.add(&other.sent);
        self.received.add(&other.received);
        self.packets_lost += other.packets_lost;
        self.packets_spurious += other.packets_spurious;
        self.resent += other.resent;
        self.probes += other.probes;
        self.paths_changed += other.paths_changed;
        self.paths_refused += other.paths_refused;
        self.black_holes += other.black_holes;
        self.redundancy.add(&other.redundancy);
        self.queue_overflows += other.queue_overflows;
        for (mine, theirs) in self.drops.0.iter_mut().zip(other.drops.0) {
            *mine += theirs;
        }
    }
}

/// What redundancy cost, and what it saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedundancyStats {
    /// Repair packets sent.
    pub repairs_sent: u64,
    /// Copies sent of what was late, beyond its first resending, and packets that repeat messages of others.
    pub copies_sent: u64,
    /// Bytes of these, IP headers included, and of messages repeated.
    pub bytes_sent: u64,
    /// Packets of ours that were lost and that the peer made again: each a round trip that nobody waited for.
    pub packets_saved: u64,
    /// Packets of the peer's that were lost and made again here.
    pub packets_repaired: u64,
}

impl RedundancyStats {
    fn add(&mut self, other: &RedundancyStats) {
        self.repairs_sent += other.repairs_sent;
        self.copies_sent += other.copies_sent;
        self.bytes_sent += other.bytes_sent;
        self.packets_saved += other.packets_saved;
        self.packets_repaired += other.packets_repaired;
    }
}

/// Why something that arrived was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drop {
    /// Not a datagram of ours, or cut short.
    Malformed,
    /// No connection has this id.
    UnknownConnection,
    /// The connection is elsewhere.
    WrongPath,
    /// Damaged, or sealed with another key.
    NotAuthentic,
    /// The packet's number was opened before.
    Replay,
    /// A frame that makes no sense, or not now.
    BadFrame,
    /// The peer sent more than it was allowed to.
    WindowExceeded,
    /// A handshake with an expired or wrong cookie.
    BadCookie,
    /// No version or suite in common.
    NoCommonVersion,
    /// The endpoint has as many connections as it may.
    Full,
    /// A message that had arrived before.
    DuplicateMessage,
    /// A message of a sequenced channel that came after a newer one.
    StaleMessage,
    /// An unreliable message whose fragments did not all come in time.
    UnfinishedMessage,
    /// More stateless answers than may wait.
    TooManyReplies,
    /// A repair, or what it made of a packet, that makes no sense.
    BadRepair,
    /// A suite that this side did not offer: somebody wants less protection.
    WrongSuite,
    /// Handshake bytes that make no sense, or not now.
    BadHandshake,
    /// A sealed packet that came before the keys.
    TooEarly,
    /// Longer than the settings allow.
    TooLong,
    /// An encrypted handshake that could not begin, or had to go, because so many are under way.
    TooManyHandshakes,
}

impl Drop {
    /// Every reason.
    pub const ALL: [Drop; 20] = [
        Drop::Malformed,
        Drop::UnknownConnection,
        Drop::WrongPath,
        Drop::NotAuthentic,
        Drop::Replay,
        Drop::BadFrame,
        Drop::WindowExceeded,
        Drop::BadCookie,
        Drop::NoCommonVersion,
        Drop::Full,
        Drop::DuplicateMessage,
        Drop::StaleMessage,
        Drop::UnfinishedMessage,
        Drop::TooManyReplies,
        Drop::BadRepair,
        Drop::WrongSuite,
        Drop::BadHandshake,
        Drop::TooEarly,
        Drop::TooLong,
        Drop::TooManyHandshakes,
    ];

    /// Its name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Drop::Malformed => "malformed",
            Drop::UnknownConnection => "unknown_connection",
            Drop::WrongPath => "wrong_path",
            Drop::NotAuthentic => "not_authentic",
            Drop::Replay => "replay",
            Drop::BadFrame => "bad_frame",
            Drop::WindowExceeded => "window_exceeded",
            Drop::BadCookie => "bad_cookie",
            Drop::NoCommonVersion => "no_common_version",
            Drop::Full => "full",
            Drop::DuplicateMessage => "duplicate_message",
            Drop::StaleMessage => "stale_message",
            Drop::UnfinishedMessage => "unfinished_message",
            Drop::TooManyReplies => "too_many_replies",
            Drop::BadRepair => "bad_repair",
            Drop::WrongSuite => "wrong_suite",
            Drop::BadHandshake => "bad_handshake",
            Drop::TooEarly => "too_early",
            Drop::TooLong => "too_long",
            Drop::TooManyHandshakes => "too_many_handshakes",
        }
    }
}

/// Drops by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; Drop::ALL.len()]);

impl Drops {
    /// Counts one.
    pub fn count(&mut self, reason: Drop) {
        self.0[reason as usize] += 1;
    }

    /// Counts several.
    pub fn count_many(&mut self, reason: Drop, count: u32) {
        self.0[reason as usize] += u64::from(count);
    }

    /// How many for this reason.
    pub fn of(&self, reason: Drop) -> u64 {
        self.0[reason as usize]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Each reason with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Drop, u64)> + '_ {
        Drop::ALL.into_iter().map(|reason| (reason, self.of(reason)))
    }
}
