//! Forward erasure correction: repair symbols from which packets that were lost are made again, without a round trip.
//!
//! A systematic code over a sliding window (in the manner of RFC 8681): the packets of the last bursts are the source
//! symbols, a repair is a linear combination of all of them over GF(256), with Cauchy coefficients, so that any `n`
//! repairs replace any `n` packets that they have in common. A symbol is a packet's content with its length and checksum
//! in front; a content that was made again and does not match its checksum is dropped. WIRE.md section 4.4.
//!
//! `encoder` makes repairs, `decoder` uses them, `policy` says how many, `budget` holds it to its price.

pub mod budget;
pub mod decoder;
pub mod encoder;
pub mod policy;
mod symbol;

pub use budget::Budget;
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use policy::{Plan, Policy};
