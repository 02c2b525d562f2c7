//! A terminal for programs that want one, played by a small `expect` in Python.

use super::{Ended, Running};
use std::process::Command;

/// Runs a program on a terminal this wide. The script's lines are `send TEXT` (and Enter) and `expect TEXT`, in order.
/// `None`, with a word on standard error, where Python or the program is missing.
pub(crate) fn on_terminal(columns: u32, script: &str, program: &[&str]) -> Option<Ended> {
    for needed in ["python3", program[0]] {
        let found = Command::new("sh").args(["-c", &format!("command -v {needed} >/dev/null")]).status();
        if !found.is_ok_and(|status| status.success()) {
            eprintln!("skipped: there is no {needed} here");
            return None;
        }
    }
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/end_to_end/common/terminal.py"));
    command.args([&columns.to_string(), script]).args(program);
    Some(Running::start(command).wait())
}

/// The content of a terminal with this number of rows: carriage returns, line feeds, cursor up, erased lines; colours
/// are left out.
pub(crate) fn screen(transcript: &str) -> Vec<String> {
    let (mut rows, mut row) = (vec![String::new()], 0_usize);
    let mut rest = transcript;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\r' => {}
            '\n' => {
                row += 1;
                if row == rows.len() {
                    rows.push(String::new());
                }
            }
            '\x1b' => {
                let end = rest.find(|letter: char| letter.is_ascii_alphabetic()).expect("an escape has an end");
                let number = rest[1..end].parse().unwrap_or(1);
                match &rest[end..=end] {
                    "A" => row = row.saturating_sub(number),
                    "K" => rows[row].clear(),
                    _ => {}
                }
                rest = &rest[end + 1..];
            }
            letter => rows[row].push(letter),
        }
    }
    rows
}
