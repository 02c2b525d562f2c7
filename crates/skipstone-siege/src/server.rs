//! The server under siege: `skipstone serve` in a process of its own.

use crate::attack::{Door, ServerSettings};
use crate::process::Running;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

pub(crate) struct Server {
    running: Running,
    /// Its certificate, if it has not made its own.
    _certificate: Option<NamedTempFile>,
    /// Of native clients, with the fingerprint.
    pub(crate) url: String,
    game: SocketAddr,
}

impl Server {
    pub(crate) fn start(tool: &Path, settings: ServerSettings) -> Result<Server, String> {
        let mut serve = Command::new(tool);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--identity", "new", "--allow-plain"]);
        serve.args(["--console", "127.0.0.1:0", "--console-token", TOKEN, "--dashboard", "127.0.0.1:0"]);
        serve.args(settings.flags);
        let certificate = settings.certificate.map(file_with).transpose();
        let certificate = certificate.map_err(|error| format!("no file for a certificate: {error}"))?;
        if let Some(file) = &certificate {
            serve.arg("--cert").arg(file.path());
        }
        let running = Running::start(serve)?;
        let until = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        while !said.last().is_some_and(|line: &String| line.contains(READY)) {
            said.push(running.line(until).ok_or_else(|| format!("the server does not serve: {}", said.join("\n")))?);
        }
        let word = |kind: &str| {
            let line = said.iter().find_map(|line| line.trim_start().strip_prefix(kind));
            let word = line.and_then(|line| line.split_whitespace().find(|word| word.contains("://")));
            word.map(str::to_owned).ok_or_else(|| format!("the server printed no line `{kind}`: {}", said.join("\n")))
        };
        let (url, plain) = (word("native")?, word("in clear")?);
        let game = plain.trim_start_matches("skip+plain://").parse();
        let game = game.map_err(|error| format!("{plain}: {error}"))?;
        Ok(Server { running, _certificate: certificate, url, game })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    pub(crate) fn address(&self, door: Door) -> SocketAddr {
        match door {
            Door::Game => self.game,
        }
    }
}

fn file_with(text: &str) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// Of the console and the dashboard.
pub(crate) const TOKEN: &str = "6f1c53a0b9e84d7781c2d35e90ab47f6";
/// The last line of a start.
const READY: &str = "stop with Ctrl-C";
const PATIENCE: Duration = Duration::from_secs(20);
