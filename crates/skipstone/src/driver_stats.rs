//! Counters of a driver and its sockets, apart from the protocol's. A line of these tables is all that declares one:
//! `cargo xtask catalogue --update` brings it into every language.

use skipstone_proto::statistics;
use std::time::Duration;

statistics! {
    /// Counters of a driver.
    pub struct DriverStats {
        groups {
            /// Counters and buffers of the sockets.
            sockets: SocketStats;
            /// Datagrams that came to the wrong shard.
            misrouted: MisroutedStats;
            /// DTLS sessions of a server.
            dtls: DtlsStats;
            /// WebTransport sessions of a server, and the QUIC connections below them.
            webtransport: WebTransportStats;
            /// Streams of a server's TCP port that were accepted, and why they ended.
            streams: StreamStats;
        }
        gauges {
            /// The most work in one round's reading: its expected CPU time, estimated from the data that was read.
            round_cost_max: Duration as Time, "greatest round", since(1, 4);
        }
        /// Rounds of the driver's loop.
        rounds: Rounds, "rounds", metric("driver_rounds", None);
        /// Rounds that ended with something left to read, because they had taken as long as a round may.
        rounds_cut: Rounds, "rounds cut short", metric("driver_rounds_cut", None), since(1, 4);
        /// System calls that sent datagrams.
        send_calls: Calls, "send calls";
        /// Datagrams that the system refused to send.
        send_errors: Datagrams, "send errors", metric("send_errors", None);
        /// Datagrams and streams from addresses that the server denies.
        denied: Arrivals, "denied", since(1, 3);
    }
}

impl DriverStats {
    /// Adds another shard's counters.
    pub(crate) fn add(&mut self, other: &DriverStats) {
        self.each(other, &mut |mine, theirs| *mine += theirs);
        self.round_cost_max = self.round_cost_max.max(other.round_cost_max);
        self.sockets.receive_buffer_bytes = self.sockets.receive_buffer_bytes.min(other.sockets.receive_buffer_bytes);
        self.sockets.are_buffers_short |= other.sockets.are_buffers_short;
    }
}

statistics! {
    /// Counters and buffers of a driver's sockets.
    pub struct SocketStats {
        gauges {
            /// The smallest receive buffer granted, in bytes.
            receive_buffer_bytes: usize as Bytes, "receive buffer", since(1, 3);
            /// Whether the kernel granted smaller buffers than asked for.
            are_buffers_short: bool as Flag, "buffers are short";
        }
        /// Datagrams that the kernel dropped because a receive buffer was full.
        receive_drops: Datagrams, "receive buffer drops", metric("receive_buffer_drops", None);
        /// WebSocket connections in clear, open now.
        websockets: Streams, "WebSockets in clear";
        /// WebSocket connections over TLS, open now.
        secure_websockets: Streams, "WebSockets over TLS";
        /// TCP connections without WebSocket, open now.
        raw_streams: Streams, "raw streams";
        /// Datagrams that the network simulated around a server dropped for lack of memory.
        impairment_drops: Datagrams, "simulated drops", since(1, 3);
        /// Streams in memory to clients of this process, or to their server.
        locals: Streams, "local clients";
    }
}

statistics! {
    /// Counters of misrouted datagrams, which arrived at the wrong shard: those of clients that migrated, and forged
    /// ones.
    pub struct MisroutedStats {
        /// Datagrams handed to the shard that their connection id names.
        handed_on: Datagrams, "handed on", flat("misrouted_handed_on"), since(1, 3);
        /// Misrouted datagrams dropped, because too many already waited for their shard.
        dropped: Datagrams, "dropped", flat("misrouted_dropped"), since(1, 3);
    }
}

statistics! {
    /// Counters of a server's DTLS sessions.
    pub struct DtlsStats {
        /// DTLS sessions that there are now, handshakes included.
        open: Sessions, "open", flat("dtls_sessions");
        /// DTLS sessions that began with a ClientHello.
        begun: Sessions, "begun", flat("dtls_begun"), since(1, 3);
        /// DTLS handshakes that were completed.
        established: Sessions, "established", flat("dtls_established"), since(1, 3);
        /// DTLS sessions that were removed before their time limit, because another session needed the place.
        displaced: Sessions, "displaced", flat("dtls_displaced"), since(1, 3);
        /// Datagrams that belonged to no DTLS session and began none, or were invalid in their session, and answers
        /// that would have been too long.
        dropped: Datagrams, "dropped", flat("dtls_dropped"), since(1, 3);
    }
}

