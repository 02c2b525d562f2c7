//! A server of the tool, and the URL that it prints.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// It ends with this.
pub(super) struct Served {
    child: Child,
    url: String,
}

impl Served {
    /// Starts `skipstone serve`, and waits until it serves.
    pub(super) fn start(mut serve: Command) -> Result<Self, String> {
        let mut child = serve.stdout(Stdio::piped()).spawn().map_err(|error| format!("no server: {error}"))?;
        let out = child.stdout.take().ok_or("the server's output is not read")?;
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let url =
            lines.find_map(|line| line.trim().strip_prefix("native")?.split_whitespace().next().map(String::from));
        // What follows is read, so that the server can print it.
        std::thread::spawn(move || lines.for_each(drop));
        let mut served = Served { child, url: String::new() };
        match url {
            Some(url) => served.url = url,
            None => return Err("the server has printed no URL".into()),
        }
        Ok(served)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
