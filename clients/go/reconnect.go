package skipstone

// #include "skipstone.h"
import "C"

import "time"

// Reconnect makes a client connect again by itself, in [Client.Poll], after it lost its connection or if the server
// restarts or is full. The pause doubles with each failed attempt, and half of it is random. Fields of zero have the
// defaults.
type Reconnect struct {
	// PauseMin is the first pause after a lost connection, at least 1 ms, 250 ms by default; PauseMax the longest, 30 s by
	// default.
	PauseMin, PauseMax time.Duration
	// AttemptsMax is the maximum number of consecutive failed attempts; 20 by default.
	AttemptsMax uint32
}

func (reconnect *Reconnect) write(raw *C.SkipstoneClientConfig) {
	if reconnect == nil {
		return
	}
	raw.reconnects = 1
	if reconnect.PauseMin != 0 {
		raw.reconnect_pause_min_us = micros(reconnect.PauseMin)
	}
	if reconnect.PauseMax != 0 {
		raw.reconnect_pause_max_us = micros(reconnect.PauseMax)
	}
	if reconnect.AttemptsMax != 0 {
		raw.reconnect_attempts_max = C.uint32_t(reconnect.AttemptsMax)
	}
}

// ReturnsIn is the time until a client with [ClientConfig].Reconnect connects again: call it while handling [Closed],
// before the next Poll, which may begin the next attempt. The next connection is a new one, from [Connected] to
// [Closed], and queued messages are not transferred to it. [ErrNotAvailable] if there is no next attempt, or the client
// is connected or connecting.
func (c *Client) ReturnsIn() (time.Duration, error) {
	var us C.uint64_t
	err := c.call(func() C.SkipstoneStatus { return C.skipstone_client_returns_in(C.SkipstoneClient(c.number), &us) })
	return time.Duration(us) * time.Microsecond, err
}

// Reconnect begins a new connection after [Closed], with the URL and configuration of the first one and the newest
// token: the one given to [Client.SetToken], or else the first. Before [Closed] it returns [ErrStillOpen]. If the
// server restarts and names another address, the connection goes there. Wait before each call, longer each time, and
// add a random part.
func (c *Client) Reconnect() error {
	return c.call(func() C.SkipstoneStatus { return C.skipstone_client_reconnect(C.SkipstoneClient(c.number)) })
}

// SetToken sets the token of later connections: what the server gave the client for its session, in place of the first
// token. Up to 1,024 bytes; after an error the previous token stays.
func (c *Client) SetToken(token []byte) error {
	return c.call(func() C.SkipstoneStatus {
		return C.skipstone_client_set_token(C.SkipstoneClient(c.number), bytesOf(token), C.size_t(len(token)))
	})
}
