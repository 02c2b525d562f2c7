//! `ip`, of iproute2: creates and connects interfaces.

use std::process::{Command, Stdio};

pub(crate) fn ip(arguments: &[&str]) -> Result<(), String> {
    let run = Command::new("ip").args(arguments).stdin(Stdio::null()).output();
    let run = run.map_err(|error| format!("cannot run `ip`, of the package iproute2: {error}"))?;
    if run.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&run.stderr);
    Err(format!("`ip {}` failed: {}", arguments.join(" "), said.trim()))
}
