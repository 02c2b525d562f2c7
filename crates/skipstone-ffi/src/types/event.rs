//! What a poll gives.

use std::ffi::c_char;

/// Something that happened to a connection. What `data` and `address` point to belongs to the library, and stays until the
/// next skipstone_poll with the same handle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneEvent {
    /// A SkipstoneEventKind. Ignore those that you do not know.
    pub kind: u32,
    /// The channel of a message.
    pub channel: u16,
    /// More about a message that was given up, or about an end.
    pub detail: u16,
    /// The connection.
    pub peer: u64,
    /// A message's bytes, a token, or the reason of an end; NULL if `length` is 0.
    pub data: *const u8,
    /// Bytes of `data`.
    pub length: u32,
    /// How much later than planned a message arrived, because it was lost before; usually 0. Who answers it passes this on
    /// as the answer's age.
    pub age_us: u32,
    /// The message that was acknowledged or given up, as skipstone_server_send told it.
    pub id: u64,
    /// Why a connection ended.
    pub code: u64,
    /// The address of a client as text, with a NUL behind it; NULL in events that have none.
    pub address: *const c_char,
    /// Always 0.
    pub reserved: u64,
}
