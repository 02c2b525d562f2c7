//! Lines for standard output. After the pipe is closed (`skipstone stress | head -1`) or the disk is full, they have no
//! reader: that is no reason to panic, or to end a measurement or a server. Output is sanitized except for line feeds
//! and colours. A command whose result was not written ends with
//! [`Exit::once_written`](crate::report::Exit::once_written).

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

use crate::clean;

/// Text to standard output, at once.
pub fn print(text: impl Display) {
    draw(clean::page(&text.to_string()));
}

/// Text with codes that move the cursor; it contains nothing from the network.
pub fn draw(text: impl Display) {
    let mut out = io::stdout().lock();
    note(write!(out, "{text}").and_then(|()| out.flush()));
}

/// Records that standard output did not accept something. A closed pipe means that the reader has read enough, and is
/// not a failure.
pub fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        FAILURE.get_or_init(|| error.to_string());
    }
}

/// Why standard output did not take everything that was printed; `None` if it did, or if its reader had enough.
pub fn failure() -> Option<&'static str> {
    FAILURE.get().map(String::as_str)
}

/// A failure of this process's standard output.
static FAILURE: OnceLock<String> = OnceLock::new();

/// A line to standard output.
pub fn say(line: impl Display) {
    print(format_args!("{line}\n"));
}

/// A line to standard error.
pub fn complain(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", clean::page(&line.to_string()));
}
