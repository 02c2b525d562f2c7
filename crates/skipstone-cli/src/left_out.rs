//! Commands and flags of features that this build lacks: they report that, instead of an unknown command.

use skipstone_lab::report::{Exit, output};

/// Whatever stands behind a command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Anything {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<std::ffi::OsString>,
}

/// Databases.
pub(crate) fn databases(asked: &str) -> Exit {
    output::complain(format_args!("skipstone {asked}: {DATABASES}"));
    Exit::BadConfiguration
}

/// The remedy.
pub(crate) const DATABASES: &str = "this program was built without databases; build it with them: \
                                    cargo build --release --package skipstone-cli --features db";
