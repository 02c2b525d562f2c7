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
	Datagrams, Messages, PayloadBytes, DatagramBytes, IPBytes uint64
}

// Stats has the counters of a connection, or of all. They only grow, and are up to 50 ms old.
type Stats struct {
	Sent, Received Flow
	// PacketsLost were declared lost; PacketsSpurious of them were acknowledged later.
	PacketsLost, PacketsSpurious uint64
	// Resent counts messages and fragments retransmitted, Probes overdue acknowledgements.
	Resent, Probes uint64
	// RepairsSent counts repair packets, CopiesSent copies of retransmissions and packets that repeat messages, RedundancyBytesSent the
	// bytes of both.
	RepairsSent, CopiesSent, RedundancyBytesSent uint64
	// PacketsRecovered counts lost packets of the peer that were recovered here, PacketsRecoveredByPeer the reverse.
	PacketsRecovered, PacketsRecoveredByPeer uint64
	// PathsChanged counts moves to a new address.
	PathsChanged uint64
	// QueueOverflows counts messages refused or dropped by a full queue, Drops what was dropped on arrival.
	QueueOverflows, Drops uint64
}

// Overview is a connection at one moment.
type Overview struct {
	Peer Peer
	// RTT is smoothed, RTTVariation its jitter, RTTMin the least that was measured; 0 before the first.
	RTT, RTTVariation, RTTMin time.Duration
	// Carrier is "udp", "dtls", "wt", "ws", "wss", "tcp", "tls" or "local".
	Carrier string
	// QueuedMessages wait or are in flight, with QueuedBytes. HeldBytes arrived and wait for earlier messages.
	QueuedMessages, QueuedBytes, HeldBytes uint64
	// BytesInFlight are limited by CongestionWindow.
	BytesInFlight, CongestionWindow uint64
	// DatagramBytes is what the path is known to carry.
	DatagramBytes uint32
	// AvailableBytesPerSecond is how many bytes of datagrams may be sent to the peer, as far as the path is known: scale
	// snapshots by it. math.MaxUint64 where nothing limits them: on a stream, whose load shows in QueuedBytes.
	AvailableBytesPerSecond uint64
	Sending, Receiving      Traffic
	Stats                   Stats
}

// Traffic is one direction of a connection: rates over about a second, and loss.
type Traffic struct {
	// BytesPerSecond are on the wire, headers included; PayloadBytesPerSecond are those of messages.
	MessagesPerSecond, BytesPerSecond, PayloadBytesPerSecond float64
	// Loss is the share of packets that the path lost, 0 to 1, over about the last thousand; of those to the peer, packets that were
	// sent together count as one.
	Loss float64
}

// ServerTime is a client's estimate of the server's clock.
type ServerTime struct {
	// At is how long the server has been running; Error the greatest difference, in both directions.
	At, Error time.Duration
}

func flowOf(raw *C.SkipstoneFlow) Flow {
	return Flow{
		Datagrams: uint64(raw.datagrams), Messages: uint64(raw.messages), PayloadBytes: uint64(raw.payload_bytes),
		DatagramBytes: uint64(raw.datagram_bytes), IPBytes: uint64(raw.ip_bytes),
	}
}

func statsOf(raw *C.SkipstoneStats) Stats {
	return Stats{
		Sent: flowOf(&raw.sent), Received: flowOf(&raw.received),
		PacketsLost: uint64(raw.packets_lost), PacketsSpurious: uint64(raw.packets_spurious),
		Resent: uint64(raw.resent), Probes: uint64(raw.probes),
		RepairsSent: uint64(raw.repairs_sent), CopiesSent: uint64(raw.copies_sent),
		RedundancyBytesSent: uint64(raw.redundancy_bytes_sent),
		PacketsRecovered:    uint64(raw.packets_recovered), PacketsRecoveredByPeer: uint64(raw.packets_recovered_by_peer),
		PathsChanged:   uint64(raw.paths_changed),
		QueueOverflows: uint64(raw.queue_overflows), Drops: uint64(raw.drops),
	}
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
		Stats: statsOf(&raw.stats),
	}
}
