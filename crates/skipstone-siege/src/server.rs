//! The server under siege: `skipstone serve` in its own process.

use crate::attack::{Access, Door, ServerSettings};
use crate::process::Running;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

pub(crate) struct Server {
    running: Running,
    /// Its certificate, unless the server generated one.
    _certificate: Option<NamedTempFile>,
    /// The URL for native clients, with the fingerprint.
    pub(crate) url: String,
    game: SocketAddr,
    pub(crate) doors: Doors,
}

/// The operator's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doors {
    pub(crate) console: SocketAddr,
    pub(crate) dashboard: SocketAddr,
    pub(crate) token: Option<&'static str>,
}

impl Server {
    pub(crate) fn start(tool: &Path, settings: ServerSettings) -> Result<Server, String> {
        let mut serve = Command::new(tool);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--allow-plain"]);
        serve.args(["--console", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]);
        // The server ends even if the judge is killed.
        serve.args(["-d", "1h"]);
        let token = (settings.access == Access::Token).then_some(TOKEN);
        serve.args(token.iter().flat_map(|token| ["--console-token", token]));
        serve.args(settings.flags);
        let certificate = settings.certificate.map(file_with).transpose();
        let certificate = certificate.map_err(|error| format!("no file for a certificate: {error}"))?;
        match &certificate {
            Some(file) => serve.arg("--cert").arg(file.path()),
            None => serve.args(["--identity", "new"]),
        };
        let running = Running::start(serve)?;
        let until = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        while !said.last().is_some_and(|line: &String| line.contains(READY)) {
            said.push(running.line(until).ok_or_else(|| format!("the server does not serve: {}", said.join("\n")))?);
        }
        let line = |kind: &str| {
            let line = said.iter().find_map(|line| line.trim_start().strip_prefix(kind));
            line.ok_or_else(|| format!("the server printed no line `{kind}`: {}", said.join("\n")))
        };
        let address = |kind: &str, bare: &str| {
            let address = bare.trim().trim_end_matches('/').parse();
            address.map_err(|error| format!("no address in the line `{kind}`: {bare}: {error}"))
        };
        let url = line("native")?.trim().to_owned();
        let game = address("in clear", &line("in clear")?.replace("skip+plain://", ""))?;
        let console = address("console", &line("console")?.replace("telnet ", "").trim().replace(' ', ":"))?;
        let dashboard = address("dashboard", &line("dashboard")?.replace("http://", ""))?;
        let doors = Doors { console, dashboard, token };
        Ok(Server { running, _certificate: certificate, url, game, doors })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    pub(crate) fn address(&self, door: Door) -> SocketAddr {
        match door {
            Door::Game => self.game,
            Door::Console => self.doors.console,
            Door::Dashboard => self.doors.dashboard,
        }
    }
}

fn file_with(text: &str) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// The token of the console and the dashboard.
const TOKEN: &str = "6f1c53a0b9e84d7781c2d35e90ab47f6";
/// The last line of a start.
const READY: &str = "stop with Ctrl-C";
const PATIENCE: Duration = Duration::from_secs(20);
