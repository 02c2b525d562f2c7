//! The parent process on standard input and output: each line is a request, each answer one line of JSON.
//! The server ends with its parent.

use super::admin::Admin;
use crate::console::Reply;
use skipstone_lab::report::output;
use std::io::BufRead;

/// Serves the parent from its own thread.
pub(super) fn listen(admin: &Admin) {
    let admin = admin.clone();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            match admin.ask(None, line.trim()) {
                Reply::Text(text) => output::say(text),
                Reply::Error(error) | Reply::Unknown(error) => output::say(serde_json::json!({ "error": error })),
                Reply::Quit => break,
            }
        }
        admin.ask(None, "stop");
    });
}
