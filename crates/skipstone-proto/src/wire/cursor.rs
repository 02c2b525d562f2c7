//! Reading from received bytes, which fails softly, and writing into a buffer, which the caller has made large enough.
//! All integers are big-endian (WIRE.md section 1).

use crate::wire::Malformed;
use crate::wire::number::Truncated;
use crate::wire::varint;

/// Takes fields off the front of received bytes. After an error, its position is unspecified.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Begins at the first of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Bytes not yet taken.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether every byte was taken.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Everything that is left, without taking it.
    pub const fn peek(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes everything that is left.
    pub const fn rest(&mut self) -> &'a [u8] {
        let rest = self.rest;
        self.rest = &[];
        rest
    }

    /// Takes `count` bytes.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes one byte.
    ///
    /// # Errors
    /// No byte is left.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(|[byte]| byte)
    }

    /// Takes 16 bits.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    /// Takes 24 bits.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn u24(&mut self) -> Result<u32, Malformed> {
        self.array().map(|[a, b, c]| u32::from_be_bytes([0, a, b, c]))
    }

    /// Takes 32 bits.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    /// Takes 64 bits.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    /// Takes a varint of any form, the shortest or not (WIRE.md section 1).
    ///
    /// # Errors
    /// Fewer bytes are left than the first one announces.
    pub fn varint(&mut self) -> Result<u64, Malformed> {
        let first = self.u8()?;
        let more = (1 << (first >> 6)) - 1;
        Ok(append(first & 0x3f, self.take(more)?))
    }

    /// Takes a truncated number (WIRE.md section 1).
    ///
    /// # Errors
    /// Fewer bytes are left than the first one announces, or no number begins with that byte.
    pub fn truncated(&mut self) -> Result<Truncated, Malformed> {
        let first = self.u8()?;
        match first.leading_ones() {
            ones @ 0..=3 => {
                let more = self.take(ones as usize)?;
                let value = append(first & (0x7f >> ones), more);
                Ok(Truncated { value: value as u32, bits: 7 * (ones as u8 + 1) })
            }
            4 if first == LONGEST_TRUNCATED => Ok(Truncated { value: self.u32()?, bits: 32 }),
            _ => Err(Malformed),
        }
    }

    /// Takes a varint-prefixed run of bytes, `bytes_max` at most.
    ///
    /// # Errors
    /// The field is longer, or truncated.
    pub fn prefixed(&mut self, bytes_max: usize) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
        if length > bytes_max {
            return Err(Malformed);
        }
        self.take(length)
    }

    /// Takes a varint-prefixed text, `bytes_max` at most.
    pub(crate) fn prefixed_str(&mut self, bytes_max: usize) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.prefixed(bytes_max)?).map_err(|_| Malformed)
    }

    /// Takes a varint that has to fit 32 bits.
    pub(super) fn varint_u32(&mut self) -> Result<u32, Malformed> {
        self.varint()?.try_into().map_err(|_| Malformed)
    }

    /// Takes a varint that has to fit 16 bits.
    pub(super) fn varint_u16(&mut self) -> Result<u16, Malformed> {
        self.varint()?.try_into().map_err(|_| Malformed)
    }

    /// Takes `N` bytes as they are.
    pub(super) fn array_ref<const N: usize>(&mut self) -> Result<&'a [u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.array_ref().copied()
    }

    /// An error unless every byte was taken.
    pub(crate) const fn end(&self) -> Result<(), Malformed> {
        if self.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

fn append(first: u8, more: &[u8]) -> u64 {
    more.iter().fold(u64::from(first), |value, &byte| value << 8 | u64::from(byte))
}

/// Writes fields one after the other. Every write panics if there is no room for it: the caller has compared
/// [`Writer::room`] with the `*_len` function of the written field.
#[derive(Debug)]
pub struct Writer<'a> {
    buffer: &'a mut [u8],
    len: usize,
}

impl<'a> Writer<'a> {
    /// Begins at the first byte of `buffer`.
    pub const fn new(buffer: &'a mut [u8]) -> Writer<'a> {
        Writer { buffer, len: 0 }
    }

    /// Bytes written.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was written yet.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that can still be written.
    pub const fn room(&self) -> usize {
        self.buffer.len() - self.len
    }

    /// The bytes written.
    pub fn written(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// The bytes written, for as long as the buffer lives.
    pub fn into_written(self) -> &'a mut [u8] {
        &mut self.buffer[..self.len]
    }

    /// The next `length` bytes, which the caller fills.
    pub fn space(&mut self, length: usize) -> &mut [u8] {
        let from = self.len;
        self.len += length;
        &mut self.buffer[from..self.len]
    }

    /// Writes one byte.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.bytes(&[value]);
    }

    /// Writes 16 bits.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }

    /// Writes 24 bits.
    ///
    /// # Panics
    /// If the value has more than 24 bits, or there is no room.
    pub fn u24(&mut self, value: u32) {
        assert!(value < 1 << 24, "the value has more than 24 bits");
        self.bytes(&value.to_be_bytes()[1..]);
    }

    /// Writes 32 bits.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }

