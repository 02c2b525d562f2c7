//! SHA-256 and SHA-384, and HMAC by them, in the form that rustls needs.

use crate::security::backend::{digest, hmac};
use rustls::crypto::hash::{self, HashAlgorithm};
use rustls::crypto::hmac as rustls_hmac;

pub(super) static SHA256: Digest = Digest { algorithm: &digest::SHA256, name: HashAlgorithm::SHA256 };
pub(super) static SHA384: Digest = Digest { algorithm: &digest::SHA384, name: HashAlgorithm::SHA384 };

pub(super) static HMAC_SHA256: Hmac = Hmac { algorithm: &hmac::HMAC_SHA256, tag_bytes: digest::SHA256_OUTPUT_LEN };
pub(super) static HMAC_SHA384: Hmac = Hmac { algorithm: &hmac::HMAC_SHA384, tag_bytes: digest::SHA384_OUTPUT_LEN };

pub(super) struct Digest {
    algorithm: &'static digest::Algorithm,
    name: HashAlgorithm,
}

impl hash::Hash for Digest {
    fn start(&self) -> Box<dyn hash::Context> {
        Box::new(Transcript(digest::Context::new(self.algorithm)))
    }

    fn hash(&self, bytes: &[u8]) -> hash::Output {
        hash::Output::new(digest::digest(self.algorithm, bytes).as_ref())
    }

    fn output_len(&self) -> usize {
        self.algorithm.output_len()
    }

    fn algorithm(&self) -> HashAlgorithm {
        self.name
    }
}

/// The hash of the handshake so far.
struct Transcript(digest::Context);

impl hash::Context for Transcript {
    fn fork_finish(&self) -> hash::Output {
        hash::Output::new(self.0.clone().finish().as_ref())
    }

    fn fork(&self) -> Box<dyn hash::Context> {
        Box::new(Transcript(self.0.clone()))
    }

    fn finish(self: Box<Self>) -> hash::Output {
        hash::Output::new(self.0.finish().as_ref())
    }

    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

pub(super) struct Hmac {
    algorithm: &'static hmac::Algorithm,
    tag_bytes: usize,
}

impl rustls_hmac::Hmac for Hmac {
    fn with_key(&self, key: &[u8]) -> Box<dyn rustls_hmac::Key> {
        Box::new(HmacKey { key: hmac::Key::new(*self.algorithm, key), tag_bytes: self.tag_bytes })
    }

    fn hash_output_len(&self) -> usize {
        self.tag_bytes
    }
}

struct HmacKey {
    key: hmac::Key,
    tag_bytes: usize,
}

impl rustls_hmac::Key for HmacKey {
    fn sign_concat(&self, first: &[u8], middle: &[&[u8]], last: &[u8]) -> rustls_hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(first);
        middle.iter().for_each(|bytes| context.update(bytes));
        context.update(last);
        rustls_hmac::Tag::new(context.sign().as_ref())
    }

    fn tag_len(&self) -> usize {
        self.tag_bytes
    }
}
