//! Records of TLS 1.3 (RFC 8446, section 5.2) and of TLS 1.2 with AES-GCM (RFC 5288) and ChaCha20-Poly1305 (RFC 7905),
//! sealed in place.

use super::suite::aead_key;
use crate::security::backend::aead::{self, Aad, LessSafeKey};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, KeyBlockShape, MessageDecrypter, MessageEncrypter, Nonce,
    OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls12AeadAlgorithm, Tls13AeadAlgorithm,
    UnsupportedOperationError, make_tls12_aad, make_tls13_aad,
};
use rustls::{ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion};

/// An AEAD in records of either version.
pub(super) struct RecordAead(pub(super) &'static aead::Algorithm);

/// AES-GCM in records of TLS 1.2, which show a part of the nonce.
pub(super) struct RecordsGcm12(pub(super) &'static aead::Algorithm);

/// One direction of a connection.
struct Sealed {
    key: LessSafeKey,
    iv: Iv,
}

/// One direction of a TLS 1.3 connection.
struct Sealed13(Sealed);
/// The same in TLS 1.2, with the nonce taken only from the record's number.
struct Sealed12(Sealed);
/// The same in TLS 1.2 with AES-GCM. The peer chooses the part of the nonce after the salt.
struct SealedGcm12(Sealed);

const TAG_BYTES: usize = 16;
/// Bytes of the nonce that a record of AES-GCM shows.
const SHOWN_BYTES: usize = 8;
const SALT_BYTES: usize = 4;
/// The greatest content of a record (RFC 8446, section 5.1).
const CONTENT_BYTES_MAX: usize = 16_384;

impl Sealed {
    fn new(algorithm: &'static aead::Algorithm, key: &AeadKey, iv: Iv) -> Self {
        Sealed { key: aead_key(algorithm, key), iv }
    }

    fn nonce(&self, number: u64) -> aead::Nonce {
        aead::Nonce::assume_unique_for_key(Nonce::new(&self.iv, number).0)
    }

    /// Seals the bytes after the first `open` bytes, and appends the tag.
    fn seal<A: AsRef<[u8]>>(
        &self,
        number: u64,
        aad: Aad<A>,
        payload: &mut PrefixedPayload,
        open: usize,
    ) -> Result<(), Error> {
        let tag = self.key.seal_in_place_separate_tag(self.nonce(number), aad, &mut payload.as_mut()[open..]);
        tag.map(|tag| payload.extend_from_slice(tag.as_ref())).map_err(|_| Error::EncryptError)
    }
}

impl Tls13AeadAlgorithm for RecordAead {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Sealed13(Sealed::new(self.0, &key, iv)))
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Sealed13(Sealed::new(self.0, &key, iv)))
    }

    fn key_len(&self) -> usize {
        self.0.key_len()
    }

    fn extract_keys(&self, _: AeadKey, _: Iv) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Err(UnsupportedOperationError)
    }
}

impl Tls12AeadAlgorithm for RecordAead {
    fn encrypter(&self, key: AeadKey, iv: &[u8], _: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(Sealed12(Sealed::new(self.0, &key, Iv::copy(iv))))
    }

    fn decrypter(&self, key: AeadKey, iv: &[u8]) -> Box<dyn MessageDecrypter> {
        Box::new(Sealed12(Sealed::new(self.0, &key, Iv::copy(iv))))
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape { enc_key_len: self.0.key_len(), fixed_iv_len: self.0.nonce_len(), explicit_nonce_len: 0 }
    }

    fn extract_keys(
        &self,
        _: AeadKey,
        _: &[u8],
        _: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Err(UnsupportedOperationError)
    }
}

impl Tls12AeadAlgorithm for RecordsGcm12 {
    /// A record's nonce is made as in TLS 1.3: an initial value XOR the record's number. Any nonce that is used once
    /// will do, since the record contains it.
    fn encrypter(&self, key: AeadKey, salt: &[u8], start: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(SealedGcm12(Sealed::new(self.0, &key, Iv::copy(&[salt, start].concat()))))
    }

    fn decrypter(&self, key: AeadKey, salt: &[u8]) -> Box<dyn MessageDecrypter> {
        Box::new(SealedGcm12(Sealed::new(self.0, &key, Iv::copy(&[salt, &[0; SHOWN_BYTES]].concat()))))
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape { enc_key_len: self.0.key_len(), fixed_iv_len: SALT_BYTES, explicit_nonce_len: SHOWN_BYTES }
    }

    fn extract_keys(
        &self,
        _: AeadKey,
        _: &[u8],
        _: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Err(UnsupportedOperationError)
    }
}

