//go:build !skipstone_shared && !skipstone_release

package skipstone

// The library is linked into the program: libskipstone.a, from where cargo builds it, or from a folder that CGO_LDFLAGS
// names (-L). A release build goes before one for tests.

// #cgo linux LDFLAGS: -L${SRCDIR}/../../target/release -L${SRCDIR}/../../target/debug
// #cgo linux LDFLAGS: -l:libskipstone.a -lgcc_s -lutil -lrt -lpthread -lm -ldl
// #cgo darwin LDFLAGS: -L${SRCDIR}/../../target/release -lskipstone -framework Security -framework CoreFoundation
// #cgo windows LDFLAGS: -L${SRCDIR}/../../target/release -l:libskipstone.a -lws2_32 -lbcrypt -lntdll -luserenv -lcrypt32 -lsecur32 -lncrypt
import "C"
