//! The whole tool.

fn main() -> std::process::ExitCode {
    skipstone_cli::run()
}
