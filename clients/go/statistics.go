package skipstone

// #include "skipstone.h"
import "C"

import (
	"bytes"
	"time"
	"unsafe"
)

// Flow has the counters of one direction.
type Flow struct {
	// catalogue: flow
	// Datagrams: datagrams of any size.
	Datagrams uint64
	// Messages: messages of the application.
	Messages uint64
	// PayloadBytes: bytes of those messages, each counted once.
	PayloadBytes uint64
	// DatagramBytes: bytes of the datagrams: payload, and the overhead of the protocol.
	DatagramBytes uint64
	// IPBytes: bytes of the datagrams with IP and carrier headers.
	IPBytes uint64
	// catalogue: end
}

// Stats has the counters of a connection, or of all. They only grow, and are up to 50 ms old.
type Stats struct {
	// catalogue: counters
	// Sent: what was sent.
	Sent Flow
	// Received: what was received and authenticated.
	Received Flow
	// PacketsLost: packets declared lost.
	PacketsLost uint64
	// PacketsSpurious: packets declared lost whose acknowledgement came later.
	PacketsSpurious uint64
	// Resent: messages and fragments retransmitted.
	Resent uint64
	// Probes: packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
	Probes uint64
	// RepairsSent: repair packets sent.
	RepairsSent uint64
	// CopiesSent: copies of retransmissions, each in addition to the retransmission itself; and packets that repeat
	// messages of earlier ones.
	CopiesSent uint64
	// RedundancyBytesSent: bytes of repairs and copies, IP headers included, and of messages repeated.
	RedundancyBytesSent uint64
	// PacketsRecovered: packets of the peer that were lost and recovered here, each without waiting for a round trip.
	PacketsRecovered uint64
	// PacketsRecoveredByPeer: packets sent here that were lost and that the peer recovered.
	PacketsRecoveredByPeer uint64
	// PathsChanged: times that the connection moved to a new address.
	PathsChanged uint64
	// QueueOverflows: messages refused or dropped by a full queue.
	QueueOverflows uint64
	// Drops: datagrams, packets and messages that were dropped on arrival, for any reason.
	Drops uint64
	// AcksOverdue: acknowledgements that the peer reports to have delayed for longer than the settings allow: its
	// machine paused, an earlier acknowledgement was lost, or it does not follow the settings.
	AcksOverdue uint64
	// PathsRefused: new addresses that did not prove to be the peer's.
	PathsRefused uint64
	// BlackHoles: times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section
	// 3).
	BlackHoles uint64
	// catalogue: end
}

// Overview is a snapshot of a connection.
type Overview struct {
	Peer Peer
	// RTT is the smoothed round-trip time, RTTVariation its jitter, RTTMin the smallest measured value; 0 before the first
	// measurement.
	RTT, RTTVariation, RTTMin time.Duration
	// Carrier is "udp", "dtls", "wt", "ws", "wss", "tcp", "tls" or "local".
	Carrier string
	// QueuedMessages are queued or in flight, with QueuedBytes. HeldBytes have arrived and wait for earlier messages.
	QueuedMessages, QueuedBytes, HeldBytes uint64
	// BytesInFlight are limited by CongestionWindow.
	BytesInFlight, CongestionWindow uint64
	// DatagramBytes is the maximum that the path is known to carry.
	DatagramBytes uint32
	// AvailableBytesPerSecond is how many bytes of datagrams may be sent to the peer, as far as the path is known: scale
	// snapshots by it. math.MaxUint64 where nothing limits them: on a stream, whose load shows in QueuedBytes.
	AvailableBytesPerSecond uint64
	Sending, Receiving      Traffic
	Stats                   Stats
}

// Traffic is one direction of a connection: rates over about a second, and loss.
type Traffic struct {
	// BytesPerSecond counts bytes on the wire, headers included; PayloadBytesPerSecond counts the bytes of messages.
	MessagesPerSecond, BytesPerSecond, PayloadBytesPerSecond float64
	// Loss is the share of packets that the path lost, 0 to 1, over about the last thousand packets. In the direction to
	// the peer, packets that were sent together count as one.
	Loss float64
}

// ServerTime is a client's estimate of the server's clock.
type ServerTime struct {
	// At is the server's uptime. Error is the maximum error, in either direction.
	At, Error time.Duration
}

func flowOf(raw *C.SkipstoneFlow) Flow {
	var flow Flow
	// catalogue: flow copied
	flow.Datagrams = uint64(raw.datagrams)
	flow.Messages = uint64(raw.messages)
	flow.PayloadBytes = uint64(raw.payload_bytes)
	flow.DatagramBytes = uint64(raw.datagram_bytes)
	flow.IPBytes = uint64(raw.ip_bytes)
	// catalogue: end
	return flow
}

