package skipstone

// #include "skipstone.h"
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// Group is a set of peers that the application names.
type Group uint32

// Everyone has every connected peer, always.
const Everyone Group = C.SKIPSTONE_EVERYONE

// ServerConfig configures a server. The zero value has the defaults.
type ServerConfig struct {
	// Channels is the channel table: the first rule that has a channel rules it. By default every channel is reliable and
	// in order.
	Channels []ChannelRule
	// Security encrypts by default, with a certificate made for this run.
	Security Security
	// NoWebSocket and NoWebTransport leave browsers out.
	NoWebSocket, NoWebTransport bool
	Threading                   Threading
	// Merging is when the server sends, ClientMerging when its clients do, unless they choose otherwise.
	Merging, ClientMerging Merging
	Congestion             Congestion
	Redundancy             Redundancy
	// RedundancyBudgetPercent limits the bytes of repairs and copies, in percent of the bytes that they protect. 0 means
	// the default.
	RedundancyBudgetPercent uint16
	// catalogue: settings
	// IdleTimeout: time without a packet after which the peer is gone: the idle timeout. 0 has the default.
	IdleTimeout time.Duration
	// Keepalive: time without a packet after which a client sends a PING, or 5/6 of the idle timeout if that is
	// shorter; a server waits half as long again, or until half-way to the idle timeout if that is sooner. 0 has the
	// default.
	Keepalive time.Duration
	// AckDelay: longest time for which an acknowledgement may be held back while losses are possible (WIRE.md section
	// 4.1). 0 has the default.
	AckDelay time.Duration
	// AckDelayMax: longest time for which an acknowledgement may be held back at all, also where nothing was lost
	// (WIRE.md section 4.1); `ack_delay` if that is longer. On a stream it is always 100 ms. 0 has the default.
	AckDelayMax time.Duration
	// MessageBytesMax: maximum bytes of a message. 0 has the default.
	MessageBytesMax uint32
	// WindowBytes: bytes of reliable messages that a receiver holds: the receive window, in which a message of
	// `message_bytes_max` must fit. 0 has the default.
	WindowBytes uint32
	// DatagramBytesMax: maximum bytes of a datagram of UDP; streams have packets of their own size. 0 has the default.
	DatagramBytesMax uint32
	// MovesChannel: the channel by which the server moves its clients to other servers (WIRE.md section 8.2), which
	// must be reliable and ordered, and which applications cannot use; 65,536 for none. 0 has the default.
	MovesChannel uint32
	// catalogue: end
	// catalogue: server settings
	// TrustedProxies: proxies, by address or network (`10.0.0.7`, `10.0.0.0/8`), that may name the client whose
	// connection they forward: by the PROXY protocol (versions 1 and 2), or for WebSockets by `Forwarded` or
	// `X-Forwarded-For`.
	TrustedProxies []string
	// Denied: addresses and networks that the server denies, on any carrier: their datagrams are dropped and their
	// streams closed before any state is kept or any answer sent, and counted.
	Denied []string
	// HandshakeTimeout: time limit of a handshake, the application's decision included. 0 has the default.
	HandshakeTimeout time.Duration
	// ConnectionsMax: maximum number of connected players; further clients are told that the server is full.
	// Connections that are closing, were refused, or wait to be accepted do not count. 0 has the default.
	ConnectionsMax uint32
	// PlayersOfNetworkMax: players of one network (IPv4 /24, IPv6 /56) at most; further clients of it are told that it
	// has no more places. By default three times as many as there are free places, and 8 in any case, so that one
	// network leaves a quarter of the places to others; then loopback and private addresses have no limit.
	PlayersOfNetworkMax uint32
	// Shards: number of drivers, each with its own thread, sockets and share of the clients; at most one for each core
	// is useful. 1 by default, or 2 to 256 on Linux with background threads. 0 has the default.
	Shards uint32
	// QueueBytesMax: bytes of messages that may wait in each of the two queues between the application and a driver's
	// thread: messages to send, and events that were not polled. At least 1 MiB. 0 has the default.
	QueueBytesMax uint64
	// BandwidthMaxPerPeer: maximum rate at which the server sends to each client, in bytes per second, IP headers
	// included; at least 1,000. Without a limit by default.
	BandwidthMaxPerPeer uint64
	// BandwidthMax: maximum rate at which the server sends to all clients together, in bytes per second, IP headers
	// included. Without a limit by default.
	BandwidthMax uint64
	// QueryAnswer: answer to server browsers, which ask in clear and without a connection: up to 1,181 bytes in the
	// application's own format. No answer by default.
	QueryAnswer []byte
	// TransferBytesMin: the progress of messages of at least this many bytes is published; by default of none, which
	// costs nothing.
	TransferBytesMin uint32
	// MemoryPerConnection: bytes of memory that one connection may use; never less than four receive windows. 0 has the
	// default.
	MemoryPerConnection uint64
	// MemoryPerNetwork: bytes of memory that all connections of one network (IPv4 /24, IPv6 /56) may use. 0 has the
	// default.
	MemoryPerNetwork uint64
	// MemoryMax: bytes of memory that all connections may use. 0 has the default.
	MemoryMax uint64
	// Origins: origins of the pages from which browsers may connect, as browsers write them: `https://game.example`.
	// Others get HTTP 403. An empty list allows all. Programs other than browsers send no origin and may connect: the
	// list protects players from other sites' pages, not the server from unknown clients.
	Origins []string
	// Hosts: names and addresses that a request may have as `Host`, without ports: `game.example`. Others get HTTP 421.
	// An empty list allows all.
	Hosts []string
	// RequiresTLS: requires TLS: requests for pages are redirected to `https://`, unencrypted WebSockets and streams
	// are refused. Streams from a trusted proxy are accepted, since TLS may end there. Needs a certificate.
	RequiresTLS bool
	// catalogue: end
	// Impairment simulates a network around the UDP socket, with NoWebSocket; nil for none.
	Impairment *Impairment
}