impl MessageEncrypter for Sealed13 {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, number: u64) -> Result<OutboundOpaqueMessage, Error> {
        let total = self.encrypted_payload_len(message.payload.len());
        let mut payload = PrefixedPayload::with_capacity(total);
        payload.extend_from_chunks(&message.payload);
        payload.extend_from_slice(&message.typ.to_array());
        self.0.seal(number, Aad::from(make_tls13_aad(total)), &mut payload, 0)?;
        // Records of 1.3 contain the version number of 1.2 (RFC 8446, section 5.1).
        Ok(OutboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, payload))
    }

    fn encrypted_payload_len(&self, bytes: usize) -> usize {
        bytes + 1 + TAG_BYTES
    }
}

impl MessageDecrypter for Sealed13 {
    fn decrypt<'a>(
        &mut self,
        mut message: InboundOpaqueMessage<'a>,
        number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let aad = Aad::from(make_tls13_aad(message.payload.len()));
        let opened = self.0.key.open_in_place(self.0.nonce(number), aad, &mut message.payload);
        let bytes = opened.map_err(|_| Error::DecryptError)?.len();
        message.payload.truncate(bytes);
        message.into_tls13_unpadded_message()
    }
}

impl MessageEncrypter for Sealed12 {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, number: u64) -> Result<OutboundOpaqueMessage, Error> {
        let bytes = message.payload.len();
        let mut payload = PrefixedPayload::with_capacity(self.encrypted_payload_len(bytes));
        payload.extend_from_chunks(&message.payload);
        let aad = Aad::from(make_tls12_aad(number, message.typ, message.version, bytes));
        self.0.seal(number, aad, &mut payload, 0)?;
        Ok(OutboundOpaqueMessage::new(message.typ, message.version, payload))
    }

    fn encrypted_payload_len(&self, bytes: usize) -> usize {
        bytes + TAG_BYTES
    }
}

impl MessageDecrypter for Sealed12 {
    fn decrypt<'a>(
        &mut self,
        mut message: InboundOpaqueMessage<'a>,
        number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let bytes = message.payload.len().checked_sub(TAG_BYTES).ok_or(Error::DecryptError)?;
        let aad = Aad::from(make_tls12_aad(number, message.typ, message.version, bytes));
        let opened = self.0.key.open_in_place(self.0.nonce(number), aad, &mut message.payload);
        opened.map_err(|_| Error::DecryptError)?;
        bounded12(message, bytes)
    }
}

impl MessageEncrypter for SealedGcm12 {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, number: u64) -> Result<OutboundOpaqueMessage, Error> {
        let bytes = message.payload.len();
        let mut payload = PrefixedPayload::with_capacity(self.encrypted_payload_len(bytes));
        payload.extend_from_slice(&Nonce::new(&self.0.iv, number).0[SALT_BYTES..]);
        payload.extend_from_chunks(&message.payload);
        let aad = Aad::from(make_tls12_aad(number, message.typ, message.version, bytes));
        self.0.seal(number, aad, &mut payload, SHOWN_BYTES)?;
        Ok(OutboundOpaqueMessage::new(message.typ, message.version, payload))
    }

    fn encrypted_payload_len(&self, bytes: usize) -> usize {
        bytes + SHOWN_BYTES + TAG_BYTES
    }
}

impl MessageDecrypter for SealedGcm12 {
    fn decrypt<'a>(
        &mut self,
        mut message: InboundOpaqueMessage<'a>,
        number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let bytes = message.payload.len().checked_sub(SHOWN_BYTES + TAG_BYTES).ok_or(Error::DecryptError)?;
        let mut nonce = Nonce::new(&self.0.iv, 0).0;
        nonce[SALT_BYTES..].copy_from_slice(&message.payload[..SHOWN_BYTES]);
        let nonce = aead::Nonce::assume_unique_for_key(nonce);
        let aad = Aad::from(make_tls12_aad(number, message.typ, message.version, bytes));
        let opened = self.0.key.open_within(nonce, aad, &mut message.payload, SHOWN_BYTES..);
        opened.map_err(|_| Error::DecryptError)?;
        bounded12(message, bytes)
    }
}

/// An opened record of TLS 1.2, whose content is the first bytes of the payload.
fn bounded12(mut message: InboundOpaqueMessage<'_>, bytes: usize) -> Result<InboundPlainMessage<'_>, Error> {
    if bytes > CONTENT_BYTES_MAX {
        return Err(Error::PeerSentOversizedRecord);
    }
    message.payload.truncate(bytes);
    Ok(message.into_plain_message())
}
