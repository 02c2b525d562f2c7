//! Forward erasure correction: repair symbols from which packets that were lost are recovered, without a round trip.
//!
//! A systematic code over a sliding window (as in RFC 8681): the packets of the last bursts are the source symbols, a
//! repair is a linear combination of all of them over GF(256), with Cauchy coefficients, so that any `n` repairs
//! replace any `n` packets that they have in common. A symbol is a packet's content with its length and checksum in
//! front; a recovered content that does not match its checksum is dropped. WIRE.md section 4.4.
//!
//! `encoder` computes repairs, `decoder` uses them.

pub mod decoder;
pub mod encoder;
mod symbol;

pub use decoder::Decoder;
pub use encoder::Encoder;
