package skipstone

// #include "skipstone.h"
import "C"

import "unsafe"

// LogLevel is how much a line of the log matters.
type LogLevel uint32

// The levels.
const (
	// LogInfo: for the records.
	LogInfo LogLevel = C.SKIPSTONE_LOG_LEVEL_INFO
	// LogWarning: something should be done about it.
	LogWarning LogLevel = C.SKIPSTONE_LOG_LEVEL_WARNING
	// LogError: something failed.
	LogError LogLevel = C.SKIPSTONE_LOG_LEVEL_ERROR
)

// NextLogLine takes the oldest line of the library's log, which has what no call can return: sockets with small buffers, renewed
// certificates, mistakes in the library. False if there is none. Up to 256 lines wait, of all servers and clients together; nothing is
// ever called back.
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
