//! The line that runs something again.

/// The words by which this run was started, its program's folder apart.
pub fn command() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    [env!("CARGO_PKG_NAME").trim_end_matches("-lab").to_owned()].into_iter().chain(words).collect()
}
