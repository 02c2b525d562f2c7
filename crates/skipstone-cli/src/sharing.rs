//! How many shards a server has, for `serve` and for the server that `stress` starts; and what is wrong with its
//! sockets.

use skipstone_lab::measure::machine::cores;
use skipstone_lab::report::output;
use std::str::FromStr;
use std::sync::Once;

/// Flags for the distribution of a server's clients.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct SharingFlags {
    /// Shards: threads that share the server's clients, each with sockets of its own on the same port, to use more
    /// cores. `auto` has one for each core; a server that needs only one core runs best with 1 [default: 1]
    #[arg(long, value_name = "N|auto")]
    pub(crate) shards: Option<ShardCount>,
}

/// A number of shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub(crate) enum ShardCount {
    /// One shard for each core that the server may use, if the system can share a port.
    #[display("auto")]
    Auto,
    /// A fixed number.
    Of(u32),
}

/// A connection id has room for no more.
const SHARDS_MAX: u32 = 256;

impl FromStr for ShardCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "auto" => Ok(Self::Auto),
            Ok(count @ 1..=SHARDS_MAX) => Ok(Self::Of(count)),
            _ => Err(format!("'{text}' is not a number of shards: 1 to {SHARDS_MAX}, or `auto` for one per core")),
        }
    }
}

impl SharingFlags {
    /// How many shards the server is to have.
    pub(crate) fn shards(self) -> u32 {
        match self.shards {
            None => 1,
            Some(ShardCount::Of(count)) => count,
            Some(ShardCount::Auto) if cfg!(not(target_os = "linux")) => 1,
            Some(ShardCount::Auto) => (cores() as u32).min(SHARDS_MAX),
        }
    }

    /// The flags for a server that is started with them.
    pub(crate) fn words(self) -> Vec<String> {
        self.shards.map(|count| format!("--shards={count}")).into_iter().collect()
    }
}

/// Prints problems with sockets, once in a process.
pub(crate) fn warn_of(warnings: impl IntoIterator<Item = String>) {
    static WARNED: Once = Once::new();
    let mut warnings = warnings.into_iter().peekable();
    if warnings.peek().is_some() {
        WARNED.call_once(|| warnings.for_each(|warning| output::complain(format_args!("warning: {warning}"))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_shards_is_a_number_or_auto() {
        assert_eq!("auto".parse(), Ok(ShardCount::Auto));
        assert_eq!("2".parse(), Ok(ShardCount::Of(2)));
        for text in ["0", "257", "-1", "two", ""] {
            let error = text.parse::<ShardCount>().expect_err(text);
            assert!(error.contains("1 to 256, or `auto`"), "{error}");
        }
        let flags = |shards| SharingFlags { shards };
        assert_eq!((flags(None).shards(), flags(None).words()), (1, vec![]));
        assert_eq!(flags(Some(ShardCount::Of(3))).words(), ["--shards=3"]);
        assert!(flags(Some(ShardCount::Auto)).shards() >= 1);
    }
}
