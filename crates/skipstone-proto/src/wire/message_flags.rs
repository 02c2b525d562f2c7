//! The first byte of a MESSAGE frame (WIRE.md section 4.2).

pub(super) const TYPE_MESSAGE: u8 = 0x80;
pub(super) const FLAG_CHANNEL: u8 = 0x40;
pub(super) const FLAG_SEQUENCE: u8 = 0x20;
pub(super) const FLAG_FRAGMENT: u8 = 0x10;
pub(super) const LENGTH_BITS: u8 = 0x0f;
pub(super) const INLINE_LENGTH_MAX: usize = 12;
pub(super) const LENGTH_AS_BEFORE: u8 = 13;
pub(super) const LENGTH_FOLLOWS: u8 = 14;
pub(super) const LENGTH_IS_REST: u8 = 15;
