package skipstone

// #include "skipstone.h"
import "C"

import (
	"time"
	"unsafe"
)

// DriverStats has the counters of the drivers and their sockets, up to 50 ms old.
type DriverStats struct {
	// Rounds of the drivers' loops; SendCalls are system calls that sent datagrams, SendErrors datagrams that the system
	// refused to send.
	Rounds, SendCalls, SendErrors uint64
	// RoundsCut are rounds that ended with datagrams left to read, because their time limit was reached.
	RoundsCut uint64
	// RoundCostMax is the maximum work of one round's reading, estimated from what was read.
	RoundCostMax time.Duration
	// ReceiveDrops are datagrams that the system dropped because a receive buffer was full.
	ReceiveDrops uint64
	// ReceiveBufferBytes is the smallest receive buffer that the system granted; AreBuffersShort: smaller ones than
	// requested.
	ReceiveBufferBytes uint64
	AreBuffersShort    bool
	// Denied are datagrams and streams from denied addresses.
	Denied uint64
	// ImpairmentDrops are datagrams that the simulated network dropped because its memory limit was reached.
	ImpairmentDrops uint64
	// WebSockets without encryption, SecureWebSockets over TLS, RawStreams (TCP without WebSocket) and Locals (clients of
	// this process) are open now.
	WebSockets, SecureWebSockets, RawStreams, Locals uint64
	// Misrouted has datagrams that arrived at the wrong shard.
	Misrouted    MisroutedStats
	DTLS         DTLSStats
	WebTransport WebTransportStats
	Streams      StreamStats
}

// MisroutedStats counts datagrams that arrived at the wrong shard.
type MisroutedStats struct {
	// HandedOn: datagrams that arrived at the wrong shard and were forwarded to the shard of their connection.
	HandedOn uint64
	// Dropped: datagrams that arrived at the wrong shard and were dropped, because too many were queued for the right one.
	Dropped uint64
}

// DTLSStats counts DTLS sessions of a server.
type DTLSStats struct {
	// Open: current sessions, including handshakes.
	Open uint64
	// Begun: DTLS sessions that began with a ClientHello.
	Begun uint64
	// Established: DTLS handshakes that were completed.
	Established uint64
	// Displaced: DTLS sessions that were removed before their time limit to make room for another one.
	Displaced uint64
	// Dropped: datagrams of DTLS that belonged to no session and began none, or were ignored by their session.
	Dropped uint64
}

// WebTransportStats counts WebTransport sessions of a server, and the underlying QUIC connections.
type WebTransportStats struct {
	// Open: Current QUIC connections, including handshakes.
	Open uint64
	// Begun: QUIC handshakes that began.
	Begun uint64
	// Established: QUIC handshakes that were completed.
	Established uint64
	// Sessions: sessions of WebTransport that were granted.
	Sessions uint64
	// Retries: unproven clients that were asked to prove their address first (RFC 9000, section 8.1.2).
	Retries uint64
	// Displaced: QUIC connections that were removed before their time limit to make room for another one.
	Displaced uint64
	// Refused: requests and streams that were refused because of their origin, or because the server does not use them.
	Refused uint64
	// Breaches: connections that ended because the client violated QUIC, TLS or HTTP/3.
	Breaches uint64
	// Dropped: datagrams of QUIC that belonged to no connection and began none, or to no session.
	Dropped uint64
}

