//! What all tests of the tool share: processes that end with their test even if it panics, a server and its addresses,
//! results that were read and checked.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod benching;
pub(crate) mod comparison;
pub(crate) mod console;
pub(crate) mod guest;
pub(crate) mod relay;
pub(crate) mod result;
pub(crate) mod sdk_server;
pub(crate) mod terminal;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The tool.
pub(crate) const SKIPSTONE: &str = env!("CARGO_BIN_EXE_skipstone");
/// Whatever takes longer hangs; a busy machine takes a fraction of it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// A process and what it has printed so far. It is killed when its test ends before it does.
pub(crate) struct Running {
    child: Child,
    out: Arc<Mutex<String>>,
    err: Arc<Mutex<String>>,
    readers: Vec<std::thread::JoinHandle<()>>,
}

/// A process that ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Running {
    /// Starts the tool with these arguments.
    pub(crate) fn tool(arguments: &[&str]) -> Running {
        let mut command = Command::new(SKIPSTONE);
        command.args(arguments);
        Running::start(command)
    }

    /// Starts any program; its output is collected.
    pub(crate) fn start(command: Command) -> Running {
        Running::start_with_input(command, Stdio::null())
    }

    /// The same with a standard input; a piped one stays open and silent.
    pub(crate) fn start_with_input(mut command: Command, input: Stdio) -> Running {
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_remove("SKIPSTONE_CONSOLE_TOKEN");
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (out, from_out) = collect(child.stdout.take().expect("it is piped"));
        let (err, from_err) = collect(child.stderr.take().expect("it is piped"));
        Running { child, out, err, readers: vec![from_out, from_err] }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its output so far.
    pub(crate) fn out(&self) -> String {
        self.out.lock().expect("no reader panics").clone()
    }

    /// Writes a line to its standard input, which is piped.
    pub(crate) fn order(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("its input is piped");
        input.write_all(format!("{line}\n").as_bytes()).expect("it reads");
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_none()
    }

    /// Waits until it has printed this.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        while !self.out().contains(text) {
            assert!(Instant::now() < end && self.is_alive(), "no '{text}' in: {}\n{:?}", self.out(), self.err);
            std::thread::sleep(Duration::from_millis(10));
        }
        self.out()
    }

    /// Waits until it has complained of this.
    pub(crate) fn until_complaint(&mut self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.err.lock().expect("no reader panics").contains(text) {
            assert!(Instant::now() < end && self.is_alive(), "no '{text}' in {:?}: {}", self.err, self.out());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal, by name.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Waits for its end.
    pub(crate) fn wait(self) -> Ended {
        self.wait_for(PATIENCE)
    }

    /// Waits for its end, which comes within this time.
    pub(crate) fn wait_for(mut self, patience: Duration) -> Ended {
        let end = Instant::now() + patience;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                break status;
            }
            assert!(Instant::now() < end, "it does not end; it has printed: {}\n{:?}", self.out(), self.err);
            std::thread::sleep(Duration::from_millis(5));
        };
        self.readers.drain(..).for_each(|reader| reader.join().expect("no reader panics"));
        let text = |text: &Mutex<String>| text.lock().expect("no reader panics").clone();
        Ended { status, out: text(&self.out), err: text(&self.err) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_alive() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Ended {
    /// The exit code, which is one of these.
    #[track_caller]
    pub(crate) fn expect(&self, codes: &[i32]) -> &Ended {
        let code = self.status.code();
        assert!(
            code.is_some_and(|code| codes.contains(&code)),
            "{}, not one of {codes:?}:\n{}\n{}",
            self.status,
            self.out,
            self.err
        );
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Both outputs.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

/// Runs the tool to its end.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    Running::tool(arguments).wait()
}

/// A server of the tool on ports that the system chose.
pub(crate) struct Served {
    pub(crate) running: Running,
    /// skip://…, fingerprint included
    pub(crate) url: String,
    /// ws://…; empty if it serves none
    pub(crate) ws: String,
    pub(crate) address: SocketAddr,
    pub(crate) console: SocketAddr,
    /// If it was asked for one.
    pub(crate) dashboard: Option<SocketAddr>,
}

impl Served {
    pub(crate) fn start(extra: &[&str]) -> Served {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--console", "127.0.0.1:0"];
        if !extra.contains(&"--identity") && !extra.contains(&"--cert") {
            arguments.extend(["--identity", "new"]);
        }
        arguments.extend(extra);
        let mut running = Running::tool(&arguments);
        let text = running.until("stop with Ctrl-C");
        let after = |name: &str| text.split(name).nth(1).and_then(|rest| rest.split_whitespace().next());
        let url = after("native").expect("it says where").to_owned();
        let console = text.split("telnet ").nth(1).and_then(|rest| rest.lines().next()).expect("it says where");
        let address = url
            .strip_prefix("skip://")
            .and_then(|url| url.split('#').next())
            .expect("it is native")
            .parse()
            .expect("an address");
        Served {
            ws: after("browsers").unwrap_or_default().to_owned(),
            console: console.trim().replace(' ', ":").parse().expect("an address"),
            dashboard: text
                .split("http://")
                .nth(1)
                .and_then(|rest| rest.split_whitespace().next()?.trim_end_matches('/').parse().ok()),
            url,
            address,
            running,
        }
    }

    /// Tells it to end, and waits.
    pub(crate) fn stop(self) -> Ended {
        self.running.signal("TERM");
        let ended = self.running.wait();
        ended.expect(&[0]);
        ended
    }

    /// Resident memory in bytes; `None` where that cannot be known.
    pub(crate) fn rss_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.running.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse().ok().map(|kilobytes: u64| kilobytes * 1024)
    }
}

/// A file name that no other test has.
pub(crate) fn fresh_file(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{count}-{name}", std::process::id()))
}

/// Sends a signal to one process.
pub(crate) fn signal(id: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &id.to_string()]).status().expect("kill runs");
    assert!(status.success(), "kill -{name} {id}");
}

fn collect(mut from: impl Read + Send + 'static) -> (Arc<Mutex<String>>, std::thread::JoinHandle<()>) {
    let text = Arc::new(Mutex::new(String::new()));
    let theirs = text.clone();
    let reader = std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            theirs.lock().expect("the lock is not poisoned").push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    });
    (text, reader)
}
