//! The bodies of the fuzz targets: what must hold for any bytes. `fuzz_targets/` gives them libFuzzer's, and
//! `tests/corpora_replay.rs` those that are worth keeping.

mod input;
mod operations;
mod pair;
mod parsing;
mod streams;

pub use operations::operations;
pub use pair::pair;
pub use parsing::{decode, round_trip};
pub use streams::{http3, proxy_header, stream_messages};
