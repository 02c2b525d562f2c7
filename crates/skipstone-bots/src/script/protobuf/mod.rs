//! `protobuf` of scripts: messages by `.proto` files of the script's folder. Each file is read once for a worker.
//!
//! ```text
//! natives > { decode encode } > { schema wrong }
//! ```

mod decode;
mod encode;
mod natives;
mod schema;
#[cfg(test)]
mod tests;
mod wrong;

pub(super) use natives::add;

/// Bytes of a message, encoded.
const MESSAGE_MAX: usize = 4 << 20;
/// Messages within messages.
const DEPTH_MAX: usize = 100;
/// Whole numbers up to this one are exact in a script.
const EXACT: i64 = 1 << 53;
