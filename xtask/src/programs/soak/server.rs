//! The server of a soak: `skipstone serve` with a clock that can be set, by libfaketime where it is installed.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

pub(super) struct Server {
    child: Child,
    log: PathBuf,
    /// The file that sets the time, if libfaketime reads it.
    clock: Option<PathBuf>,
    pub(super) console: u16,
    pub(super) dashboard: u16,
}

impl Server {
    pub(super) fn start(tool: &Path, folder: &Path, tree: &Tree) -> Result<Server, String> {
        let log = folder.join("serve.log");
        let (console, dashboard) = (free_port()?, free_port()?);
        let mut serve = Command::new(tool);
        serve
            .args(["serve", "--listen", "127.0.0.1:0", "--allow-plain", "--identity"])
            .arg(folder.join("identity.pem"));
        serve.args(["--console", &format!("127.0.0.1:{console}"), "--dashboard", &format!("127.0.0.1:{dashboard}")]);
        serve.arg("--db").arg(format!("sqlite:{}", folder.join("soak.db").display()));
        let library = faketime(tree);
        let clock = library.as_ref().map(|_| folder.join("clock"));
        match library.zip(clock.as_ref()) {
            Some((library, clock)) => {
                let settings = [("DONT_FAKE_MONOTONIC", "1"), ("FAKETIME_DONT_RESET", "1"), ("FAKETIME_NO_CACHE", "1")];
                serve.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", clock).envs(settings);
            }
            None => println!("no libfaketime: the server's clock does not jump"),
        }
        let output = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let errors = output.try_clone().map_err(|error| error.to_string())?;
        let child = serve.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        let child = child.map_err(|error| format!("{} does not start: {error}", process::describe(&serve)))?;
        let server = Server { child, log, clock, console, dashboard };
        server.set_clock("+0")?;
        server.wait_for(1)?;
        Ok(server)
    }

    /// The same process after a restart, which replaces its program.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has its clock jump. False if it cannot.
    pub(super) fn set_clock(&self, offset: &str) -> Result<bool, String> {
        let Some(clock) = &self.clock else { return Ok(false) };
        fs::write(clock, format!("{offset}\n")).map_err(|error| format!("{}: {error}", clock.display()))?;
        Ok(true)
    }

    /// Restarts it, and waits until it serves again.
    pub(super) fn restart(&self) -> Result<(), String> {
        let starts = self.said().matches(READY).count();
        let status = Command::new("kill").args(["-USR2", &self.pid().to_string()]).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err("the server could not be told to restart".into());
        }
        self.wait_for(starts + 1)
    }

    /// The newest URL of a kind, by the word that its line begins with.
    pub(super) fn url(&self, kind: &str) -> Result<String, String> {
        let said = self.said();
        let line = said.lines().rev().find_map(|line| line.trim_start().strip_prefix(kind));
        let url = line.and_then(|line| line.split_whitespace().find(|word| word.contains("://")));
        url.map(str::to_owned).ok_or_else(|| format!("the server printed no URL for `{kind}`"))
    }

    fn wait_for(&self, starts: usize) -> Result<(), String> {
        let end = Instant::now() + PATIENCE;
        while self.said().matches(READY).count() < starts {
            if Instant::now() > end {
                return Err(format!("the server does not serve:\n{}", self.said()));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16, String> {
    let found = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    found.map(|address| address.port()).map_err(|error| format!("no port is free: {error}"))
}

/// The library that gives a program another time, if it is there or can be installed.
fn faketime(tree: &Tree) -> Option<PathBuf> {
    if system::program("faketime", "faketime", "clocks do not jump", tree).is_some() {
        return None;
    }
    let folders = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    folders.map(|folder| folder.join("faketime/libfaketime.so.1")).find(|library| library.exists())
}

/// The last line of a start.
const READY: &str = "stop with Ctrl-C";
const PATIENCE: Duration = Duration::from_secs(30);
