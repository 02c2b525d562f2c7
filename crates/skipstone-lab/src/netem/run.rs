//! A link that runs in its own thread, and the terminal.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::Poll;
use skipstone::netsim::LinkConfig;

use super::capture::Capture;
use super::console::Console;
use super::engine::{Engine, LinkCommand, Ports, Shared};
use super::live_path::LivePath;
use super::path_settings::{PathConfig, PathSettings};
use super::relay::{Relay, Relayed};
use super::settings::Framing;
use super::snapshot::LinkSnapshot;
use super::taps::Taps;
use crate::report::{Exit, Sink, output};
use crate::signals::Signals;

/// A running link. Dropping it ends it, and removes everything that it created.
pub(crate) struct Running {
    shared: Arc<Shared>,
    orders: Sender<LinkCommand>,
    thread: Option<JoinHandle<Result<LinkSnapshot, String>>>,
    framing: Framing,
    local: Option<SocketAddr>,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "links of the kernel are Linux' own"))]
    namespaces: Vec<String>,
}

/// A path of the model network, of datagrams of UDP in both directions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkSpec<'a> {
    pub(crate) there: &'a LinkConfig,
    pub(crate) back: &'a LinkConfig,
    pub(crate) seed: u64,
    /// Both ends are captured into files that begin so.
    pub(crate) pcap: Option<&'a str>,
}

impl LinkSpec<'_> {
    fn config(&self) -> PathConfig {
        PathConfig { up: self.there.clone(), down: self.back.clone() }
    }

    fn capture(&self) -> Result<Option<Capture>, String> {
        self.pcap.map(Capture::begin).transpose()
    }

    /// The link's configuration for whole IP packets.
    #[cfg(target_os = "linux")]
    fn of_ip(&self) -> PathConfig {
        let of = |config: &LinkConfig| LinkConfig {
            header_bytes: 0,
            datagram_bytes_max: config.datagram_bytes_max.map(|bytes| bytes + Framing::Udp.header_bytes()),
            ..config.clone()
        };
        PathConfig { up: of(self.there), down: of(self.back) }
    }
}

/// Where the counters go.
pub(super) struct Shown {
    pub(super) sink: Sink,
    pub(super) is_quiet: bool,
}

const LOOK_EVERY: Duration = Duration::from_millis(50);
const LINE_EVERY: Duration = Duration::from_secs(1);

impl Running {
    /// A relay that listens.
    pub(crate) fn relay(
        relayed: Relayed,
        listen: &str,
        to: &str,
        path: &PathSettings,
        taps: Taps,
    ) -> Result<Running, String> {
        Running::relay_by(relayed, [listen, to], &path.config(Framing::Udp)?, path.seed, taps)
    }

    /// A relay of UDP on a port that is free.
    pub(crate) fn relay_of(to: &str, spec: &LinkSpec<'_>) -> Result<Running, String> {
        let taps = Taps { capture: spec.capture()?, recorder: None };
        Running::relay_by(Relayed::Udp, ["127.0.0.1:0", to], &spec.config(), spec.seed, taps)
    }

    fn relay_by(
        relayed: Relayed,
        [listen, to]: [&str; 2],
        config: &PathConfig,
        seed: u64,
        taps: Taps,
    ) -> Result<Running, String> {
        let poll = poll()?;
        let relay = Relay::open(relayed, [listen, to], (config, seed), &poll, taps)?;
        let local = relay.local();
        let mut running = Running::begin(poll, relay, config, seed, Framing::Udp)?;
        running.local = Some(local);
        Ok(running)
    }

    /// A link between two namespaces. `say` is called for leftovers of other runs.
    #[cfg(target_os = "linux")]
    pub(crate) fn link(
        path: &PathSettings,
        capture: Option<Capture>,
        say: impl FnMut(String),
    ) -> Result<Running, String> {
        let mtu = path.up.mtu().max(path.down.mtu());
        Running::link_by(&path.config(Framing::Ip)?, path.seed, mtu, capture, say)
    }

