//! The observers that watch the server for hours: a console session and, where there is Chromium, the dashboard's page.

use std::fmt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::server::Server;
use crate::machine::process;

pub(super) struct Watchers {
    page: Option<(Child, std::path::PathBuf)>,
    /// Bytes that the console has printed.
    console: Arc<AtomicU64>,
}

impl Watchers {
    pub(super) fn start(server: &Server) -> Watchers {
        let console = Arc::new(AtomicU64::new(0));
        let (port, heard) = (server.console, Arc::clone(&console));
        // It ends with this process: a session that the server's restart ends is started again.
        std::thread::spawn(move || {
            loop {
                let _ = ask(port, &heard);
                std::thread::sleep(Duration::from_millis(300));
            }
        });
        Watchers { page: page(server.dashboard), console }
    }
}

impl Drop for Watchers {
    fn drop(&mut self) {
        if let Some((page, profile)) = &mut self.page {
            let _ = page.kill();
            let _ = page.wait();
            let _ = std::fs::remove_dir_all(profile);
        }
    }
}

impl fmt::Display for Watchers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dashboard = if self.page.is_some() { "a dashboard is open" } else { "no dashboard is open" };
        write!(f, "the console said {} bytes, {dashboard}", self.console.load(Ordering::Relaxed))
    }
}

/// Asks for statistics until the session ends.
fn ask(port: u16, heard: &AtomicU64) -> std::io::Result<()> {
    let mut session = TcpStream::connect(("127.0.0.1", port))?;
    session.set_read_timeout(Some(EVERY))?;
    let mut answer = [0; 1 << 14];
    loop {
        session.write_all(b"stats\n")?;
        match session.read(&mut answer) {
            Ok(0) => return Ok(()),
            Ok(bytes) => drop(heard.fetch_add(bytes as u64, Ordering::Relaxed)),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        std::thread::sleep(EVERY);
    }
}

fn page(port: u16) -> Option<(Child, std::path::PathBuf)> {
    let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(process::find)?;
    let profile = std::env::temp_dir().join(format!("skipstone-soak-page-{}", std::process::id()));
    let mut chromium = Command::new(browser);
    chromium.args(["--headless=new", "--no-sandbox", "--disable-gpu"]);
    chromium.arg(format!("--user-data-dir={}", profile.display())).arg(format!("http://127.0.0.1:{port}/"));
    chromium.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    chromium.spawn().ok().map(|page| (page, profile))
}

const EVERY: Duration = Duration::from_secs(5);