    /// Writes 64 bits.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_be_bytes());
    }

    /// Writes a varint in its shortest form (WIRE.md section 1).
    pub fn varint(&mut self, value: u64) {
        match varint::len(value) {
            1 => self.u8(value as u8),
            2 => self.u16(value as u16 | 0x4000),
            4 => self.u32(value as u32 | 0x8000_0000),
            _ => self.u64(value | 0xc000_0000_0000_0000),
        }
    }

    /// Writes a truncated number (WIRE.md section 1).
    ///
    /// # Panics
    /// If the value has more bits than it says, the number of bits is not 7, 14, 21, 28 or 32, or there is no room.
    pub fn truncated(&mut self, number: Truncated) {
        let Truncated { value, bits } = number;
        assert!(u64::from(value) < 1 << bits, "a truncated number has only its own bits");
        match bits {
            7 => self.u8(value as u8),
            14 => self.u16(value as u16 | 0x8000),
            21 => self.u24(value | 0x00c0_0000),
            28 => self.u32(value | 0xe000_0000),
            32 => {
                self.u8(LONGEST_TRUNCATED);
                self.u32(value);
            }
            _ => panic!("a truncated number keeps 7, 14, 21, 28 or 32 bits"),
        }
    }

    /// Writes `bytes` as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.next(bytes.len()).copy_from_slice(bytes);
    }

    /// Writes `count` zeros.
    pub fn zeros(&mut self, count: usize) {
        self.next(count).fill(0);
    }

    /// Writes the length of `bytes` as a varint, then the bytes.
    ///
    /// # Panics
    /// If there is no room.
    pub fn prefixed(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.bytes(bytes);
    }

    /// Overwrites one byte that was written before, for a count that is known only after the counted items.
    #[inline]
    pub(super) fn patch_u8(&mut self, at: usize, value: u8) {
        self.buffer[..self.len][at] = value;
    }

    fn next(&mut self, count: usize) -> &mut [u8] {
        assert!(count <= self.room(), "no room left: the caller checks it before it writes");
        let from = self.len;
        self.len += count;
        &mut self.buffer[from..self.len]
    }
}

/// Bytes of a run of `length` bytes with its varint length before it.
pub(super) const fn prefixed_len(length: usize) -> usize {
    varint::len(length as u64) + length
}

/// The first byte of a truncated number of 32 bits.
const LONGEST_TRUNCATED: u8 = 0xf0;

#[cfg(test)]
mod number_tests;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_big_endian_and_round_trip() {
        let mut buffer = [0; 21];
        let mut writer = Writer::new(&mut buffer);
        writer.u8(0x01);
        writer.u16(0x0203);
        writer.u24(0x04_0506);
        writer.u32(0x0708_090a);
        writer.u64(0x0b0c_0d0e_0f10_1112);
        writer.bytes(&[0x13, 0x14]);
        writer.zeros(1);
        assert_eq!((writer.len(), writer.room(), writer.is_empty()), (21, 0, false));
        let written = writer.into_written();
        let counted: Vec<u8> = (1..=20).chain([0]).collect();
        assert_eq!(written, counted);

        let mut reader = Reader::new(written);
        assert_eq!(reader.u8(), Ok(0x01));
        assert_eq!(reader.u16(), Ok(0x0203));
        assert_eq!(reader.u24(), Ok(0x04_0506));
        assert_eq!(reader.u32(), Ok(0x0708_090a));
        assert_eq!(reader.u64(), Ok(0x0b0c_0d0e_0f10_1112));
        assert_eq!(reader.remaining(), 3);
        assert_eq!(reader.take(2), Ok(&[0x13, 0x14][..]));
        assert_eq!(reader.rest(), [0]);
        assert!(reader.is_empty());
    }

    #[test]
    fn reading_past_the_end_is_malformed() {
        let short = Reader::new(&[0xf0, 0, 0]);
        assert_eq!(Reader::new(&[]).u8(), Err(Malformed));
        assert_eq!(Reader::new(&[1]).u16(), Err(Malformed));
        assert_eq!(Reader::new(&[1, 2]).u24(), Err(Malformed));
        assert_eq!({ short }.u32(), Err(Malformed));
        assert_eq!({ short }.u64(), Err(Malformed));
        assert_eq!({ short }.take(4), Err(Malformed));
        assert_eq!({ short }.truncated(), Err(Malformed));
        assert_eq!({ short }.take(usize::MAX), Err(Malformed));
    }

    #[test]
    fn a_length_beyond_its_limit_or_the_bytes_is_malformed() {
        assert_eq!(Reader::new(&[2, 7, 8]).prefixed(2), Ok(&[7, 8][..]));
        assert_eq!(Reader::new(&[2, 7, 8]).prefixed(1), Err(Malformed));
        assert_eq!(Reader::new(&[3, 7, 8]).prefixed(9), Err(Malformed));
        assert_eq!(Reader::new(&[0xff; 8]).prefixed(usize::MAX), Err(Malformed));
        assert_eq!(Reader::new(&[1, 0xff]).prefixed_str(9), Err(Malformed));
    }

    #[test]
    #[should_panic(expected = "no room left")]
    fn writing_past_the_end_panics() {
        Writer::new(&mut [0; 3]).u32(1);
    }

    #[test]
    #[should_panic(expected = "more than 24 bits")]
    fn an_id_above_24_bits_panics() {
        Writer::new(&mut [0; 3]).u24(1 << 24);
    }
}
