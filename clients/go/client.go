package skipstone

// #include "skipstone.h"
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// ClientConfig configures a client. The zero value has the defaults; the server's settings determine timeouts and
// channels.
type ClientConfig struct {
	// Trust is which servers to trust, unless the URL has a fingerprint.
	Trust      Trust
	Threading  Threading
	Merging    Merging
	Congestion Congestion
	// HandshakeTimeout is 10 s by default.
	HandshakeTimeout time.Duration
	// BandwidthMax limits what this client sends, in bytes per second; 0 for no limit.
	BandwidthMax uint64
	// Reconnect has the client connect again by itself; nil, the default, has it not.
	Reconnect *Reconnect
	// Impairment simulates a network around the UDP socket; nil for none.
	Impairment *Impairment
}

// Client is one connection to one server.
type Client struct{ handle }

// Dial begins to connect to skip://host:port#sha256=..., skip+plain://, ws://, wss:// or tcp://. An event of the kind
// [Connected] or [Closed] follows. The server decides by the token, of up to 1,024 bytes. config may be nil.
func Dial(url string, token []byte, config *ClientConfig) (*Client, error) {
	var memory arena
	defer memory.free()
	address := memory.text("the URL", url)
	if address == nil && memory.err == nil {
		memory.err = &Error{C.SKIPSTONE_STATUS_BAD_URL, "the URL is empty: give one as skip://127.0.0.1:7777"}
	}
	return open(&memory, token, config, func(raw *C.SkipstoneClientConfig, number *C.SkipstoneClient) C.SkipstoneStatus {
		return C.skipstone_client_connect(address, bytesOf(token), C.size_t(len(token)), raw, number)
	})
}

// DialLocal connects a client of this process to its server, without a socket and without encryption.
func (s *Server) DialLocal(token []byte, config *ClientConfig) (*Client, error) {
	var memory arena
	defer memory.free()
	return open(&memory, token, config, func(raw *C.SkipstoneClientConfig, number *C.SkipstoneClient) C.SkipstoneStatus {
		return C.skipstone_client_connect_local(s.number, bytesOf(token), C.size_t(len(token)), raw, number)
	})
}

func open(
	memory *arena,
	token []byte,
	config *ClientConfig,
	connect func(*C.SkipstoneClientConfig, *C.SkipstoneClient) C.SkipstoneStatus,
) (*Client, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	if config == nil {
		config = &ClientConfig{}
	}
	var raw C.SkipstoneClientConfig
	C.skipstone_client_config_init(&raw, C.uint32_t(unsafe.Sizeof(raw)))
	config.write(&raw, memory)
	if memory.err != nil {
		return nil, memory.err
	}
	// The token's bytes are pinned while the library reads them.
	var pinner runtime.Pinner
	defer pinner.Unpin()
	if len(token) > 0 {
		pinner.Pin(unsafe.SliceData(token))
	}
	var number C.SkipstoneClient
	if err := call(func() C.SkipstoneStatus { return connect(&raw, &number) }); err != nil {
		return nil, err
	}
	client := &Client{}
	client.start(C.SkipstoneHandle(number), config.Threading)
	runtime.AddCleanup(client, release, C.SkipstoneHandle(number))
	return client, nil
}

func (config *ClientConfig) write(raw *C.SkipstoneClientConfig, memory *arena) {
	raw.threading, raw.congestion = C.uint32_t(config.Threading), C.uint32_t(config.Congestion)
	raw.trust = C.uint32_t(config.Trust.kind)
	raw.authorities = memory.text("the authorities", config.Trust.authorities)
	for i, digit := range config.Trust.fingerprint {
		raw.fingerprint[i] = C.uint8_t(digit)
	}
	if config.Merging.isSet {
		raw.merging_us = C.uint64_t(config.Merging.span)
	}
	if config.HandshakeTimeout != 0 {
		raw.handshake_timeout_us = micros(config.HandshakeTimeout)
	}
	raw.bandwidth_max = C.uint64_t(config.BandwidthMax)
	config.Reconnect.write(raw)
	if simulated := config.Impairment; simulated != nil {
		raw.impaired, raw.impairment_seed = 1, C.uint64_t(simulated.Seed)
		raw.up, raw.down = simulated.Up.raw(), simulated.Down.raw()
	}
}

// Send queues a message. A message that a reliable channel accepts is delivered, or ends in [GivenUp], or the
// connection ends. The bytes are copied.
func (c *Client) Send(channel uint16, payload []byte) (MessageID, error) {
	return c.SendAged(channel, payload, 0)
}

// SendAged is Send for a message that answers one with this age.
func (c *Client) SendAged(channel uint16, payload []byte, age time.Duration) (MessageID, error) {
	defer runtime.KeepAlive(c)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var id C.uint64_t
	number, length := C.SkipstoneClient(c.number), C.size_t(len(payload))
	err := check(C.skipstone_client_send(number, C.uint16_t(channel), bytesOf(payload), length, micros(age), &id))
	return MessageID(id), err
}

// Peer is the connection's number in its events.
func (c *Client) Peer() (Peer, error) {
	var peer C.SkipstonePeer
	err := c.call(func() C.SkipstoneStatus { return C.skipstone_client_peer(C.SkipstoneClient(c.number), &peer) })
	return Peer(peer), err
}

// Overview returns the state and counters of the connection; [ErrNotAvailable] before the first ones are available.
func (c *Client) Overview() (Overview, error) {
	peer, err := c.Peer()
	if err != nil {
		return Overview{}, err
	}
	return c.overview(peer)
}

// ServerTime estimates the server's clock; [ErrNotAvailable] until the server has answered.
func (c *Client) ServerTime() (ServerTime, error) {
	var raw C.SkipstoneServerTime
	err := c.call(func() C.SkipstoneStatus { return C.skipstone_client_server_time(C.SkipstoneClient(c.number), &raw) })
	return ServerTime{time.Duration(raw.at_us) * time.Microsecond, time.Duration(raw.error_us) * time.Microsecond}, err
}

// Rebind moves the connection to a new socket, after the system has reported a change of network. False if it cannot
// move.
func (c *Client) Rebind() (bool, error) {
	var moved C.uint32_t
	err := c.call(func() C.SkipstoneStatus { return C.skipstone_client_rebind(C.SkipstoneClient(c.number), &moved) })
	return moved != 0, err
}

// Close ends the connection; queued reliable messages have half a second to arrive.
func (c *Client) Close() error { return c.CloseWith(CodeNone, "", linger) }

// CloseWith closes the connection. The server receives the code (those below 1,000 are the application's own) and up to
// 512 bytes of the reason; queued reliable messages have the linger time to arrive.
func (c *Client) CloseWith(code uint64, reason string, span time.Duration) error {
	var memory arena
	defer memory.free()
	why := memory.text("the reason", reason)
	if memory.err != nil {
		return memory.err
	}
	return c.call(func() C.SkipstoneStatus {
		return C.skipstone_client_close(C.SkipstoneClient(c.number), C.uint64_t(code), why, micros(span))
	})
}

// linger is the default time that queued messages have to arrive at the end.
const linger = 500 * time.Millisecond
