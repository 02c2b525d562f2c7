//! The offer of a client in its HELLO, which its OPEN repeats (WIRE.md section 2.1).

use super::versions::Versions;
use crate::wire::Malformed;
use crate::wire::cursor::Reader;

/// The suites and versions that a client offers, and everything that later versions add to the offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer<'a> {
    /// All of it, as it was sent.
    pub bytes: &'a [u8],
    /// A bit set of [`SUITE_PLAIN`](super::SUITE_PLAIN) and the others; bits without a meaning are to be ignored.
    pub suites: u8,
    /// Best first, at least one; those without a meaning are to be ignored.
    pub versions: Versions<'a>,
}

impl<'a> Offer<'a> {
    /// Decodes an offer; bytes after its versions are free for later versions.
    ///
    /// # Errors
    /// The offer is truncated, or contains no version.
    pub fn decode(bytes: &'a [u8]) -> Result<Offer<'a>, Malformed> {
        let mut reader = Reader::new(bytes);
        Ok(Offer { bytes, suites: reader.u8()?, versions: Versions::read(&mut reader)? })
    }

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Offer<'a>, Malformed> {
        let length = usize::from(reader.u8()?);
        Offer::decode(reader.take(length)?)
    }
}

/// An offer of these suites and versions, best first.
///
/// # Panics
/// If there are no versions, or more than 126.
pub fn encode_offer(suites: u8, versions: &[u16]) -> Vec<u8> {
    assert!((1..=VERSIONS_MAX).contains(&versions.len()), "an offer has a version, and its length fits into a byte");
    let pairs = versions.iter().flat_map(|version| version.to_be_bytes());
    [suites, versions.len() as u8].into_iter().chain(pairs).collect()
}

/// Versions of an offer, at most: an offer is at most 255 bytes long.
const VERSIONS_MAX: usize = 126;
