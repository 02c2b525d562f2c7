package skipstone

// #include "skipstone.h"
import "C"

import (
	"time"
	"unsafe"
)

// DriverStats has the counters of the drivers and their sockets, up to 50 ms old.
type DriverStats struct {
	// catalogue: driver counters
	// Rounds: rounds of the driver's loop.
	Rounds uint64
	// RoundsCut: rounds that ended with something left to read, because they had taken as long as a round may.
	RoundsCut uint64
	// SendCalls: system calls that sent datagrams.
	SendCalls uint64
	// SendErrors: datagrams that the system refused to send.
	SendErrors uint64
	// Denied: datagrams and streams from addresses that the server denies.
	Denied uint64
	// RoundCostMax: the most work in one round's reading: its expected CPU time, estimated from the data that was read.
	RoundCostMax time.Duration
	// ReceiveBufferBytes: the smallest receive buffer granted, in bytes.
	ReceiveBufferBytes uint64
	// AreBuffersShort: whether the kernel granted smaller buffers than asked for.
	AreBuffersShort bool
	// ReceiveDrops: datagrams that the kernel dropped because a receive buffer was full.
	ReceiveDrops uint64
	// WebSockets: WebSocket connections in clear, open now.
	WebSockets uint64
	// SecureWebSockets: WebSocket connections over TLS, open now.
	SecureWebSockets uint64
	// RawStreams: TCP connections without WebSocket, open now.
	RawStreams uint64
	// ImpairmentDrops: datagrams that the network simulated around a server dropped for lack of memory.
	ImpairmentDrops uint64
	// Locals: streams in memory to clients of this process, or to their server.
	Locals uint64
	// catalogue: end
	// Misrouted has datagrams that came to the wrong shard.
	Misrouted    MisroutedStats
	DTLS         DTLSStats
	WebTransport WebTransportStats
	Streams      StreamStats
}

// MisroutedStats counts datagrams that arrived at the wrong shard.
type MisroutedStats struct {
	// catalogue: misrouted counters
	// HandedOn: datagrams handed to the shard that their connection id names.
	HandedOn uint64
	// Dropped: misrouted datagrams dropped, because too many already waited for their shard.
	Dropped uint64
	// catalogue: end
}

// DTLSStats counts DTLS sessions of a server.
type DTLSStats struct {
	// catalogue: dtls counters
	// Open: DTLS sessions that there are now, handshakes included.
	Open uint64
	// Begun: DTLS sessions that began with a ClientHello.
	Begun uint64
	// Established: DTLS handshakes that were completed.
	Established uint64
	// Displaced: DTLS sessions that were removed before their time limit, because another session needed the place.
	Displaced uint64
	// Dropped: datagrams that belonged to no DTLS session and began none, or were invalid in their session, and answers
	// that would have been too long.
	Dropped uint64
	// catalogue: end
}

// WebTransportStats counts WebTransport sessions of a server, and the underlying QUIC connections.
type WebTransportStats struct {
	// catalogue: webtransport counters
	// Open: QUIC connections that there are now, handshakes included.
	Open uint64
	// Begun: QUIC handshakes that began.
	Begun uint64
	// Established: QUIC handshakes that were completed.
	Established uint64
	// Sessions: WebTransport sessions that were granted.
	Sessions uint64
	// Retries: unproven clients that were asked for a proof of their address first (RFC 9000, section 8.1.2).
	Retries uint64
	// Displaced: QUIC connections that were removed before their time limit, because another one needed the place.
	Displaced uint64
	// Refused: requests and streams that were refused, for their origin or because nothing here needs them.
	Refused uint64
	// Breaches: connections that ended because the client broke a rule of QUIC, TLS or HTTP/3.
	Breaches uint64
	// Dropped: datagrams that belonged to no QUIC connection and began none, or to no session; and datagrams of the
	// protocol that a session did not accept.
	Dropped uint64
	// catalogue: end
}

// StreamStats counts the streams of a server's TCP port, and why they ended.
type StreamStats struct {
	// catalogue: stream counters
	// Accepted: streams accepted.
	Accepted uint64
	// TimedOut: streams whose handshake or close timed out.
	TimedOut uint64
	// TooDear: streams that were closed because they cost too much before they carried a connection.
	TooDear uint64
	// Displaced: streams that were closed for newer ones, because their network had too many without a connection.
	Displaced uint64
	// Answered: plain HTTP requests that were answered.
	Answered uint64
	// NotUpgraded: HTTP requests that were refused: with 426 without a WebSocket upgrade, with 404 for an unknown path.
	NotUpgraded uint64
	// Lost: streams that ended without a close: the peer is gone, or left without closing.
	Lost uint64
	// Closed: streams that were closed in an orderly way, by either side.
	Closed uint64
	// MalformedRequests: first bytes of no protocol that the port accepts, and malformed requests.
	MalformedRequests uint64
	// OversizedRequests: heads of requests beyond 8 KiB, or with too many lines.
	OversizedRequests uint64
	// BrokenFrames: invalid WebSocket frames, and invalid message lengths.
	BrokenFrames uint64
	// OversizedMessages: messages beyond the limit.
	OversizedMessages uint64
	// TLSFailures: TLS that failed: no certificate fits the name, the client does not trust it, or the bytes are not
	// TLS.
	TLSFailures uint64
	// OverBudget: clients that asked for TLS while they, their network or all had begun too many handshakes.
	OverBudget uint64
	// BadProxyHeaders: PROXY headers that cannot be read, or come from a host that is not a trusted proxy.
	BadProxyHeaders uint64
	// NotTaken: requests in clear where TLS is required, and streams of a kind that is not taken.
	NotTaken uint64
	// Foreign: pages of other origins, and requests for other hosts.
	Foreign uint64
	// catalogue: end
}

