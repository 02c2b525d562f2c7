//! (to come)
use crate::report::exit::Exit;
/// Flags of `chat`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    url: String,
}
/// (to come)
pub(crate) fn run(_: &Arguments) -> Exit {
    Exit::Pass
}
