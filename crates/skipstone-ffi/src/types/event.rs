//! Events, as a poll returns them.

use std::ffi::c_char;

/// An event of a connection. What `data` and `address` point to belongs to the library, and is valid until the next
/// skipstone_poll with the same handle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneEvent {
    /// A SkipstoneEventKind. Ignore unknown ones.
    pub kind: u32,
    /// The channel of a message.
    pub channel: u16,
    /// Details of a message that was given up, or of a close.
    pub detail: u16,
    /// The connection.
    pub peer: u64,
    /// A message's bytes, a token, or the reason of a close; NULL if `length` is 0.
    pub data: *const u8,
    /// Bytes of `data`.
    pub length: u32,
    /// How much later than planned a message arrived, because it was lost at first; usually 0. Pass it on as the age of
    /// an answer.
    pub age_us: u32,
    /// The message that was acknowledged or given up, as returned by skipstone_server_send.
    pub id: u64,
    /// The code of a close.
    pub code: u64,
    /// The address of a client as NUL-terminated text; NULL in events without an address.
    pub address: *const c_char,
    /// Always 0.
    pub reserved: u64,
}
