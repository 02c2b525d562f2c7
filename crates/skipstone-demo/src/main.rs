//! The tool as `cargo run` builds it: the demonstration, `stress` and `serve`.

fn main() -> std::process::ExitCode {
    skipstone_cli::run()
}