// Server has all players, on every carrier, at one port.
type Server struct{ handle }

// Listen opens the sockets at host:port and begins to serve. Port 0 lets the system choose; an empty address makes a
// server without sockets, which only [Server.DialLocal] reaches. config may be nil.
func Listen(address string, config *ServerConfig) (*Server, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	if config == nil {
		config = &ServerConfig{}
	}
	var memory arena
	defer memory.free()
	var raw C.SkipstoneServerConfig
	C.skipstone_server_config_init(&raw, C.uint32_t(unsafe.Sizeof(raw)))
	raw.listen = memory.text("the address", address)
	config.write(&raw, &memory)
	if address == "" {
		raw.websocket, raw.webtransport = 0, 0
		raw.security = C.SKIPSTONE_SECURITY_PLAIN
	}
	if memory.err != nil {
		return nil, memory.err
	}
	var number C.SkipstoneServer
	if err := call(func() C.SkipstoneStatus { return C.skipstone_server_start(&raw, &number) }); err != nil {
		return nil, err
	}
	server := &Server{}
	server.start(C.SkipstoneHandle(number), config.Threading)
	runtime.AddCleanup(server, release, C.SkipstoneHandle(number))
	return server, nil
}

func (config *ServerConfig) write(raw *C.SkipstoneServerConfig, memory *arena) {
	raw.threading, raw.congestion = C.uint32_t(config.Threading), C.uint32_t(config.Congestion)
	raw.security, raw.allows_plain = C.uint32_t(config.Security.kind), flag(config.Security.allowsPlain)
	raw.certificate = memory.text("the certificate", config.Security.certificate)
	raw.key = memory.text("the key", config.Security.key)
	// Features that the library was built without are off by default.
	if config.NoWebSocket {
		raw.websocket = 0
	}
	if config.NoWebTransport {
		raw.webtransport = 0
	}
	raw.channels, raw.channel_count = memory.rules(config.Channels), C.uint32_t(len(config.Channels))
	for _, merging := range []struct {
		to   *C.uint64_t
		from Merging
	}{{&raw.merging_us, config.Merging}, {&raw.client_merging_us, config.ClientMerging}} {
		if merging.from.isSet {
			*merging.to = C.uint64_t(merging.from.span)
		}
	}
	// catalogue: settings written
	if config.IdleTimeout != 0 {
		raw.idle_timeout_us = micros(config.IdleTimeout)
	}
	if config.Keepalive != 0 {
		raw.keepalive_us = micros(config.Keepalive)
	}
	if config.AckDelay != 0 {
		raw.ack_delay_us = micros(config.AckDelay)
	}
	if config.AckDelayMax != 0 {
		raw.ack_delay_max_us = micros(config.AckDelayMax)
	}
	if config.MessageBytesMax != 0 {
		raw.message_bytes_max = C.uint32_t(config.MessageBytesMax)
	}
	if config.WindowBytes != 0 {
		raw.window_bytes = C.uint32_t(config.WindowBytes)
	}
	if config.DatagramBytesMax != 0 {
		raw.datagram_bytes_max = C.uint32_t(config.DatagramBytesMax)
	}
	if config.MovesChannel != 0 {
		raw.moves_channel = C.uint32_t(config.MovesChannel)
	}
	// catalogue: end
	// catalogue: server settings written
	raw.trusted_proxies, raw.trusted_proxy_count = memory.texts("TrustedProxies", config.TrustedProxies), C.uint32_t(len(config.TrustedProxies))
	raw.denied, raw.denied_count = memory.texts("Denied", config.Denied), C.uint32_t(len(config.Denied))
	if config.HandshakeTimeout != 0 {
		raw.handshake_timeout_us = micros(config.HandshakeTimeout)
	}
	if config.ConnectionsMax != 0 {
		raw.connections_max = C.uint32_t(config.ConnectionsMax)
	}
	if config.PlayersOfNetworkMax != 0 {
		raw.players_of_network_max = C.uint32_t(config.PlayersOfNetworkMax)
	}
	if config.Shards != 0 {
		raw.shards = C.uint32_t(config.Shards)
	}
	if config.QueueBytesMax != 0 {
		raw.queue_bytes_max = C.uint64_t(config.QueueBytesMax)
	}
	if config.BandwidthMaxPerPeer != 0 {
		raw.bandwidth_max_per_peer = C.uint64_t(config.BandwidthMaxPerPeer)
	}
	if config.BandwidthMax != 0 {
		raw.bandwidth_max = C.uint64_t(config.BandwidthMax)
	}
	raw.query_answer, raw.query_answer_length = memory.bytes(config.QueryAnswer), C.uint32_t(len(config.QueryAnswer))
	if config.TransferBytesMin != 0 {
		raw.transfer_bytes_min = C.uint32_t(config.TransferBytesMin)
	}
	if config.MemoryPerConnection != 0 {
		raw.memory_per_connection = C.uint64_t(config.MemoryPerConnection)
	}
	if config.MemoryPerNetwork != 0 {
		raw.memory_per_network = C.uint64_t(config.MemoryPerNetwork)
	}
	if config.MemoryMax != 0 {
		raw.memory_max = C.uint64_t(config.MemoryMax)
	}
	raw.origins, raw.origin_count = memory.texts("Origins", config.Origins), C.uint32_t(len(config.Origins))
	raw.hosts, raw.host_count = memory.texts("Hosts", config.Hosts), C.uint32_t(len(config.Hosts))
	raw.requires_tls = flag(config.RequiresTLS)
	// catalogue: end
	if redundancy := config.Redundancy; redundancy.kind != 0 {
		raw.redundancy = C.uint32_t(redundancy.kind - 1)
		raw.redundancy_first, raw.redundancy_second = C.uint8_t(redundancy.first), C.uint8_t(redundancy.second)
	}
	if config.RedundancyBudgetPercent != 0 {
		raw.redundancy_budget_percent = C.uint16_t(config.RedundancyBudgetPercent)
	}
	if simulated := config.Impairment; simulated != nil {
		raw.impaired, raw.impairment_seed = 1, C.uint64_t(simulated.Seed)
		raw.up, raw.down = simulated.Up.raw(), simulated.Down.raw()
	}
}

