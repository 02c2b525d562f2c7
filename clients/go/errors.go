package skipstone

// #cgo CFLAGS: -I${SRCDIR}/../../crates/skipstone-ffi/include
// #include "skipstone.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Error is a request that was refused. Text names the cause and the remedy.
type Error struct {
	// Status is the library's number of the reason.
	Status int
	// Text is for people.
	Text string
}

// Error returns the text.
func (e *Error) Error() string { return "skipstone: " + e.Text }

// Is reports whether both have the same reason.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Status == e.Status
}

// Reasons to compare with by [errors.Is].
var (
	// ErrClosed: this server or client was closed.
	ErrClosed = reason(C.SKIPSTONE_STATUS_BAD_HANDLE, "it was closed: make a new one")
	// ErrBadValue: a number or a text is out of its range.
	ErrBadValue = reason(C.SKIPSTONE_STATUS_BAD_VALUE, "a value is out of its range")
	// ErrNotUTF8: a text is not UTF-8.
	ErrNotUTF8 = reason(C.SKIPSTONE_STATUS_NOT_UTF8, "a text is not UTF-8")
	// ErrBadURL: the URL is invalid.
	ErrBadURL = reason(C.SKIPSTONE_STATUS_BAD_URL, "the URL cannot be read")
	// ErrBadIdentity: the certificate or its key cannot be used.
	ErrBadIdentity = reason(C.SKIPSTONE_STATUS_BAD_IDENTITY, "the certificate cannot be used")
	// ErrBadTrust: the requested trust is not available.
	ErrBadTrust = reason(C.SKIPSTONE_STATUS_BAD_TRUST, "the requested trust is not available")
	// ErrSystem: the system refused a socket, a thread or a file.
	ErrSystem = reason(C.SKIPSTONE_STATUS_SYSTEM, "the system refused")
	// ErrUnknownPeer: no connection has this number here.
	ErrUnknownPeer = reason(C.SKIPSTONE_STATUS_UNKNOWN_PEER, "no such peer")
	// ErrNotConnected: the connection is not established, is closing, or has ended.
	ErrNotConnected = reason(C.SKIPSTONE_STATUS_NOT_CONNECTED, "not connected")
	// ErrNoSuchChannel: no rule of the server's channel table has this channel.
	ErrNoSuchChannel = reason(C.SKIPSTONE_STATUS_NO_SUCH_CHANNEL, "no such channel")
	// ErrWrongDirection: only clients may send on this channel.
	ErrWrongDirection = reason(C.SKIPSTONE_STATUS_WRONG_DIRECTION, "only clients send on this channel")
	// ErrTooLong: the message, or the token, is longer than is allowed.
	ErrTooLong = reason(C.SKIPSTONE_STATUS_TOO_LONG, "too long")
	// ErrQueueFull: the channel's queue to this peer is full.
	ErrQueueFull = reason(C.SKIPSTONE_STATUS_QUEUE_FULL, "the channel's queue is full")
	// ErrDriverBusy: the queue to the driver's thread is full; try again at the next tick.
	ErrDriverBusy = reason(C.SKIPSTONE_STATUS_DRIVER_BUSY, "the driver is busy")
	// ErrDriverGone: the driver's thread has ended.
	ErrDriverGone = reason(C.SKIPSTONE_STATUS_DRIVER_GONE, "the driver has ended")
	// ErrNotWaiting: the client was accepted or refused before.
	ErrNotWaiting = reason(C.SKIPSTONE_STATUS_NOT_WAITING, "the client does not wait for a decision")
	// ErrStillOpen: the connection has not ended.
	ErrStillOpen = reason(C.SKIPSTONE_STATUS_STILL_OPEN, "the connection has not ended")
	// ErrNotAvailable: there is no such figure, or not yet.
	ErrNotAvailable = reason(C.SKIPSTONE_STATUS_NOT_AVAILABLE, "not available yet")
	// ErrWrongABI: the library that is linked is not of this package's version.
	ErrWrongABI = reason(C.SKIPSTONE_STATUS_WRONG_ABI, "the library is of another version")
)

func reason(status C.int32_t, text string) *Error { return &Error{int(status), text} }

// check makes an error of a call's status. The text belongs to the thread that made the call, so the caller has locked
// it.
func check(status C.SkipstoneStatus) error {
	if status == C.SKIPSTONE_STATUS_OK {
		return nil
	}
	var buffer [1024]byte
	length := int(C.skipstone_last_error((*C.char)(unsafe.Pointer(&buffer[0])), C.size_t(len(buffer))))
	length = min(length, len(buffer)-1)
	return &Error{int(status), string(buffer[:length])}
}

// call makes a call of the library on one thread, with the text of its error.
func call(library func() C.SkipstoneStatus) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return check(library())
}

// text reads a text of the library, which returns its length.
func text(read func(buffer *C.char, capacity C.size_t, length *C.size_t) C.SkipstoneStatus) (string, error) {
	buffer := make([]byte, 256)
	for {
		var length C.size_t
		err := call(func() C.SkipstoneStatus {
			return read((*C.char)(unsafe.Pointer(&buffer[0])), C.size_t(len(buffer)), &length)
		})
		if err == nil {
			return string(buffer[:length]), nil
		}
		if int(length) < len(buffer) {
			return "", err
		}
		buffer = make([]byte, length+1)
	}
}
