//go:build !cgo

package skipstone

// Go leaves cgo out, without a word, where it finds no C compiler and when it builds for another system. The compiler's
// message about this name is what a program's author reads.
var _ = skipstone_needs_cgo__install_a_C_compiler_and_set_CGO_ENABLED_to_1