// DriverStats reads the counters of the drivers and their sockets.
func (h *handle) DriverStats() (DriverStats, error) {
	var raw C.SkipstoneDriverStats
	raw.size = C.uint32_t(unsafe.Sizeof(raw))
	if err := h.call(func() C.SkipstoneStatus { return C.skipstone_driver_stats(h.number, &raw) }); err != nil {
		return DriverStats{}, err
	}
	var stats DriverStats
	// catalogue: driver counters copied
	stats.Rounds = uint64(raw.rounds)
	stats.RoundsCut = uint64(raw.rounds_cut)
	stats.SendCalls = uint64(raw.send_calls)
	stats.SendErrors = uint64(raw.send_errors)
	stats.Denied = uint64(raw.denied)
	stats.RoundCostMax = time.Duration(raw.round_cost_max_us) * time.Microsecond
	stats.ReceiveBufferBytes = uint64(raw.receive_buffer_bytes)
	stats.AreBuffersShort = raw.are_buffers_short != 0
	stats.ReceiveDrops = uint64(raw.receive_drops)
	stats.WebSockets = uint64(raw.websockets)
	stats.SecureWebSockets = uint64(raw.secure_websockets)
	stats.RawStreams = uint64(raw.raw_streams)
	stats.ImpairmentDrops = uint64(raw.impairment_drops)
	stats.Locals = uint64(raw.locals)
	stats.Misrouted.HandedOn = uint64(raw.misrouted_handed_on)
	stats.Misrouted.Dropped = uint64(raw.misrouted_dropped)
	stats.DTLS.Open = uint64(raw.dtls_sessions)
	stats.DTLS.Begun = uint64(raw.dtls_begun)
	stats.DTLS.Established = uint64(raw.dtls_established)
	stats.DTLS.Displaced = uint64(raw.dtls_displaced)
	stats.DTLS.Dropped = uint64(raw.dtls_dropped)
	stats.WebTransport.Open = uint64(raw.webtransport_sessions)
	stats.WebTransport.Begun = uint64(raw.webtransport_begun)
	stats.WebTransport.Established = uint64(raw.webtransport_established)
	stats.WebTransport.Sessions = uint64(raw.webtransport_granted)
	stats.WebTransport.Retries = uint64(raw.webtransport_retries)
	stats.WebTransport.Displaced = uint64(raw.webtransport_displaced)
	stats.WebTransport.Refused = uint64(raw.webtransport_refused)
	stats.WebTransport.Breaches = uint64(raw.webtransport_breaches)
	stats.WebTransport.Dropped = uint64(raw.webtransport_dropped)
	stats.Streams.Accepted = uint64(raw.streams_accepted)
	stats.Streams.TimedOut = uint64(raw.streams_timed_out)
	stats.Streams.TooDear = uint64(raw.streams_too_dear)
	stats.Streams.Displaced = uint64(raw.streams_displaced)
	stats.Streams.Answered = uint64(raw.streams_answered)
	stats.Streams.NotUpgraded = uint64(raw.streams_not_upgraded)
	stats.Streams.Lost = uint64(raw.streams_lost)
	stats.Streams.Closed = uint64(raw.streams_closed)
	stats.Streams.MalformedRequests = uint64(raw.streams_malformed_requests)
	stats.Streams.OversizedRequests = uint64(raw.streams_oversized_requests)
	stats.Streams.BrokenFrames = uint64(raw.streams_broken_frames)
	stats.Streams.OversizedMessages = uint64(raw.streams_oversized_messages)
	stats.Streams.TLSFailures = uint64(raw.streams_tls_failures)
	stats.Streams.OverBudget = uint64(raw.streams_over_budget)
	stats.Streams.BadProxyHeaders = uint64(raw.streams_bad_proxy_headers)
	stats.Streams.NotTaken = uint64(raw.streams_not_taken)
	stats.Streams.Foreign = uint64(raw.streams_foreign)
	// catalogue: end
	return stats, nil
}
