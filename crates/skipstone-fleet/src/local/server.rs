//! A server of one's own, and what a test does to it.

use super::config::{self, LocalSettings};
use super::error::LocalError;
use super::guard::Guarded;
use super::{ports, program};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running server. Dropping it ends it and removes its folder.
#[derive(Debug)]
pub struct LocalNats {
    process: Option<Guarded>,
    program: PathBuf,
    folder: TempDir,
    settings: LocalSettings,
    port: u16,
}

impl LocalNats {
    /// Starts a server at any free port of loopback, and waits until it is ready.
    ///
    /// # Errors
    /// It is not installed, or did not become ready.
    pub fn start(settings: LocalSettings) -> Result<LocalNats, LocalError> {
        let folder = tempfile::Builder::new().prefix("skipstone-nats-").tempdir();
        let folder = folder.map_err(LocalError::io("create its folder"))?;
        let program = program::find()?;
        let mut server = LocalNats { process: None, program, folder, settings, port: 0 };
        server.launch(None)?;
        Ok(server)
    }

    /// Starts servers that form a cluster. Its JetStream is ready some seconds later, when it has elected a leader.
    ///
    /// # Errors
    /// As [`LocalNats::start`], or another program took a port in between.
    pub fn cluster(servers: usize) -> Result<Vec<LocalNats>, LocalError> {
        let ports = ports::free(servers).map_err(LocalError::io("find free ports"))?;
        config::cluster(&ports).map(LocalNats::start).collect()
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills it. Memory stores are lost.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again at its port, after [`LocalNats::kill`] or in place of the running one.
    ///
    /// # Errors
    /// It did not become ready.
    pub fn restart(&mut self) -> Result<(), LocalError> {
        self.process = None;
        self.launch(Some(self.port))
    }

    /// Changes the further lines of its configuration, from its next start on.
    pub fn reconfigure(&mut self, extra: &str) {
        self.settings.extra = extra.into();
    }

    fn launch(&mut self, port: Option<u16>) -> Result<(), LocalError> {
        let (config, ports) = (self.folder.path().join("config"), self.folder.path().join("ports"));
        let _ = std::fs::remove_dir_all(&ports);
        std::fs::create_dir(&ports).map_err(LocalError::io("create its folder"))?;
        let text = self.settings.config(self.folder.path(), port);
        std::fs::write(&config, text).map_err(LocalError::io("write its configuration"))?;
        let config = config.display().to_string();
        let errors = File::create(self.folder.path().join("errors")).map_err(LocalError::io("write its errors"))?;
        let process = Guarded::start(&self.program, &["-c", &config], errors).map_err(LocalError::io("start"))?;
        self.process = Some(process);
        let deadline = Instant::now() + READY_MAX;
        while Instant::now() < deadline && self.process.as_ref().is_some_and(Guarded::is_running) {
            if let Some(port) = ports::client_port(&ports) {
                self.port = port;
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(LocalError::NotReady(self.complaint()))
    }

    /// The last line that the server wrote.
    fn complaint(&self) -> String {
        let texts = ["log", "errors"].map(|name| std::fs::read_to_string(self.folder.path().join(name)));
        let mut lines = texts.iter().flatten().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty());
        lines.next_back().unwrap_or("it wrote nothing").to_owned()
    }
}

#[cfg(unix)]
impl LocalNats {
    /// Stops its execution: the system accepts connections for it, and it is silent.
    ///
    /// # Errors
    /// It has ended.
    pub fn freeze(&self) -> Result<(), LocalError> {
        self.signal(nix::sys::signal::Signal::SIGSTOP)?;
        // The signal reaches one thread after the other.
        let deadline = Instant::now() + FREEZE_MAX;
        while Instant::now() < deadline && self.process.as_ref().is_some_and(Guarded::is_running) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Continues after [`LocalNats::freeze`].
    ///
    /// # Errors
    /// It has ended.
    pub fn thaw(&self) -> Result<(), LocalError> {
        self.signal(nix::sys::signal::Signal::SIGCONT)
    }

    fn signal(&self, signal: nix::sys::signal::Signal) -> Result<(), LocalError> {
        let process = self.process.as_ref().ok_or_else(|| LocalError::NotReady("it was killed".into()))?;
        process.signal(signal).map_err(LocalError::io("be signalled"))
    }
}

impl LocalNats {
    /// Its folder: configuration, log, and files of JetStream.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its process.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Guarded::pid)
    }
}

/// How long a signal takes to stop all threads, at most.
#[cfg(unix)]
const FREEZE_MAX: Duration = Duration::from_millis(200);
const READY_MAX: Duration = Duration::from_secs(10);
