//! State that the sampler writes and requests read. Locks are held briefly, never while waiting.

use crate::console::Handler;
use crate::dashboard::access::Access;
use crate::dashboard::client_row::ClientSample;
use crate::dashboard::feed::Meters;
use crate::dashboard::frame::Frame;
use crate::dashboard::history::History;
use crate::dashboard::log_ring::LogRing;
use crate::dashboard::stream::Streams;
use crate::dashboard::stress::{AgentsLead, StressDesk};
use parking_lot::Mutex;
use skipstone::StatisticsReader;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state of one dashboard.
pub(super) struct DashboardState {
    pub(super) access: Access,
    pub(super) server: ServerFacts,
    pub(super) statistics: StatisticsReader,
    pub(super) meters: Arc<Meters>,
    pub(super) commands: Arc<dyn Handler>,
    pub(super) streams: Streams,
    pub(super) clients: Mutex<Vec<ClientSample>>,
    pub(super) frame: Mutex<Frame>,
    pub(super) history: Mutex<History>,
    pub(super) log: Mutex<LogRing>,
    pub(super) stress: Mutex<StressDesk>,
    refusals: AtomicU64,
}

/// Facts that are constant while the server runs.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct ServerFacts {
    pub(crate) version: &'static str,
    /// The URL of native clients, fingerprint included.
    pub(crate) url: String,
    /// Where the game listens.
    pub(crate) listen: String,
    pub(crate) workload: &'static str,
    /// Ticks a second; 0 is unthrottled.
    pub(crate) ticks_per_second: u32,
    pub(crate) websocket: bool,
    pub(crate) shards: usize,
    /// Cores of the machine that the server may use.
    pub(crate) cores: usize,
    /// The limit of a client's queue, above which it is disconnected.
    pub(crate) queue_bytes_max: u32,
    /// NATS, at which agents for stress runs wait, without its password; `None` if the operator named none.
    pub(crate) stress_fleet: Option<String>,
    /// The node of a fleet that it is.
    pub(crate) node: Option<String>,
}

impl DashboardState {
    pub(super) fn new(
        access: Access,
        server: ServerFacts,
        statistics: StatisticsReader,
        meters: Arc<Meters>,
        commands: Arc<dyn Handler>,
        agents: Option<AgentsLead>,
    ) -> Self {
        let stress = StressDesk::new(server.url.clone(), agents);
        DashboardState {
            access,
            server,
            statistics,
            meters,
            commands,
            streams: Streams::default(),
            clients: Mutex::default(),
            frame: Mutex::default(),
            history: Mutex::default(),
            log: Mutex::default(),
            stress: Mutex::new(stress),
            refusals: AtomicU64::new(0),
        }
    }

    pub(super) fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests that were refused.
    pub(super) fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }
}
