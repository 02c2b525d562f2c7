//! Lines for whoever reads them. Nobody does any more when the pipe is closed (`skipstone stress | head -1`) or the disk
//! full: no reason to panic, nor to end a measurement or a server. All of it is cleaned but for lines and colours.

use std::fmt::Display;
use std::io::Write;

use crate::clean;

/// Text to standard output, at once.
pub fn print(text: impl Display) {
    draw(clean::page(&text.to_string()));
}

/// Text with codes that move the cursor, which has nothing from the network in it.
pub fn draw(text: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// A line to standard output.
pub fn say(line: impl Display) {
    print(format_args!("{line}\n"));
}

/// A line to standard error.
pub fn complain(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{}", clean::page(&line.to_string()));
}
