package skipstone

// #include "skipstone.h"
import "C"

import "unsafe"

// LogLevel is the severity of a log line.
type LogLevel uint32

// The levels.
const (
	// LogInfo: information.
	LogInfo LogLevel = C.SKIPSTONE_LOG_LEVEL_INFO
	// LogWarning: a problem that needs attention.
	LogWarning LogLevel = C.SKIPSTONE_LOG_LEVEL_WARNING
	// LogError: something failed.
	LogError LogLevel = C.SKIPSTONE_LOG_LEVEL_ERROR
)

// NextLogLine takes the oldest line of the library's log. The log reports what no call can return: sockets with small
// buffers, renewed certificates, internal errors. False if there is none. Up to 256 lines of all servers and clients
// are queued; the library never calls back.
func NextLogLine() (level LogLevel, line string, ok bool) {
	// No line is longer.
	buffer := make([]byte, 8192)
	var length C.size_t
	var number C.uint32_t
	err := call(func() C.SkipstoneStatus {
		return C.skipstone_next_log_line((*C.char)(unsafe.Pointer(&buffer[0])), C.size_t(len(buffer)), &length, &number)
	})
	if err != nil {
		return 0, "", false
	}
	return LogLevel(number), string(buffer[:length]), true
}