func (s *Server) server() C.SkipstoneServer { return C.SkipstoneServer(s.number) }

// Accept accepts a client that requested a connection. An event of the kind [Connected] follows.
func (s *Server) Accept(peer Peer) error {
	return s.call(func() C.SkipstoneStatus { return C.skipstone_server_accept(s.server(), C.SkipstonePeer(peer)) })
}

// Refuse refuses a client that requested a connection. The client receives the code and up to 512 bytes of the reason.
func (s *Server) Refuse(peer Peer, code uint64, reason string) error {
	return s.Disconnect(peer, code, reason, 0)
}

// Disconnect closes a connection; an event of the kind [Closed] follows. Queued reliable messages have the linger time
// to arrive first. The peer receives the code (those below 1,000 are the application's own) and up to 512 bytes of the
// reason.
func (s *Server) Disconnect(peer Peer, code uint64, reason string, span time.Duration) error {
	var memory arena
	defer memory.free()
	why := memory.text("the reason", reason)
	if memory.err != nil {
		return memory.err
	}
	return s.call(func() C.SkipstoneStatus {
		return C.skipstone_server_close(s.server(), C.SkipstonePeer(peer), C.uint64_t(code), why, micros(span))
	})
}

// Send queues a message to one peer. A message that a reliable channel accepts is delivered, or ends in [GivenUp], or
// the connection ends. The bytes are copied.
func (s *Server) Send(peer Peer, channel uint16, payload []byte) (MessageID, error) {
	return s.SendAged(peer, channel, payload, 0)
}

