package skipstone

// #include "skipstone.h"
import "C"

import (
	"fmt"
	"time"
	"unsafe"
)

// Peer is a connection, as its server or client knows it. Never used for another one.
type Peer uint64

// MessageID is a message that was sent, in the events about it.
type MessageID uint64

// EventKind is the kind of an event.
type EventKind uint32

// The kinds of events. Ignore those that you do not know.
const (
	// Requested: a client requests a connection, with Payload as its token, from Address. Answer with Accept or Refuse.
	Requested EventKind = C.SKIPSTONE_EVENT_KIND_REQUESTED
	// Connected: messages can be sent.
	Connected EventKind = C.SKIPSTONE_EVENT_KIND_CONNECTED
	// Message: Payload arrived on Channel.
	Message EventKind = C.SKIPSTONE_EVENT_KIND_MESSAGE
	// Acknowledged: the peer has the message ID. Only on channels with receipts.
	Acknowledged EventKind = C.SKIPSTONE_EVENT_KIND_ACKNOWLEDGED
	// GivenUp: the message ID will not be sent (or not again); Why is the reason.
	GivenUp EventKind = C.SKIPSTONE_EVENT_KIND_GIVEN_UP
	// PathChanged: a client's address changed to Address. The connection continues.
	PathChanged EventKind = C.SKIPSTONE_EVENT_KIND_PATH_CHANGED
	// Closed: the connection ended, as Close states. Exactly one for each connection, and its last event.
	Closed EventKind = C.SKIPSTONE_EVENT_KIND_CLOSED
)

// String names the kind.
func (k EventKind) String() string {
	names := [...]string{"", "Requested", "Connected", "Message", "Acknowledged", "GivenUp", "PathChanged", "Closed"}
	if k == 0 || int(k) >= len(names) {
		return fmt.Sprintf("EventKind(%d)", uint32(k))
	}
	return names[k]
}

// Event is something that happened to a connection. Fields that its kind does not name are zero.
type Event struct {
	Kind    EventKind
	Channel uint16
	Why     Why
	Peer    Peer
	// Payload is a message, or a token. The application owns it: the library does not change it later.
	Payload []byte
	// Age is how late a message is, because it was lost at first; usually 0. Pass it on with the answer.
	Age     time.Duration
	ID      MessageID
	Address string
	Close   Close
}

// Close is how a connection ended.
type Close struct {
	By     ClosedBy
	Code   uint64
	Reason string
}

// String is for logs.
func (c Close) String() string { return fmt.Sprintf("%d %q, by %v", c.Code, c.Reason, c.By) }

// ClosedBy is the side that ended a connection.
type ClosedBy uint16

// The sides.
const (
	// Local: this side's application, or a rule of this side.
	Local ClosedBy = C.SKIPSTONE_CLOSED_BY_LOCAL
	// Remote: the peer.
	Remote ClosedBy = C.SKIPSTONE_CLOSED_BY_PEER
	// Nobody: neither side; the peer stopped answering, or the carrier failed.
	Nobody ClosedBy = C.SKIPSTONE_CLOSED_BY_NOBODY
)

// String names the side.
func (by ClosedBy) String() string {
	names := map[ClosedBy]string{Local: "this side", Remote: "the peer", Nobody: "nobody"}
	return names[by]
}

