//! The version of the C interface: the version of its newest member, in any table or file.

use crate::region::Region;
use skipstone_proto::{Settings, Stats};

/// The newest version that has a function or a field outside the tables.
const BY_HAND: (u32, u32) = (1, 4);

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, lines| Region { path, name: "version", lines };
    vec![
        of("crates/skipstone-ffi/src/types/mod.rs", c),
        of("clients/unity/com.skipstone.transport/Runtime/Core/Native/AbiCheck.cs", csharp),
    ]
}

fn newest() -> (u32, u32) {
    let counters = Stats::FIGURES.iter().map(|figure| figure.since);
    let settings = Settings::ALL.iter().map(|setting| setting.since);
    let drivers = crate::driver::members().into_iter().map(|member| member.since);
    let options = crate::configuration::server_options().into_iter().map(|option| option.since);
    counters.chain(settings).chain(drivers).chain(options).fold(BY_HAND, Ord::max)
}

fn c(_: usize) -> Vec<String> {
    let (major, minor) = newest();
    vec![
        "/// The version of this interface: the major number in the upper 16 bits, the minor in the lower.".into(),
        format!("pub const SKIPSTONE_ABI_VERSION: u32 = ({major} << 16) + {minor};"),
    ]
}

fn csharp(_: usize) -> Vec<String> {
    let (major, minor) = newest();
    vec![format!("internal const ushort Major = {major};"), format!("internal const ushort Minor = {minor};")]
}