// StreamStats counts the streams of a server's TCP port, and why they ended.
type StreamStats struct {
	// Accepted: streams accepted on the TCP port.
	Accepted uint64
	// TimedOut: streams whose handshake or close timed out.
	TimedOut uint64
	// TooDear: streams that were closed because they cost too much before they carried a connection.
	TooDear uint64
	// Displaced: streams that were closed in favour of newer ones, because their network had too many without a
	// connection.
	Displaced uint64
	// Answered: plain HTTP requests that were answered.
	Answered uint64
	// NotUpgraded: plain HTTP requests for an unknown path.
	NotUpgraded uint64
	// Lost: streams that ended without a close.
	Lost uint64
	// Closed: streams that were closed in an orderly way, by either side.
	Closed uint64
	// MalformedRequests: first bytes of an unknown protocol, and malformed requests.
	MalformedRequests uint64
	// OversizedRequests: request heads above 8 KiB, or with too many lines.
	OversizedRequests uint64
	// BrokenFrames: broken WebSocket frames, and impossible message lengths.
	BrokenFrames uint64
	// OversizedMessages: messages above the maximum length.
	OversizedMessages uint64
	// TLSFailures: Failed TLS handshakes: no certificate fits, the client does not trust it, or the bytes are not TLS.
	TLSFailures uint64
	// OverBudget: clients that began TLS while too many handshakes were pending.
	OverBudget uint64
	// BadProxyHeaders: PROXY headers that are malformed, or from a client that is not a trusted proxy.
	BadProxyHeaders uint64
	// NotTaken: unencrypted requests where TLS is required, and streams of a kind that is not accepted.
	NotTaken uint64
	// Foreign: pages of other origins, and requests for other hosts.
	Foreign uint64
}

// DriverStats reads the counters of the drivers and their sockets.
func (h *handle) DriverStats() (DriverStats, error) {
	var raw C.SkipstoneDriverStats
	raw.size = C.uint32_t(unsafe.Sizeof(raw))
	if err := h.call(func() C.SkipstoneStatus { return C.skipstone_driver_stats(h.number, &raw) }); err != nil {
		return DriverStats{}, err
	}
	return DriverStats{
		Rounds: uint64(raw.rounds), SendCalls: uint64(raw.send_calls), SendErrors: uint64(raw.send_errors),
		RoundsCut: uint64(raw.rounds_cut), RoundCostMax: time.Duration(raw.round_cost_max_us) * time.Microsecond,
		ReceiveDrops: uint64(raw.receive_drops), ReceiveBufferBytes: uint64(raw.receive_buffer_bytes),
		AreBuffersShort: raw.are_buffers_short != 0, Denied: uint64(raw.denied), ImpairmentDrops: uint64(raw.impairment_drops),
		WebSockets: uint64(raw.websockets), SecureWebSockets: uint64(raw.secure_websockets),
		RawStreams: uint64(raw.raw_streams), Locals: uint64(raw.locals),
		Misrouted: MisroutedStats{
			HandedOn: uint64(raw.misrouted_handed_on), Dropped: uint64(raw.misrouted_dropped),
		},
		DTLS: DTLSStats{
			Open: uint64(raw.dtls_sessions), Begun: uint64(raw.dtls_begun), Established: uint64(raw.dtls_established),
			Displaced: uint64(raw.dtls_displaced), Dropped: uint64(raw.dtls_dropped),
		},
		WebTransport: WebTransportStats{
			Open: uint64(raw.webtransport_sessions), Begun: uint64(raw.webtransport_begun),
			Established: uint64(raw.webtransport_established), Sessions: uint64(raw.webtransport_granted),
			Retries: uint64(raw.webtransport_retries), Displaced: uint64(raw.webtransport_displaced),
			Refused: uint64(raw.webtransport_refused), Breaches: uint64(raw.webtransport_breaches),
			Dropped: uint64(raw.webtransport_dropped),
		},
		Streams: StreamStats{
			Accepted: uint64(raw.streams_accepted), TimedOut: uint64(raw.streams_timed_out),
			TooDear:   uint64(raw.streams_too_dear),
			Displaced: uint64(raw.streams_displaced), Answered: uint64(raw.streams_answered),
			NotUpgraded: uint64(raw.streams_not_upgraded), Lost: uint64(raw.streams_lost),
			Closed: uint64(raw.streams_closed), MalformedRequests: uint64(raw.streams_malformed_requests),
			OversizedRequests: uint64(raw.streams_oversized_requests), BrokenFrames: uint64(raw.streams_broken_frames),
			OversizedMessages: uint64(raw.streams_oversized_messages), TLSFailures: uint64(raw.streams_tls_failures),
			OverBudget: uint64(raw.streams_over_budget), BadProxyHeaders: uint64(raw.streams_bad_proxy_headers),
			NotTaken: uint64(raw.streams_not_taken), Foreign: uint64(raw.streams_foreign),
		},
	}, nil
}
