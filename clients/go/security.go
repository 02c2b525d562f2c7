package skipstone

// #include "skipstone.h"
import "C"

import "encoding/hex"

// Security is how a server protects its clients. The zero value encrypts, with a certificate made for this run.
type Security struct {
	kind             uint32
	certificate, key string
	allowsPlain      bool
}

// SelfSignedIn encrypts, with a certificate that is made at the first start and kept in this file.
func SelfSignedIn(file string) Security {
	return Security{kind: C.SKIPSTONE_SECURITY_SELF_SIGNED_KEPT, certificate: file}
}

// CertificateFiles encrypts, with PEM files, which are read again when they change. Without key both are in the file certificate.
func CertificateFiles(certificate, key string) Security {
	return Security{kind: C.SKIPSTONE_SECURITY_FILES, certificate: certificate, key: key}
}

// CertificatePEM encrypts, with PEM texts, which may be the same.
func CertificatePEM(certificate, key string) Security {
	return Security{kind: C.SKIPSTONE_SECURITY_PEM, certificate: certificate, key: key}
}

// Plain serves in clear: on a trusted network, or in a tunnel that protects by itself.
func Plain() Security { return Security{kind: C.SKIPSTONE_SECURITY_PLAIN} }

// AllowingPlain lets clients in too that ask for no encryption.
func (s Security) AllowingPlain() Security {
	s.allowsPlain = true
	return s
}

// Fingerprint is SHA-256 of a certificate.
type Fingerprint [C.SKIPSTONE_FINGERPRINT_BYTES]byte

// String has 64 hexadecimal digits.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Trust says which servers a client trusts. A fingerprint in the URL goes before. The zero value trusts whom the system trusts.
type Trust struct {
	kind        uint32
	authorities string
	fingerprint Fingerprint
}

// TrustAuthorities trusts servers whose certificate one of these authorities has signed, given as PEM text.
func TrustAuthorities(pem string) Trust {
	return Trust{kind: C.SKIPSTONE_TRUST_AUTHORITIES, authorities: pem}
}

// TrustPinned trusts the one server whose certificate has this fingerprint.
func TrustPinned(fingerprint Fingerprint) Trust {
	return Trust{kind: C.SKIPSTONE_TRUST_PINNED, fingerprint: fingerprint}
}

// TrustDangerouslyAnything trusts any server, and any attacker between: for tests on one's own machine.
func TrustDangerouslyAnything() Trust { return Trust{kind: C.SKIPSTONE_TRUST_DANGEROUSLY_ANYTHING} }
