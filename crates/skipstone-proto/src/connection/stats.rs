//! Counters of a connection: 64 bits each, the same for every carrier, never decreasing. A line of these tables is all
//! that declares a counter: `cargo xtask catalogue --update` brings it into every language.

use crate::catalogue::{Figure, Unit};

statistics! {
    /// Counters of one direction.
    pub struct Flow {
        /// Datagrams of any size.
        datagrams: Datagrams, "datagrams", metric("datagrams", None);
        /// Messages of the application.
        messages: Messages, "messages", metric("messages", None);
        /// Bytes of those messages, each counted once.
        payload_bytes: Bytes, "payload bytes";
        /// Bytes of the datagrams: payload, and the overhead of the protocol.
        datagram_bytes: Bytes, "datagram bytes";
        /// Bytes of the datagrams with IP and carrier headers.
        ip_bytes: Bytes, "IP bytes";
    }
}

impl Flow {
    /// Bytes on the wire beyond the payload, in percent of the payload; `None` without payload.
    pub fn overhead_percent(&self) -> Option<f64> {
        (self.payload_bytes > 0).then(|| (self.ip_bytes as f64 / self.payload_bytes as f64 - 1.0) * 100.0)
    }
}

statistics! {
    /// Redundancy: its cost, and the packets that it recovered.
    pub struct RedundancyStats {
        /// Repair packets sent.
        repairs_sent: Packets, "repairs sent", metric("repairs_sent", None);
        /// Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages
        /// of earlier ones.
        copies_sent: Packets, "copies sent", metric("copies_sent", None);
        /// Bytes of repairs and copies, IP headers included, and of messages repeated.
        bytes_sent: Bytes, "redundancy, IP bytes", flat("redundancy_bytes_sent");
        /// Packets of the peer that were lost and recovered here, each without waiting for a round trip.
        packets_recovered: Packets, "recovered here", metric("packets_recovered", Some(("side", "here"))),
            family_about("Lost packets that redundancy recovered, here or at the peer.");
        /// Packets sent here that were lost and that the peer recovered.
        packets_recovered_by_peer: Packets, "recovered by the peer",
            metric("packets_recovered", Some(("side", "peer")));
    }
}

statistics! {
    /// Counters of a connection, or of all.
    pub struct Stats {
        groups {
            /// What was sent.
            sent: Flow, by "direction";
            /// What was received and authenticated.
            received: Flow, by "direction";
            /// Redundancy: its cost, and the packets that it recovered.
            redundancy: RedundancyStats;
            /// Why datagrams, packets and messages were dropped.
            drops: Drops;
        }
        /// Packets declared lost.
        packets_lost: Packets, "packets lost", metric("packets_lost", None);
        /// Packets declared lost whose acknowledgement came later.
        packets_spurious: Packets, "spurious losses", metric("packets_spurious", None);
        /// Messages and fragments retransmitted.
        resent: Fragments, "retransmissions", metric("retransmissions", None);
        /// Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
        probes: Packets, "probe timeouts", metric("probe_timeouts", None);
        /// Acknowledgements that the peer reports to have delayed for longer than the settings allow: its machine
        /// paused, an earlier acknowledgement was lost, or it does not follow the settings.
        acks_overdue: Acknowledgements, "overdue ACKs", metric("acks_overdue", None), since(1, 4);
        /// Times that the connection moved to a new address.
        paths_changed: Times, "addresses changed", metric("paths_changed", None);
        /// New addresses that did not prove to be the peer's.
        paths_refused: Times, "addresses refused", metric("paths_refused", None), since(1, 4);
        /// Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section 3).
        black_holes: Times, "black holes", metric("black_holes", None), since(1, 4);
        /// Messages refused or dropped by a full queue.
        queue_overflows: Messages, "queue overflows", metric("queue_overflows", None);
    }
}

impl Stats {
    /// Subtracts earlier counters. A connection that has ended takes its counters with it, so no counter falls below
    /// zero.
    pub fn subtract(&mut self, before: &Stats) {
        self.each(before, &mut |mine, before| *mine = mine.saturating_sub(before));
    }

