//! A headless Chromium with its own profile, which shows one page and ends with the run.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A running browser. Dropping it ends it, and removes its profile.
#[derive(Debug)]
pub(super) struct Chromium {
    process: Child,
    profile: PathBuf,
    is_told: bool,
}

const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
/// A page in the background must run at full speed, and only the page may use the network.
const FLAGS: [&str; 11] = [
    "--headless=new",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
];

impl Chromium {
    pub(super) fn start(url: &str) -> Result<Self, String> {
        let program = find()?;
        let profile = fresh_folder()?;
        let mut command = Command::new(&program);
        command.args(FLAGS).arg(format!("--user-data-dir={}", profile.display()));
        if is_root() {
            // Its sandbox refuses to run as root.
            command.arg("--no-sandbox");
        }
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(process) => Ok(Chromium { process, profile, is_told: false }),
            Err(error) => {
                let _ = std::fs::remove_dir_all(&profile);
                Err(format!("{} cannot be started: {error}", program.display()))
            }
        }
    }

    /// How it ended, if it did.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.process.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// How it ended; returned only once.
    pub(super) fn ended_news(&mut self) -> Option<String> {
        let news = self.ended().filter(|_| !self.is_told)?;
        self.is_told = true;
        Some(news)
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        // Its helpers notice a moment later, and may still write. A browser that a crash handler holds cannot be waited
        // for.
        for _ in 0..40 {
            let is_over = !matches!(self.process.try_wait(), Ok(None));
            let _ = std::fs::remove_dir_all(&self.profile);
            if is_over && !self.profile.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

/// The browser that CHROMIUM names, or the first on the path.
fn find() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("CHROMIUM").filter(|name| !name.is_empty()) {
        return Ok(named.into());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut all = NAMES.iter().flat_map(|name| std::env::split_paths(&folders).map(move |folder| folder.join(name)));
    all.find(|path| path.is_file()).ok_or_else(|| {
        "clients in browsers need Chromium, which is not on this machine: install it (Debian: apt install chromium), \
         or name its program by the variable CHROMIUM; or leave browser= and wt= out of --mix"
            .into()
    })
}

/// A unique folder.
fn fresh_folder() -> Result<PathBuf, String> {
    use std::hash::{BuildHasher, Hasher};
    let word = std::collections::hash_map::RandomState::new().build_hasher().finish();
    let folder = std::env::temp_dir().join(format!("skipstone-page-{}-{word:016x}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| format!("no folder for a browser's profile: {error}"))?;
    Ok(folder)
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