func statsOf(raw *C.SkipstoneStats) Stats {
	var stats Stats
	// catalogue: counters copied
	stats.Sent = flowOf(&raw.sent)
	stats.Received = flowOf(&raw.received)
	stats.PacketsLost = uint64(raw.packets_lost)
	stats.PacketsSpurious = uint64(raw.packets_spurious)
	stats.Resent = uint64(raw.resent)
	stats.Probes = uint64(raw.probes)
	stats.RepairsSent = uint64(raw.repairs_sent)
	stats.CopiesSent = uint64(raw.copies_sent)
	stats.RedundancyBytesSent = uint64(raw.redundancy_bytes_sent)
	stats.PacketsRecovered = uint64(raw.packets_recovered)
	stats.PacketsRecoveredByPeer = uint64(raw.packets_recovered_by_peer)
	stats.PathsChanged = uint64(raw.paths_changed)
	stats.QueueOverflows = uint64(raw.queue_overflows)
	stats.Drops = uint64(raw.drops)
	stats.AcksOverdue = uint64(raw.acks_overdue)
	stats.PathsRefused = uint64(raw.paths_refused)
	stats.BlackHoles = uint64(raw.black_holes)
	// catalogue: end
	return stats
}

// statsOfOverview reads the counters of an overview, whose newer ones are at its end.
func statsOfOverview(raw *C.SkipstoneOverview) Stats {
	var stats Stats
	// catalogue: counters of an overview copied
	stats.Sent = flowOf(&raw.stats.sent)
	stats.Received = flowOf(&raw.stats.received)
	stats.PacketsLost = uint64(raw.stats.packets_lost)
	stats.PacketsSpurious = uint64(raw.stats.packets_spurious)
	stats.Resent = uint64(raw.stats.resent)
	stats.Probes = uint64(raw.stats.probes)
	stats.RepairsSent = uint64(raw.stats.repairs_sent)
	stats.CopiesSent = uint64(raw.stats.copies_sent)
	stats.RedundancyBytesSent = uint64(raw.stats.redundancy_bytes_sent)
	stats.PacketsRecovered = uint64(raw.stats.packets_recovered)
	stats.PacketsRecoveredByPeer = uint64(raw.stats.packets_recovered_by_peer)
	stats.PathsChanged = uint64(raw.stats.paths_changed)
	stats.QueueOverflows = uint64(raw.stats.queue_overflows)
	stats.Drops = uint64(raw.stats.drops)
	stats.AcksOverdue = uint64(raw.acks_overdue)
	stats.PathsRefused = uint64(raw.paths_refused)
	stats.BlackHoles = uint64(raw.black_holes)
	// catalogue: end
	return stats
}

// overview reads one connection of a server or a client.
func (h *handle) overview(peer Peer) (Overview, error) {
	var raw C.SkipstoneOverview
	raw.size = C.uint32_t(unsafe.Sizeof(raw))
	err := h.call(func() C.SkipstoneStatus { return C.skipstone_overview(h.number, C.SkipstonePeer(peer), &raw) })
	if err != nil {
		return Overview{}, err
	}
	return overviewOf(&raw), nil
}

func overviewOf(raw *C.SkipstoneOverview) Overview {
	span := func(us C.uint64_t) time.Duration { return time.Duration(us) * time.Microsecond }
	carrier, _, _ := bytes.Cut(C.GoBytes(unsafe.Pointer(&raw.carrier[0]), C.int(len(raw.carrier))), []byte{0})
	return Overview{
		Peer: Peer(raw.peer), Carrier: string(carrier),
		RTT: span(raw.rtt_us), RTTVariation: span(raw.rtt_variation_us), RTTMin: span(raw.rtt_min_us),
		QueuedMessages: uint64(raw.queued_messages), QueuedBytes: uint64(raw.queued_bytes), HeldBytes: uint64(raw.held_bytes),
		BytesInFlight: uint64(raw.bytes_in_flight), CongestionWindow: uint64(raw.congestion_window),
		DatagramBytes: uint32(raw.datagram_bytes), AvailableBytesPerSecond: uint64(raw.available_bytes_per_second),
		Sending: Traffic{
			MessagesPerSecond: float64(raw.sent_messages_per_second), BytesPerSecond: float64(raw.sent_bytes_per_second),
			PayloadBytesPerSecond: float64(raw.sent_payload_bytes_per_second), Loss: float64(raw.sent_loss),
		},
		Receiving: Traffic{
			MessagesPerSecond: float64(raw.received_messages_per_second), BytesPerSecond: float64(raw.received_bytes_per_second),
			PayloadBytesPerSecond: float64(raw.received_payload_bytes_per_second), Loss: float64(raw.received_loss),
		},
		Stats: statsOfOverview(raw),
	}
}