// SendAged is Send for a message that answers, or passes on, one with this age.
func (s *Server) SendAged(peer Peer, channel uint16, payload []byte, age time.Duration) (MessageID, error) {
	defer runtime.KeepAlive(s)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var id C.uint64_t
	length := C.size_t(len(payload))
	err := check(C.skipstone_server_send(
		s.server(), C.SkipstonePeer(peer), C.uint16_t(channel), bytesOf(payload), length, micros(age), &id))
	return MessageID(id), err
}

// Broadcast queues one message to every connected member of a group, and returns for how many it was accepted. The
// bytes are copied once for all members.
func (s *Server) Broadcast(group Group, channel uint16, payload []byte) (MessageID, int, error) {
	defer runtime.KeepAlive(s)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var id C.uint64_t
	var peers C.uint32_t
	length := C.size_t(len(payload))
	err := check(C.skipstone_server_broadcast(
		s.server(), C.SkipstoneGroup(group), C.uint16_t(channel), bytesOf(payload), length, &peers, &id))
	return MessageID(id), int(peers), err
}

// Join adds a peer to a group.
func (s *Server) Join(peer Peer, group Group) error {
	return s.call(func() C.SkipstoneStatus {
		return C.skipstone_server_join(s.server(), C.SkipstonePeer(peer), C.SkipstoneGroup(group))
	})
}

// Leave removes a peer from a group.
func (s *Server) Leave(peer Peer, group Group) error {
	return s.call(func() C.SkipstoneStatus {
		return C.skipstone_server_leave(s.server(), C.SkipstonePeer(peer), C.SkipstoneGroup(group))
	})
}

// URL is the URL by which clients on this machine reach the server, with its fingerprint.
func (s *Server) URL() (string, error) {
	return s.text(func(buffer *C.char, capacity C.size_t, length *C.size_t) C.SkipstoneStatus {
		return C.skipstone_server_url(s.server(), buffer, capacity, length)
	})
}

// WebTransportURL is the URL by which pages on this machine reach the server; [ErrNotAvailable] if it has no
// WebTransport.
func (s *Server) WebTransportURL() (string, error) {
	return s.text(func(buffer *C.char, capacity C.size_t, length *C.size_t) C.SkipstoneStatus {
		return C.skipstone_server_webtransport_url(s.server(), buffer, capacity, length)
	})
}

