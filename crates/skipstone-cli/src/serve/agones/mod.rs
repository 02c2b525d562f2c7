//! `serve --agones`: tells Agones' SDK server, a process beside the game's, what this server does. A thread of its own
//! makes the calls, so that an SDK server that is away or slow never delays the game's loop.
//!
//! ```text
//! game loop ──ticks, first player, end──> Agones ──> thread: Lifecycle (which call is due) ──> SdkServer (HTTP)
//! ```

mod lifecycle;
mod sdk_server;

use super::audience::{ServerEnd, Watcher};
use super::visit::Visit;
use lifecycle::{Allocation, Lifecycle, LoopState};
use parking_lot::Mutex;
use sdk_server::SdkServer;
use skipstone::PeerId;
use skipstone_lab::report::output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Flags of `serve` about Agones.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AgonesFlags {
    /// Tell Agones' SDK server in this pod that the server is ready, healthy as long as its loop runs, allocated, and
    /// shut down at its end or after a drain
    #[arg(long)]
    agones: bool,
    /// With --agones: the port of the SDK server's REST interface
    #[arg(long, value_name = "PORT", env = "AGONES_SDK_HTTP_PORT", default_value_t = 9358)]
    agones_port: u16,
    /// With --agones: when the server declares itself allocated; `never` leaves it to an allocator
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Allocation::FirstPlayer, requires = "agones")]
    agones_allocate: Allocation,
}

impl AgonesFlags {
    /// Starts the thread, if requested.
    pub(super) fn begin(&self) -> Result<Option<Agones>, String> {
        if !self.agones {
            return Ok(None);
        }
        let begun = Agones::begin(SdkServer::on_loopback(self.agones_port), self.agones_allocate);
        begun.map(Some).map_err(|error| format!("--agones needs a thread: {error}"))
    }
}

/// The loop's end of the thread that talks to the SDK server.
pub(super) struct Agones {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    ticks: AtomicU64,
    has_had_player: AtomicBool,
    has_ended: AtomicBool,
    figures: Mutex<Figures>,
}

/// For `stats`.
#[derive(Default)]
struct Figures {
    phase: &'static str,
    pings: u64,
    failures: u64,
}

impl Agones {
    fn begin(server: SdkServer, allocation: Allocation) -> std::io::Result<Agones> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let lifecycle = Lifecycle::new(allocation, Instant::now());
        let talk = move || talk(&theirs, &server, lifecycle);
        let thread = thread::Builder::new().name("agones".into()).spawn(talk)?;
        Ok(Agones { shared, thread })
    }

    fn tell(&self, what: &AtomicBool) {
        if !what.swap(true, Ordering::Relaxed) {
            self.thread.thread().unpark();
        }
    }
}

impl Watcher for Agones {
    fn joined(&self, _peer: PeerId, _visit: &Visit, _carrier: &dyn Fn() -> &'static str) {
        self.tell(&self.shared.has_had_player);
    }

    fn tick(&self, _lines: u64, _took: Duration) {
        if self.shared.ticks.fetch_add(1, Ordering::Relaxed) == 0 {
            self.thread.thread().unpark();
        }
    }

    fn lines(&self) -> Vec<String> {
        let figures = self.shared.figures.lock();
        let Figures { phase, pings, failures } = &*figures;
        vec![format!("agones: {phase}; {pings} health pings, {failures} failed calls")]
    }

    /// Declares the server's end, unless its successor goes on in the same pod.
    fn finish(self: Box<Self>, end: ServerEnd) {
        if end == ServerEnd::Inherited {
            return;
        }
        self.tell(&self.shared.has_ended);
        // It ends after a bounded number of calls; it panics only by a defect of ours, which has then been printed.
        let _ = self.thread.join();
    }
}

fn talk(shared: &Shared, server: &SdkServer, mut lifecycle: Lifecycle) {
    let mut is_answering = true;
    loop {
        let seen = LoopState {
            ticks: shared.ticks.load(Ordering::Relaxed),
            has_had_player: shared.has_had_player.load(Ordering::Relaxed),
            has_ended: shared.has_ended.load(Ordering::Relaxed),
        };
        if let Some(call) = lifecycle.due(Instant::now(), seen) {
            let answer = server.call(call);
            lifecycle.handle_answer(Instant::now(), call, answer.as_ref().ok().map(String::as_str));
            match (&answer, is_answering) {
                (Err(why), true) => output::complain(format_args!(
                    "skipstone serve: Agones' SDK server at {} {why}; it is tried again each second, players stay, and \
                     Agones may replace this server meanwhile",
                    server.url()
                )),
                (Ok(_), false) => {
                    output::complain(format_args!("skipstone serve: Agones' SDK server at {} answers", server.url()));
                }
                _ => {}
            }
            is_answering = answer.is_ok();
        } else if lifecycle.is_over() {
            return;
        } else {
            thread::park_timeout(lifecycle.wait(Instant::now()));
        }
        let mut figures = shared.figures.lock();
        *figures = Figures { phase: lifecycle.phase_name(), pings: lifecycle.pings(), failures: lifecycle.failures() };
    }
}
