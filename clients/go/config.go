package skipstone

// #include <stdlib.h>
// #include "skipstone.h"
import "C"

import (
	"math"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// Delivery is how the messages of a channel are delivered.
type Delivery uint32

// The delivery modes.
const (
	// Unreliable: sent once, delivered on arrival.
	Unreliable Delivery = C.SKIPSTONE_DELIVERY_UNRELIABLE
	// UnreliableSequenced: sent once, delivered only if newer than the newest delivered message.
	UnreliableSequenced Delivery = C.SKIPSTONE_DELIVERY_UNRELIABLE_SEQUENCED
	// ReliableOrdered: each message once, in order.
	ReliableOrdered Delivery = C.SKIPSTONE_DELIVERY_RELIABLE_ORDERED
	// ReliableUnordered: each message once, on arrival.
	ReliableUnordered Delivery = C.SKIPSTONE_DELIVERY_RELIABLE_UNORDERED
	// ReliableSequenced: the newest message is retransmitted until it arrives; older ones are given up.
	ReliableSequenced Delivery = C.SKIPSTONE_DELIVERY_RELIABLE_SEQUENCED
)

// Overflow is the reaction if a channel's queue has no room for a message.
type Overflow uint32

// The reactions to a full queue.
const (
	// Refuse: the message is refused.
	Refuse Overflow = C.SKIPSTONE_OVERFLOW_REFUSE
	// DropOldest: the oldest queued message is dropped.
	DropOldest Overflow = C.SKIPSTONE_OVERFLOW_DROP_OLDEST
	// Disconnect: the connection ends.
	Disconnect Overflow = C.SKIPSTONE_OVERFLOW_DISCONNECT
)

// Redundancy is protection against loss in addition to retransmission. The zero value is the default: Adaptive for a
// server, the server's mode for a channel.
type Redundancy struct {
	kind          uint32
	first, second uint8
}

// NoRedundancy retransmits lost content once, and does nothing else.
func NoRedundancy() Redundancy { return Redundancy{kind: C.SKIPSTONE_REDUNDANCY_OFF + 1} }

// Lean retransmits lost content in several copies.
func Lean() Redundancy { return Redundancy{kind: C.SKIPSTONE_REDUNDANCY_LEAN + 1} }

// Adaptive adds repair packets according to the measured loss.
func Adaptive() Redundancy { return Redundancy{kind: C.SKIPSTONE_REDUNDANCY_ADAPTIVE + 1} }

// Fixed adds repair packets after each block of packets: at most 64 of both together.
func Fixed(sources, repairs uint8) Redundancy {
	return Redundancy{C.SKIPSTONE_REDUNDANCY_FIXED + 1, sources, repairs}
}

// Repeat makes each packet repeat the messages of the previous packets, 1 to 8 of them.
func Repeat(bursts uint8) Redundancy { return Redundancy{C.SKIPSTONE_REDUNDANCY_REPEAT + 1, bursts, 0} }

// ChannelRule rules the channels from First to Last. Begin with [Rule], which sets the defaults.
type ChannelRule struct {
	First, Last uint16
	Delivery    Delivery
	Overflow    Overflow
	Redundancy  Redundancy
	// Priority: 0 is the most urgent.
	Priority uint8
	// Weight is the share among channels of one priority, at least 1.
	Weight uint8
	// Receipts: the sender learns of each message that arrived.
	Receipts bool
	// QueueMessagesMax and QueueBytesMax limit each channel's queue.
	QueueMessagesMax, QueueBytesMax uint32
}

// Rule is a rule of the channels from first to last with the defaults of its delivery mode.
func Rule(first, last uint16, delivery Delivery) ChannelRule {
	var raw C.SkipstoneChannel
	C.skipstone_channel_init(&raw, C.uint32_t(unsafe.Sizeof(raw)), C.uint16_t(first), C.uint16_t(last), C.uint32_t(delivery))
	return ChannelRule{
		First: first, Last: last, Delivery: delivery, Overflow: Overflow(raw.overflow),
		Priority: uint8(raw.priority), Weight: uint8(raw.weight),
		QueueMessagesMax: uint32(raw.queue_messages_max), QueueBytesMax: uint32(raw.queue_bytes_max),
	}
}

func (rule ChannelRule) raw() C.SkipstoneChannel {
	raw := C.SkipstoneChannel{
		size: C.uint32_t(unsafe.Sizeof(C.SkipstoneChannel{})), first: C.uint16_t(rule.First), last: C.uint16_t(rule.Last),
		delivery: C.uint32_t(rule.Delivery), overflow: C.uint32_t(rule.Overflow),
		priority: C.uint8_t(rule.Priority), weight: C.uint8_t(rule.Weight),
		queue_messages_max: C.uint32_t(rule.QueueMessagesMax), queue_bytes_max: C.uint32_t(rule.QueueBytesMax),
		redundancy: C.SKIPSTONE_REDUNDANCY_AS_SETTINGS,
	}
	if rule.Receipts {
		raw.receipts = 1
	}
	if redundancy := rule.Redundancy; redundancy.kind != 0 {
		raw.redundancy = C.uint32_t(redundancy.kind - 1)
		raw.redundancy_first, raw.redundancy_second = C.uint8_t(redundancy.first), C.uint8_t(redundancy.second)
	}
	return raw
}

// Threading is who runs the driver.
type Threading uint32

// The threading modes.
const (
	// Background: a thread of the library, so that acknowledgements do not wait for the game's tick.
	Background Threading = C.SKIPSTONE_THREADING_BACKGROUND
	// Stepped: the application, by calling Poll, for tests and for programs of one thread.
	Stepped Threading = C.SKIPSTONE_THREADING_STEPPED
)

// Congestion is the congestion controller.
type Congestion uint32

// The controllers.
const (
	// DelayAware keeps queues short, and competes with TCP for its share.
	DelayAware Congestion = C.SKIPSTONE_CONGESTION_DELAY_AWARE
	// Aggressive is the same, more aggressive: for an owner of the link.
	Aggressive Congestion = C.SKIPSTONE_CONGESTION_AGGRESSIVE
	// Uncontrolled limits nothing.
	Uncontrolled Congestion = C.SKIPSTONE_CONGESTION_OFF
)

// Merging is when queued messages are sent, and so which messages share a datagram. The zero value is the default: a
// server sends at each Flush, a client as the server's settings say, which is at once.
type Merging struct {
	isSet bool
	span  uint64
}

// MergeNot sends each message when it is queued.
func MergeNot() Merging { return Merging{true, C.SKIPSTONE_MERGE_NOT} }

// MergeUntilFlush sends at each Flush.
func MergeUntilFlush() Merging { return Merging{true, math.MaxUint64} }

// MergeFor sends after this time since the first queued message, or when a datagram is full.
func MergeFor(span time.Duration) Merging { return Merging{true, uint64(micros(span))} }

// Link is a simulated link around a real socket, for tests.
type Link struct {
	// Delay is the one-way delay, Jitter the maximum additional random delay.
	Delay, Jitter time.Duration
	// Loss is the share of datagrams that is lost, 0 to 1.
	Loss float64
}

func (link Link) raw() C.SkipstoneLink {
	return C.SkipstoneLink{delay_us: micros(link.Delay), jitter_us: micros(link.Jitter), loss: C.double(link.Loss)}
}

// Impairment simulates a network around the UDP socket, from a seed.
type Impairment struct {
	// Up is towards the server, Down towards the client.
	Up, Down Link
	Seed     uint64
}

// arena holds the memory that the library reads during one call.
type arena struct {
	held []unsafe.Pointer
	err  error
}

func (a *arena) free() {
	for _, pointer := range a.held {
		C.free(pointer)
	}
	// The collector checks the pointers that Go keeps, so none to freed memory is kept.
	a.held = nil
}

// text is a text for the library; nil for the empty one.
func (a *arena) text(what, text string) *C.char {
	if text == "" {
		return nil
	}
	return a.copied(what, text)
}

// texts is an array of texts for the library; nil for none. It is in C's memory, as cgo requires for an array of C
// pointers, and is zeroed: Go's write barrier reads the pointer that is overwritten.
func (a *arena) texts(what string, texts []string) **C.char {
	if len(texts) == 0 {
		return nil
	}
	array := C.calloc(C.size_t(len(texts)), C.size_t(unsafe.Sizeof((*C.char)(nil))))
	a.held = append(a.held, array)
	to := unsafe.Slice((**C.char)(array), len(texts))
	for i, text := range texts {
		to[i] = a.copied(what, text)
	}
	return (**C.char)(array)
}

// bytes are a copy of these in C's memory; nil for none.
func (a *arena) bytes(bytes []byte) *C.uint8_t {
	if len(bytes) == 0 {
		return nil
	}
	copied := C.CBytes(bytes)
	a.held = append(a.held, copied)
	return (*C.uint8_t)(copied)
}

// copied is a text in C's memory; nil after an error. One with a NUL inside would be cut off there.
func (a *arena) copied(what, text string) *C.char {
	if strings.IndexByte(text, 0) >= 0 && a.err == nil {
		a.err = &Error{C.SKIPSTONE_STATUS_BAD_VALUE, what + " has a NUL inside: leave it out"}
	}
	if a.err != nil {
		return nil
	}
	copied := C.CString(text)
	a.held = append(a.held, unsafe.Pointer(copied))
	return copied
}

// rules is the channel table for the library. An empty table is not the same as no table: the library refuses it.
func (a *arena) rules(rules []ChannelRule) *C.SkipstoneChannel {
	if rules == nil {
		return nil
	}
	table := C.malloc(C.size_t(max(len(rules), 1)) * C.size_t(unsafe.Sizeof(C.SkipstoneChannel{})))
	a.held = append(a.held, table)
	to := unsafe.Slice((*C.SkipstoneChannel)(table), len(rules))
	for i, rule := range rules {
		to[i] = rule.raw()
	}
	return (*C.SkipstoneChannel)(table)
}

// checkABI compares the library that is linked with the header that this package was built with, once.
var checkABI = sync.OnceValue(func() error {
	if err := call(func() C.SkipstoneStatus { return C.skipstone_check_abi(C.SKIPSTONE_ABI_VERSION) }); err != nil {
		return err
	}
	sizes := map[C.uint32_t]uintptr{
		C.SKIPSTONE_STRUCT_EVENT:         unsafe.Sizeof(C.SkipstoneEvent{}),
		C.SKIPSTONE_STRUCT_CHANNEL:       unsafe.Sizeof(C.SkipstoneChannel{}),
		C.SKIPSTONE_STRUCT_LINK:          unsafe.Sizeof(C.SkipstoneLink{}),
		C.SKIPSTONE_STRUCT_SERVER_CONFIG: unsafe.Sizeof(C.SkipstoneServerConfig{}),
		C.SKIPSTONE_STRUCT_CLIENT_CONFIG: unsafe.Sizeof(C.SkipstoneClientConfig{}),
		C.SKIPSTONE_STRUCT_STATS:         unsafe.Sizeof(C.SkipstoneStats{}),
		C.SKIPSTONE_STRUCT_DRIVER_STATS:  unsafe.Sizeof(C.SkipstoneDriverStats{}),
		C.SKIPSTONE_STRUCT_OVERVIEW:      unsafe.Sizeof(C.SkipstoneOverview{}),
		C.SKIPSTONE_STRUCT_SERVER_TIME:   unsafe.Sizeof(C.SkipstoneServerTime{}),
	}
	for which, size := range sizes {
		// A library of a later minor version may have longer structures, never shorter ones.
		if uintptr(C.skipstone_struct_size(which)) < size {
			return &Error{C.SKIPSTONE_STATUS_WRONG_ABI, "the library's structures are not those of its header: build both from one version"}
		}
	}
	return nil
})

// Version is the version of the library, as "0.1.0".
func Version() string { return C.GoString(C.skipstone_version()) }

// flag is a bool in the form of the library.
func flag(isSet bool) C.uint8_t {
	if isSet {
		return 1
	}
	return 0
}