    /// Adds another connection's counters.
    pub fn add(&mut self, other: &Stats) {
        self.each(other, &mut |mine, theirs| *mine += theirs);
    }
}

/// Declares the reasons, each with its documentation and its name in statistics.
macro_rules! drop_reasons {
    ($($(#[doc = $about:literal])+ $reason:ident = $name:literal;)+) => {
        /// Why something that arrived was dropped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum DropReason {
            $($(#[doc = $about])+ $reason,)+
        }

        impl DropReason {
            /// Every reason.
            pub const ALL: [DropReason; [$($name),+].len()] = [$(DropReason::$reason),+];

            /// Its name in statistics.
            pub fn name(self) -> &'static str {
                match self {
                    $(DropReason::$reason => $name,)+
                }
            }
        }

        impl Drops {
            /// What is known about each count.
            pub const FIGURES: [Figure; DropReason::ALL.len()] = [
                $(Figure::new($name, Unit::Arrivals, $name, concat!($($about, "\n"),+))
                    .metric("dropped", Some(("reason", $name)))
                    .family_about("Datagrams, packets and messages that were dropped.")),+
            ];
            const GAUGES: [Figure; 0] = [];
        }
    };
}

drop_reasons! {
    /// Not a datagram of this protocol, or truncated.
    Malformed = "malformed";
    /// No connection has this id.
    UnknownConnection = "unknown_connection";
    /// The connection uses another path.
    WrongPath = "wrong_path";
    /// Damaged, or sealed with another key.
    NotAuthentic = "not_authentic";
    /// The packet's number was opened before.
    Replay = "replay";
    /// A frame that is invalid, or not allowed in this state.
    BadFrame = "bad_frame";
    /// The peer sent more than it was allowed to.
    WindowExceeded = "window_exceeded";
    /// A handshake with an expired or wrong cookie.
    BadCookie = "bad_cookie";
    /// No version or suite in common.
    NoCommonVersion = "no_common_version";
    /// A client that arrived, or was accepted, when every player place was taken; or that arrived while the application
    /// was so far behind with its events that they filled the memory budget.
    Full = "full";
    /// A message that had arrived before.
    DuplicateMessage = "duplicate_message";
    /// A message of a sequenced channel that came after a newer one.
    StaleMessage = "stale_message";
    /// An unreliable message whose fragments did not all come in time.
    IncompleteMessage = "unfinished_message";
    /// The queue of stateless answers is full.
    TooManyReplies = "too_many_replies";
    /// An invalid repair, or an invalid packet recovered with a repair.
    BadRepair = "bad_repair";
    /// A suite that this side did not offer: a possible downgrade attack.
    WrongSuite = "wrong_suite";
    /// Handshake bytes that are invalid, or not allowed in this state.
    BadHandshake = "bad_handshake";
    /// A sealed packet that arrived before its keys were available, or a message that overtook the server's ACCEPT.
    /// Both are sent again.
    TooEarly = "too_early";
    /// Longer than the settings allow.
    TooLong = "too_long";
    /// An encrypted handshake that could not begin, or was removed, because too many are pending or began in this
    /// second, or too many of its host's failed. And a client, encrypted or not, that could not begin, because too many
    /// of all clients, or of its network, were not accepted yet, because so much is closing, or because no id is left.
    /// The client repeats its OPEN.
    TooManyHandshakes = "too_many_handshakes";
    /// A query without an answer: the application has set none, or the query is shorter than the answer.
    UnansweredQuery = "unanswered_query";
    /// An unreliable message that the server's inbound rules do not allow.
    InboundRule = "inbound_rule";
    /// A message that the application had not polled when its connection was closed for exceeding a memory budget.
    OverBudget = "over_budget";
    /// A client that arrived, or was accepted, when its network already had as many players as allowed.
    NetworkFull = "network_full";
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

    #[doc(hidden)]
    pub fn each_named(&self, group: &'static str, see: &mut impl FnMut(&'static str, &'static str, u64)) {
        self.iter().for_each(|(reason, count)| see(group, reason.name(), count));
    }

    fn each(&mut self, other: &Drops, change: &mut impl FnMut(&mut u64, u64)) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| change(mine, theirs));
    }
}
