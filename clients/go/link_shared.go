//go:build skipstone_shared

package skipstone

// The library is loaded with the program (`go build -tags skipstone_shared`): where pkg-config finds it.

// #cgo pkg-config: skipstone
import "C"
