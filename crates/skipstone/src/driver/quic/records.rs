//! Datagrams on a stream of the session, each behind its length as on TCP (WIRE.md sections 7.2 and 7.3).

use bytes::BytesMut;

/// Bytes of a datagram on a stream: more than a packet of any path takes.
pub(super) const RECORD_BYTES_MAX: usize = 2_048;
/// No datagram of the protocol is shorter: many tiny ones would cost much more than their bytes.
const RECORD_BYTES_MIN: usize = 8;
/// The highest bit of each length.
const MARK: u16 = 0x8000;
const PREFIX_BYTES: usize = 2;

/// One stream's, as they come: what is kept is the beginning of one.
#[derive(Debug, Default)]
pub(super) struct Records {
    begun: Vec<u8>,
}

/// What came is no length that a datagram can have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl Records {
    /// Takes the stream's next bytes, and adds the datagrams that are whole with them.
    pub(super) fn handle(&mut self, bytes: &[u8], whole: &mut Vec<BytesMut>) -> Result<(), Broken> {
        self.begun.extend_from_slice(bytes);
        let mut rest = &self.begun[..];
        while let Some(prefix) = rest.first_chunk::<PREFIX_BYTES>().map(|prefix| u16::from_be_bytes(*prefix)) {
            let length = usize::from(prefix & !MARK);
            if prefix & MARK == 0 || !(RECORD_BYTES_MIN..=RECORD_BYTES_MAX).contains(&length) {
                return Err(Broken);
            }
            let Some(datagram) = rest.get(PREFIX_BYTES..PREFIX_BYTES + length) else { break };
            whole.push(BytesMut::from(datagram));
            rest = &rest[PREFIX_BYTES + length..];
        }
        let taken = self.begun.len() - rest.len();
        self.begun.drain(..taken);
        Ok(())
    }

    /// Bytes of the datagram that is not whole yet.
    pub(super) fn kept_bytes(&self) -> usize {
        self.begun.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(lengths: &[usize]) -> (Vec<BytesMut>, Vec<u8>) {
        let datagrams: Vec<BytesMut> =
            (0..).zip(lengths).map(|(at, &length)| BytesMut::from(&vec![at; length][..])).collect();
        let behind = |datagram: &BytesMut| [&(MARK | datagram.len() as u16).to_be_bytes()[..], datagram].concat();
        let bytes = datagrams.iter().flat_map(behind).collect();
        (datagrams, bytes)
    }

    #[test]
    fn datagrams_are_the_same_however_the_stream_is_cut() {
        let (datagrams, bytes) = records(&[RECORD_BYTES_MIN, 1_200, 11, RECORD_BYTES_MAX, 300]);
        for piece in [1, 2, 3, 7, 1_000, bytes.len()] {
            let (mut records, mut whole) = (Records::default(), Vec::new());
            for bytes in bytes.chunks(piece) {
                assert_eq!(records.handle(bytes, &mut whole), Ok(()));
                assert!(records.kept_bytes() <= PREFIX_BYTES + RECORD_BYTES_MAX);
            }
            assert_eq!((whole, records.kept_bytes()), (datagrams.clone(), 0), "pieces of {piece}");
        }
    }

    #[test]
    fn lengths_that_no_datagram_has_are_broken() {
        for prefix in
            [0x0014, 0x7FFF, MARK, MARK + RECORD_BYTES_MIN as u16 - 1, MARK + RECORD_BYTES_MAX as u16 + 1, u16::MAX]
        {
            let (good, mut bytes) = records(&[19]);
            bytes.extend(prefix.to_be_bytes());
            let mut whole = Vec::new();
            assert_eq!(Records::default().handle(&bytes, &mut whole), Err(Broken), "{prefix:#06x}");
            assert_eq!(whole, good, "what came before stays");
        }
    }
}
