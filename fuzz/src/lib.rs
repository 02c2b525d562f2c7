//! The bodies of the fuzz targets: what must hold for any bytes. `fuzz_targets/` runs them with the bytes of libFuzzer,
//! and `tests/corpora_replay.rs` with the saved ones.

mod certificate;
mod first_datagrams;
mod input;
mod operations;
mod page;
mod pair;
mod parsing;
mod quic_streams;
mod stream_heads;
mod streams;

pub use first_datagrams::{first_datagrams, heard};
pub use operations::operations;
pub use pair::pair;
pub use parsing::{decode, round_trip};
pub use quic_streams::{quic_streams, used};
pub use stream_heads::{opened_by, stream_heads};
pub use streams::{http3, proxy_header, stream_messages};
