package skipstone

// #cgo noescape take_events
// #cgo nocallback take_events
// #cgo nocallback skipstone_poll
// #cgo nocallback skipstone_wait
// #cgo noescape skipstone_wait_tick
// #cgo nocallback skipstone_wait_tick
// #cgo nocallback skipstone_flush
// #cgo noescape skipstone_client_send
// #cgo nocallback skipstone_client_send
// #cgo noescape skipstone_server_send
// #cgo nocallback skipstone_server_send
// #cgo noescape skipstone_server_broadcast
// #cgo nocallback skipstone_server_broadcast
// #include "skipstone.h"
//
// // Takes events. Without any, the handle is returned, so that any thread may poll next.
// static SkipstoneStatus take_events(SkipstoneHandle handle, SkipstoneEvent *events, uint32_t capacity, uint32_t *count) {
//   SkipstoneStatus status = skipstone_poll(handle, events, capacity, count);
//   uint32_t none = 0;
//   return status == SKIPSTONE_STATUS_OK && *count == 0 ? skipstone_poll(handle, NULL, 0, &none) : status;
// }
import "C"

import (
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// handle is the common part of servers and clients: the calls of every tick.
type handle struct {
	number C.SkipstoneHandle
	// polling is held by the goroutine that polls.
	polling   sync.Mutex
	raw       []C.SkipstoneEvent
	events    []Event
	isStepped bool
}

// batch is the maximum number of events of one poll.
const batch = 256

func (h *handle) start(number C.SkipstoneHandle, threading Threading) {
	h.number = number
	h.raw = make([]C.SkipstoneEvent, batch)
	h.isStepped = threading == Stepped
}

// Poll takes up to 256 events, and waits for the first of them for timeout at most. In stepped mode it is one round of
// receiving and sending.
//
// The next Poll reuses the slice; the payloads belong to the application. One goroutine polls at a time, others wait;
// all other methods can be called while it waits for events.
func (h *handle) Poll(timeout time.Duration) ([]Event, error) {
	h.polling.Lock()
	defer h.polling.Unlock()
	// The library's events belong to the thread that polled them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var driven error
	if h.isStepped {
		driven = check(C.skipstone_drive(h.number, micros(timeout)))
	}
	count, err := h.poll()
	// A failed driver leaves events, including the closes of its connections: the failure is reported by the first Poll
	// that has none.
	if err == nil && count == 0 {
		err = driven
	}
	if err == nil && count == 0 && timeout > 0 && !h.isStepped {
		if err = check(C.skipstone_wait(h.number, micros(timeout))); err == nil {
			count, err = h.poll()
		}
	}
	if err != nil || count == 0 {
		return nil, err
	}
	clear(h.events)
	h.events = copyEvents(h.events[:0], h.raw[:count])
	// The library frees what these point to, and the collector would mistake an address that C has freed and Go has reused
	// for a pointer of Go's own.
	clear(h.raw[:count])
	// Frees the library's copy, so that another thread may poll next. If the handle was closed meanwhile, the next call
	// reports it: an error returned with events would lose them.
	var none C.uint32_t
	C.skipstone_poll(h.number, nil, 0, &none)
	return h.events, nil
}

// WaitTick waits for the next tick of a loop that runs once per interval, regardless of the number of events: Poll
// returns them afterwards. The first tick is due an interval after the first call; ticks do not drift. Those that are
// late by a whole interval or more are skipped, and WaitTick returns their number. In stepped mode it receives and
// sends meanwhile.
func (h *handle) WaitTick(interval time.Duration) (missed uint64, err error) {
	defer runtime.KeepAlive(h)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var count C.uint64_t
	err = check(C.skipstone_wait_tick(h.number, micros(interval), &count))
	return uint64(count), err
}

// Drive runs one round of receiving and sending in stepped mode, waiting for the sockets for wait at most: call it
// after a Flush, so that queued messages are sent at once. Poll begins with the same. In background mode it does
// nothing.
func (h *handle) Drive(wait time.Duration) error {
	if !h.isStepped {
		return nil
	}
	defer runtime.KeepAlive(h)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return check(C.skipstone_drive(h.number, micros(wait)))
}

func (h *handle) poll() (int, error) {
	var count C.uint32_t
	err := check(C.take_events(h.number, &h.raw[0], C.uint32_t(len(h.raw)), &count))
	return int(count), err
}

// Flush sends all messages that were queued since the last Flush. A server needs it at the end of each tick, unless its
// configuration says otherwise.
func (h *handle) Flush() error {
	defer runtime.KeepAlive(h)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return check(C.skipstone_flush(h.number))
}

// Failure returns why the driver has ended; empty while it runs.
func (h *handle) Failure() string {
	why, _ := h.text(func(buffer *C.char, capacity C.size_t, length *C.size_t) C.SkipstoneStatus {
		return C.skipstone_failure(h.number, buffer, capacity, length)
	})
	return why
}

// call makes a call of the library with the handle's number, and keeps the handle until it returns: a handle that the
// program has forgotten is released.
func (h *handle) call(library func() C.SkipstoneStatus) error {
	defer runtime.KeepAlive(h)
	return call(library)
}

// text reads a text of the library's with the handle's number, and keeps the handle as call does.
func (h *handle) text(read func(buffer *C.char, capacity C.size_t, length *C.size_t) C.SkipstoneStatus) (string, error) {
	defer runtime.KeepAlive(h)
	return text(read)
}

// bytesOf is a pointer to a payload's bytes; nil if it has none.
func bytesOf(payload []byte) *C.uint8_t {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(payload)))
}

// micros is a duration in the form of the library. A negative one is 0.
func micros(span time.Duration) C.uint64_t {
	return C.uint64_t(max(span, 0).Microseconds())
}

// release ends a server or a client that the program has forgotten.
func release(number C.SkipstoneHandle) { C.skipstone_release(number) }