statistics! {
    /// Counters of a server's WebTransport sessions, and of the QUIC connections below them.
    pub struct WebTransportStats {
        /// QUIC connections that there are now, handshakes included.
        open: Sessions, "open", flat("webtransport_sessions");
        /// QUIC handshakes that began.
        begun: Sessions, "begun", flat("webtransport_begun"), since(1, 3);
        /// QUIC handshakes that were completed.
        established: Sessions, "established", flat("webtransport_established"), since(1, 3);
        /// WebTransport sessions that were granted.
        sessions: Sessions, "sessions", flat("webtransport_granted"), since(1, 3);
        /// Unproven clients that were asked for a proof of their address first (RFC 9000, section 8.1.2).
        retries: Times, "retries", flat("webtransport_retries"), since(1, 3);
        /// QUIC connections that were removed before their time limit, because another one needed the place.
        displaced: Sessions, "displaced", flat("webtransport_displaced"), since(1, 3);
        /// Requests and streams that were refused, for their origin or because nothing here needs them.
        refused: Arrivals, "refused", flat("webtransport_refused"), since(1, 3);
        /// Connections that ended because the client broke a rule of QUIC, TLS or HTTP/3.
        breaches: Sessions, "breaches", flat("webtransport_breaches"), since(1, 3);
        /// Datagrams that belonged to no QUIC connection and began none, or to no session; and datagrams of the
        /// protocol that a session did not accept.
        dropped: Datagrams, "dropped", flat("webtransport_dropped"), since(1, 3);
    }
}

statistics! {
    /// Counters of the streams of a server's TCP port: how many were accepted, and why they ended.
    pub struct StreamStats {
        /// Streams accepted.
        accepted: Streams, "accepted", flat("streams_accepted"), since(1, 3);
        /// Streams whose handshake or close timed out.
        timed_out: Streams, "timed out", flat("streams_timed_out"), since(1, 3);
        /// Streams that were closed because they cost too much before they carried a connection.
        too_dear: Streams, "too dear", flat("streams_too_dear"), since(1, 4);
        /// Streams that were closed for newer ones, because their network had too many without a connection.
        displaced: Streams, "displaced", flat("streams_displaced"), since(1, 3);
        /// Plain HTTP requests that were answered.
        answered: Streams, "answered", flat("streams_answered"), since(1, 3);
        /// HTTP requests that were refused: with 426 without a WebSocket upgrade, with 404 for an unknown path.
        not_upgraded: Streams, "not upgraded", flat("streams_not_upgraded"), since(1, 3);
        /// Streams that ended without a close: the peer is gone, or left without closing.
        lost: Streams, "lost", flat("streams_lost"), since(1, 3);
        /// Streams that were closed in an orderly way, by either side.
        closed: Streams, "closed", flat("streams_closed"), since(1, 3);
        /// First bytes of no protocol that the port accepts, and malformed requests.
        malformed_requests: Streams, "malformed requests", flat("streams_malformed_requests"), since(1, 3);
        /// Heads of requests beyond 8 KiB, or with too many lines.
        oversized_requests: Streams, "oversized requests", flat("streams_oversized_requests"), since(1, 3);
        /// Invalid WebSocket frames, and invalid message lengths.
        broken_frames: Streams, "broken frames", flat("streams_broken_frames"), since(1, 3);
        /// Messages beyond the limit.
        oversized_messages: Streams, "oversized messages", flat("streams_oversized_messages"), since(1, 3);
        /// TLS that failed: no certificate fits the name, the client does not trust it, or the bytes are not TLS.
        tls_failures: Streams, "TLS failures", flat("streams_tls_failures"), since(1, 3);
        /// Clients that asked for TLS while they, their network or all had begun too many handshakes.
        over_budget: Streams, "over budget", flat("streams_over_budget"), since(1, 3);
        /// PROXY headers that cannot be read, or come from a host that is not a trusted proxy.
        bad_proxy_headers: Streams, "bad PROXY headers", flat("streams_bad_proxy_headers"), since(1, 3);
        /// Requests in clear where TLS is required, and streams of a kind that is not taken.
        not_taken: Streams, "not taken", flat("streams_not_taken"), since(1, 3);
        /// Pages of other origins, and requests for other hosts.
        foreign: Streams, "foreign", flat("streams_foreign"), since(1, 3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_add_up_their_counters_and_keep_the_worst_of_their_gauges() {
        let mut all = DriverStats { round_cost_max: Duration::from_micros(5), ..DriverStats::from_figures(|_| 2) };
        all.sockets.receive_buffer_bytes = 100;
        let mut other = DriverStats { round_cost_max: Duration::from_micros(7), ..DriverStats::from_figures(|_| 3) };
        (other.sockets.receive_buffer_bytes, other.sockets.are_buffers_short) = (80, true);
        all.add(&other);
        assert!(all.figures().all(|(_, value)| value == 5), "{all:?}");
        assert_eq!(all.round_cost_max, Duration::from_micros(7));
        assert_eq!((all.sockets.receive_buffer_bytes, all.sockets.are_buffers_short), (80, true));
    }
}
