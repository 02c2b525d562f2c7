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

// CertificateFiles encrypts, with PEM files, which are read again when they change. Without key both are in the file
// certificate.
func CertificateFiles(certificate, key string) Security {
	return Security{kind: C.SKIPSTONE_SECURITY_FILES, certificate: certificate, key: key}
}

// CertificatePEM encrypts, with PEM texts, which may be the same.
func CertificatePEM(certificate, key string) Security {
	return Security{kind: C.SKIPSTONE_SECURITY_PEM, certificate: certificate, key: key}
}

// Plain serves unencrypted: for a trusted network, or for a tunnel that encrypts.
func Plain() Security { return Security{kind: C.SKIPSTONE_SECURITY_PLAIN} }

// AllowingPlain also admits clients that request no encryption.
func (s Security) AllowingPlain() Security {
	s.allowsPlain = true
	return s
}

// Fingerprint is SHA-256 of a certificate.
type Fingerprint [C.SKIPSTONE_FINGERPRINT_BYTES]byte

// String has 64 hexadecimal digits.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Trust is which servers a client trusts. A fingerprint in the URL takes precedence. The zero value trusts the
// authorities of the system.
type Trust struct {
	kind        uint32
	authorities string
	fingerprint Fingerprint
}

// TrustAuthorities trusts servers with a certificate that is signed by one of these authorities, given as PEM text.
func TrustAuthorities(pem string) Trust {
	return Trust{kind: C.SKIPSTONE_TRUST_AUTHORITIES, authorities: pem}
}

// TrustPinned trusts the one server whose certificate has this fingerprint.
func TrustPinned(fingerprint Fingerprint) Trust {
	return Trust{kind: C.SKIPSTONE_TRUST_PINNED, fingerprint: fingerprint}
}

// TrustDangerouslyAnything trusts any server, including any attacker between: for tests on one's own machine.
func TrustDangerouslyAnything() Trust { return Trust{kind: C.SKIPSTONE_TRUST_DANGEROUSLY_ANYTHING} }