// Address is where the server listens, as "0.0.0.0:7777".
func (s *Server) Address() (string, error) {
	return s.text(func(buffer *C.char, capacity C.size_t, length *C.size_t) C.SkipstoneStatus {
		return C.skipstone_server_address(s.server(), buffer, capacity, length)
	})
}

// Port is the port on which the server listens.
func (s *Server) Port() (uint16, error) {
	var port C.uint16_t
	err := s.call(func() C.SkipstoneStatus { return C.skipstone_server_port(s.server(), &port) })
	return uint16(port), err
}

// Fingerprint returns the fingerprint of the server's certificate; [ErrNotAvailable] if the server does not encrypt.
func (s *Server) Fingerprint() (Fingerprint, error) {
	var fingerprint Fingerprint
	err := s.call(func() C.SkipstoneStatus {
		return C.skipstone_server_fingerprint(s.server(), (*C.uint8_t)(unsafe.Pointer(&fingerprint[0])))
	})
	return fingerprint, err
}

// WebFingerprints returns the fingerprints of the certificates that browsers accept by their hash, for a page's
// serverCertificateHashes: the current one and the next one. There are none if the certificate is signed by an
// authority that browsers trust.
func (s *Server) WebFingerprints() ([]Fingerprint, error) {
	var fingerprints [8]Fingerprint
	var count C.uint32_t
	err := s.call(func() C.SkipstoneStatus {
		first := (*C.uint8_t)(unsafe.Pointer(&fingerprints[0][0]))
		return C.skipstone_server_web_fingerprints(s.server(), first, C.uint32_t(len(fingerprints)), &count)
	})
	return fingerprints[:min(int(count), len(fingerprints))], err
}

// Time is the server's uptime: the clock that [Client.ServerTime] estimates.
func (s *Server) Time() (time.Duration, error) {
	var us C.uint64_t
	err := s.call(func() C.SkipstoneStatus { return C.skipstone_server_time(s.server(), &us) })
	return time.Duration(us) * time.Microsecond, err
}

// Stats has the counters of all connections, past and present, up to 50 ms old.
func (s *Server) Stats() (Stats, error) {
	var raw C.SkipstoneStats
	raw.size = C.uint32_t(unsafe.Sizeof(raw))
	err := s.call(func() C.SkipstoneStatus { return C.skipstone_server_stats(s.server(), &raw) })
	return statsOf(&raw), err
}

// Overview has state and counters of one connection; [ErrNotAvailable] if there is no such connection.
func (s *Server) Overview(peer Peer) (Overview, error) { return s.overview(peer) }

// Overviews has state and counters of every connection. For display: the cost grows with the number of connections.
func (s *Server) Overviews() ([]Overview, error) {
	var count C.uint32_t
	for {
		raw := make([]C.SkipstoneOverview, count+1)
		for i := range raw {
			raw[i].size = C.uint32_t(unsafe.Sizeof(raw[i]))
		}
		capacity := C.uint32_t(len(raw))
		err := s.call(func() C.SkipstoneStatus { return C.skipstone_server_overviews(s.server(), &raw[0], capacity, &count) })
		if err != nil {
			return nil, err
		}
		if count <= capacity {
			overviews := make([]Overview, count)
			for i := range overviews {
				overviews[i] = overviewOf(&raw[i])
			}
			return overviews, nil
		}
	}
}

// Close ends every connection and the server; queued reliable messages have half a second to arrive.
func (s *Server) Close() error { return s.Shutdown(CodeShutdown, "", linger) }

// Shutdown closes every connection and stops the server. Queued reliable messages have the linger time to arrive; the
// call takes little longer.
func (s *Server) Shutdown(code uint64, reason string, span time.Duration) error {
	var memory arena
	defer memory.free()
	why := memory.text("the reason", reason)
	if memory.err != nil {
		return memory.err
	}
	return s.call(func() C.SkipstoneStatus {
		return C.skipstone_server_stop(s.server(), C.uint64_t(code), why, micros(span))
	})
}
