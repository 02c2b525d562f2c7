//go:build skipstone_release

package skipstone

// Links the static library in the archive of a release, in which this file is used without a tag.

// #cgo CFLAGS: -I${SRCDIR}/include
// #cgo linux,amd64 CFLAGS: -DSKIPSTONE_RELEASE -I${SRCDIR}/lib/linux_amd64
// #cgo linux,arm64 CFLAGS: -DSKIPSTONE_RELEASE -I${SRCDIR}/lib/linux_arm64
// #cgo windows,amd64 CFLAGS: -DSKIPSTONE_RELEASE -I${SRCDIR}/lib/windows_amd64
// #cgo darwin,amd64 CFLAGS: -DSKIPSTONE_RELEASE -I${SRCDIR}/lib/darwin_amd64
// #cgo darwin,arm64 CFLAGS: -DSKIPSTONE_RELEASE -I${SRCDIR}/lib/darwin_arm64
// #cgo linux,amd64 LDFLAGS: ${SRCDIR}/lib/linux_amd64/libskipstone.a
// #cgo linux,arm64 LDFLAGS: ${SRCDIR}/lib/linux_arm64/libskipstone.a
// #cgo windows,amd64 LDFLAGS: ${SRCDIR}/lib/windows_amd64/libskipstone.a
// #cgo darwin,amd64 LDFLAGS: ${SRCDIR}/lib/darwin_amd64/libskipstone.a
// #cgo darwin,arm64 LDFLAGS: ${SRCDIR}/lib/darwin_arm64/libskipstone.a
// #cgo linux LDFLAGS: -lgcc_s -lutil -lrt -lpthread -lm -ldl
// #cgo windows LDFLAGS: -lws2_32 -lbcrypt -lntdll -luserenv -lcrypt32 -lsecur32 -lncrypt
// #cgo darwin LDFLAGS: -framework Security -framework CoreFoundation
// #ifndef SKIPSTONE_RELEASE
// #error "skipstone: the archive has no library for this system: build it from a clone (cargo build --release -p skipstone-ffi), then go build -tags skipstone_shared"
// #elif !__has_include("libskipstone.a")
// #error "skipstone: lib/ lacks libskipstone.a for this system: unpack the whole archive again, and replace the module by its folder (go mod vendor leaves libraries out)"
// #endif
import "C"