// Close codes of the protocol. Codes below 1,000 are the application's own.
const (
	// catalogue: close codes
	// CodeNone: closed by the application without a code of its own.
	CodeNone uint64 = C.SKIPSTONE_CLOSE_CODE_NONE
	// CodeShutdown: the server shuts down.
	CodeShutdown uint64 = C.SKIPSTONE_CLOSE_CODE_SHUTDOWN
	// CodeRefused: the application refused the client.
	CodeRefused uint64 = C.SKIPSTONE_CLOSE_CODE_REFUSED
	// CodeKicked: the application removed the peer.
	CodeKicked uint64 = C.SKIPSTONE_CLOSE_CODE_KICKED
	// CodeQueueOverflow: a channel's queue was full, and its rule is to disconnect.
	CodeQueueOverflow uint64 = C.SKIPSTONE_CLOSE_CODE_QUEUE_OVERFLOW
	// CodeProtocol: the peer violated the protocol.
	CodeProtocol uint64 = C.SKIPSTONE_CLOSE_CODE_PROTOCOL
	// CodeFull: the server is full, or the client's network has its maximum number of players.
	CodeFull uint64 = C.SKIPSTONE_CLOSE_CODE_FULL
	// CodeHandshakeTimeout: the handshake timed out (local: never sent).
	CodeHandshakeTimeout uint64 = C.SKIPSTONE_CLOSE_CODE_HANDSHAKE_TIMEOUT
	// CodeIdleTimeout: nothing arrived for the idle timeout (local).
	CodeIdleTimeout uint64 = C.SKIPSTONE_CLOSE_CODE_IDLE_TIMEOUT
	// CodeCarrierLost: the carrier was lost: the stream that carried the connection broke (local).
	CodeCarrierLost uint64 = C.SKIPSTONE_CLOSE_CODE_CARRIER_LOST
	// CodeNoCommonVersion: client and server have no protocol version in common (local).
	CodeNoCommonVersion uint64 = C.SKIPSTONE_CLOSE_CODE_NO_COMMON_VERSION
	// CodeSecurity: the encrypted handshake failed, for example because of an untrusted certificate (local, or in
	// REFUSE).
	CodeSecurity uint64 = C.SKIPSTONE_CLOSE_CODE_SECURITY
	// CodeNoCommonSuite: no common suite: one side requires encryption and the other has none (in REFUSE).
	CodeNoCommonSuite uint64 = C.SKIPSTONE_CLOSE_CODE_NO_COMMON_SUITE
	// CodeUnreachable: the server's name has no address, or none of its addresses can be reached (local).
	CodeUnreachable uint64 = C.SKIPSTONE_CLOSE_CODE_UNREACHABLE
	// CodeRestart: the server restarts; the reason says when and where to connect again (WIRE.md section 8.1).
	CodeRestart uint64 = C.SKIPSTONE_CLOSE_CODE_RESTART
	// CodeMemory: the peer made this side hold more memory than allowed, or the most of all peers when memory was
	// short.
	CodeMemory uint64 = C.SKIPSTONE_CLOSE_CODE_MEMORY
	// catalogue: end
)

// Why is the reason for which a message was given up.
type Why uint16

// The reasons.
const (
	WhyOther      Why = C.SKIPSTONE_GIVEN_UP_OTHER
	WhyQueueFull  Why = C.SKIPSTONE_GIVEN_UP_QUEUE_FULL
	WhyDropped    Why = C.SKIPSTONE_GIVEN_UP_DROPPED
	WhySuperseded Why = C.SKIPSTONE_GIVEN_UP_SUPERSEDED
	WhyLost       Why = C.SKIPSTONE_GIVEN_UP_LOST
	WhyTooLong    Why = C.SKIPSTONE_GIVEN_UP_TOO_LONG
	WhyClosed     Why = C.SKIPSTONE_GIVEN_UP_CLOSED
)

// copyEvents copies events of the library's, whose bytes last until the next poll. The payloads of a batch share one
// block.
func copyEvents(to []Event, from []C.SkipstoneEvent) []Event {
	total := 0
	for i := range from {
		if from[i].kind != C.SKIPSTONE_EVENT_KIND_CLOSED {
			total += int(from[i].length)
		}
	}
	block := make([]byte, 0, total)
	for i := range from {
		raw := &from[i]
		event := Event{
			Kind:    EventKind(raw.kind),
			Channel: uint16(raw.channel),
			Peer:    Peer(raw.peer),
			Age:     time.Duration(raw.age_us) * time.Microsecond,
			ID:      MessageID(raw.id),
		}
		data := unsafe.Slice((*byte)(unsafe.Pointer(raw.data)), int(raw.length))
		switch event.Kind {
		case Closed:
			event.Close = Close{ClosedBy(raw.detail), uint64(raw.code), string(data)}
		case GivenUp:
			event.Why = Why(raw.detail)
		case Message, Requested:
			start := len(block)
			block = append(block, data...)
			// With its own capacity, so that an append does not run into the next payload.
			event.Payload = block[start:len(block):len(block)]
		}
		if raw.address != nil {
			event.Address = C.GoString(raw.address)
		}
		to = append(to, event)
	}
	return to
}
