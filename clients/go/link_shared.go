//go:build skipstone_shared

package skipstone

// Links the shared library that pkg-config finds (`go build -tags skipstone_shared`); it is loaded with the program.

// #cgo pkg-config: skipstone
import "C"