    /// Like `link`, for a path of the model network.
    #[cfg(target_os = "linux")]
    pub(crate) fn link_of(spec: &LinkSpec<'_>, say: impl FnMut(String)) -> Result<Running, String> {
        let config = spec.of_ip();
        let largest = [&config.up, &config.down].iter().filter_map(|config| config.datagram_bytes_max).max();
        let mtu = largest.map_or(super::settings::MTU, |bytes| bytes.try_into().unwrap_or(u16::MAX));
        Running::link_by(&config, spec.seed, mtu, spec.capture()?, say)
    }

    #[cfg(target_os = "linux")]
    fn link_by(
        config: &PathConfig,
        seed: u64,
        mtu: u16,
        capture: Option<Capture>,
        say: impl FnMut(String),
    ) -> Result<Running, String> {
        let poll = poll()?;
        let link = super::link::TunLink::make(mtu, &poll, capture, say)?;
        let namespaces = link.namespaces().map(str::to_owned).to_vec();
        let mut running = Running::begin(poll, link, config, seed, Framing::Ip)?;
        running.namespaces = namespaces;
        Ok(running)
    }

    fn begin<P: Ports + Send + 'static>(
        poll: Poll,
        ports: P,
        config: &PathConfig,
        seed: u64,
        framing: Framing,
    ) -> Result<Running, String> {
        let (orders, obeyed): (Sender<LinkCommand>, Receiver<LinkCommand>) = channel();
        let shared = Arc::<Shared>::default();
        let live = LivePath::new(config, seed, Instant::now());
        let engine = Engine { poll, ports, path: live, orders: obeyed, shared: Arc::clone(&shared) };
        let thread = std::thread::Builder::new().name("netem".into()).spawn(move || engine.run());
        let thread = thread.map_err(|error| format!("no thread for the link: {error}"))?;
        Ok(Running { shared, orders, thread: Some(thread), framing, local: None, namespaces: Vec::new() })
    }

    /// The relay's address.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.local
    }

    /// The client's namespace and the server's.
    #[cfg(target_os = "linux")]
    pub(crate) fn namespaces(&self) -> [&str; 2] {
        [&self.namespaces[0], &self.namespaces[1]]
    }

    /// The counters of half a second ago or less.
    pub(crate) fn snapshot(&self) -> LinkSnapshot {
        self.shared.snapshot.lock().map_or_else(|_| LinkSnapshot::default(), |snapshot| snapshot.clone())
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it, and gives its last counters.
    pub(crate) fn stop(mut self) -> Result<LinkSnapshot, String> {
        self.end().unwrap_or_else(|| Err("the link has been stopped before".into()))
    }

    fn end(&mut self) -> Option<Result<LinkSnapshot, String>> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take()?.join();
        Some(ended.unwrap_or_else(|_| Err("the link's thread panicked".into())))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

fn poll() -> Result<Poll, String> {
    Poll::new().map_err(|error| format!("cannot wait for the sockets: {error}"))
}

/// Shows the counters and forwards the console's commands until it is stopped.
pub(super) fn attend(running: Running, path: PathSettings, signals: &Signals, shown: &Shown) -> Result<Exit, String> {
    output::print(path.lines().map(|line| line + "\n").concat());
    let (shared, orders) = (Arc::clone(&running.shared), running.orders.clone());
    Console { path, framing: running.framing, orders, shared }.listen();
    watch(&running, signals.flag(), !shown.is_quiet && std::io::stderr().is_terminal());
    // An error that ends a running link is not a mistake in the flags.
    let last = match running.stop() {
        Ok(last) => last,
        Err(sentence) => return Ok(Exit::Invalid.told("netem", sentence)),
    };
    Ok(Exit::Pass.once_kept("netem", shown.sink.show(&last, &last.table(), &[])))
}

fn watch(running: &Running, stop: &AtomicBool, is_shown: bool) {
    let mut due = Instant::now() + LINE_EVERY;
    while !stop.load(Ordering::Relaxed) && !running.has_ended() {
        std::thread::sleep(LOOK_EVERY);
        if is_shown && Instant::now() >= due {
            due += LINE_EVERY;
            eprint!("\r\x1b[K{}", running.snapshot().line());
        }
    }
    if is_shown {
        eprint!("\r\x1b[K");
    }
}
