//! Flags of `serve` about the dashboard, and how the server feeds it.

use super::admin::Admin;
use super::audience::Watcher;
use super::visit::Visit;
use crate::dashboard::{AgentsLead, Dashboard, DashboardConfig, Feed, GuestKind, ServerFacts, feed};
use crate::door::Secret;
#[cfg(feature = "fleet")]
use crate::move_figures::MoveFigures;
#[cfg(feature = "fleet")]
use skipstone::Target;
use skipstone::{PeerId, Server};
#[cfg(feature = "fleet")]
use skipstone_fleet::bus::NatsUrl;
use skipstone_lab::report::output;
use skipstone_lab::workload::{Guest, StressTurn, Workload};
use std::net::{SocketAddr, TcpListener};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

/// The page's data about the game, and the token that it requires.
pub(crate) struct GameFacts {
    pub(super) workload: Workload,
    /// Ticks a second; 0 is unthrottled.
    pub(super) ticks_per_second: u32,
    pub(super) websocket: bool,
    pub(super) queue_bytes_max: u32,
    /// The node of a fleet that it is.
    pub(super) node: Option<String>,
    /// The flags of its login at NATS.
    #[cfg(feature = "fleet")]
    pub(super) login: Vec<String>,
    pub(super) secret: Option<Secret>,
}

/// Flags of `serve` about the dashboard.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct DashboardFlags {
    /// Serve the dashboard, a page of live charts, and /metrics for Prometheus; any address other than loopback needs
    /// --console-token [default address: 127.0.0.1:7779]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7779")]
    dashboard: Option<SocketAddr>,
    /// Open the dashboard in the browser
    #[arg(long)]
    open: bool,
    /// A host name under which browsers find the dashboard, such as a proxy's; may be given several times
    #[arg(long, value_name = "NAME", requires = "dashboard")]
    dashboard_host: Vec<String>,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    stress_fleet: StressFleetFlags,
}

/// Flags about agents for the page's stress runs.
#[cfg(feature = "fleet")]
#[derive(Debug, Clone, Default, clap::Args)]
struct StressFleetFlags {
    /// NATS, at which `skipstone agent --fleet URL` waits on other machines: the page then offers stress runs by agents
    #[arg(long, value_name = "URL", requires = "dashboard")]
    stress_fleet: Option<String>,
    /// This server's URL as agents reach it, fingerprint included [default: the one that `serve` prints]
    #[arg(long, value_name = "URL", requires = "stress_fleet")]
    stress_url: Option<String>,
}

#[cfg(feature = "fleet")]
impl StressFleetFlags {
    /// Where agents wait, and that without a password; the login is in these flags. The error is one sentence.
    fn lead(&self, login: &[String]) -> Result<Option<(AgentsLead, String)>, String> {
        let Some(fleet) = &self.stress_fleet else { return Ok(None) };
        let parsed: NatsUrl = fleet.parse().map_err(|error| format!("--stress-fleet: {error}"))?;
        if let Some(url) = &self.stress_url {
            url.parse::<Target>().map_err(|error| format!("--stress-url: {error}"))?;
        }
        let lead = AgentsLead { fleet: fleet.clone(), login: login.to_vec(), url: self.stress_url.clone() };
        Ok(Some((lead, parsed.to_string())))
    }
}

/// A dashboard, and the loop's sender to it.
pub(crate) struct OpenDashboard {
    dashboard: Dashboard,
    feed: Feed,
}

impl DashboardFlags {
    /// Listens, if requested.
    pub(crate) fn listen(
        &self,
        game: &GameFacts,
        admin: &Admin,
        server: &Server,
        handed: Option<TcpListener>,
    ) -> Result<Option<OpenDashboard>, String> {
        let Some(listen) = self.address() else { return Ok(None) };
        let (feed, intake) = feed();
        let (agents, stress_fleet) = self.agents(game)?.unzip();
        let facts = ServerFacts {
            version: env!("CARGO_PKG_VERSION"),
            url: server.url(),
            listen: server.local_addr().to_string(),
            workload: match game.workload {
                Workload::Broadcast => "broadcast",
                Workload::Echo => "echo",
            },
            ticks_per_second: game.ticks_per_second,
            websocket: game.websocket,
            shards: server.shards().len(),
            cores: std::thread::available_parallelism().map_or(1, NonZero::get),
            queue_bytes_max: game.queue_bytes_max,
            stress_fleet,
            node: game.node.clone(),
        };
        let config = DashboardConfig {
            listen,
            handed,
            secret: game.secret.clone(),
            names: self.dashboard_host.clone(),
            server: facts,
            statistics: server.statistics(),
            commands: Arc::new(admin.clone()),
            agents,
        };
        Ok(Some(OpenDashboard { dashboard: Dashboard::listen(config, intake)?, feed }))
    }

    #[cfg(feature = "fleet")]
    fn agents(&self, game: &GameFacts) -> Result<Option<(AgentsLead, String)>, String> {
        self.stress_fleet.lead(&game.login)
    }

    #[cfg(not(feature = "fleet"))]
    fn agents(&self, _: &GameFacts) -> Result<Option<(AgentsLead, String)>, String> {
        Ok(None)
    }

    /// The address, if it listens.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.dashboard.or_else(|| self.open.then(|| SocketAddr::from(([127, 0, 0, 1], 7779))))
    }

    /// Opens the page, if requested.
    pub(crate) fn open(&self, url: Option<&str>) {
        let Some(url) = url.filter(|_| self.open) else { return };
        if let Err(error) = open::that_detached(url) {
            output::complain(format_args!("no browser can be opened ({error}): open {url} yourself"));
        }
    }
}

impl Watcher for OpenDashboard {
    fn log(&self, line: &str) {
        self.feed.log(line);
    }

    fn joined(&self, peer: PeerId, visit: &Visit, _carrier: &dyn Fn() -> &'static str) {
        let kind = match visit.guest {
            Guest::Chat(_) => GuestKind::Chat,
            Guest::Stress(_) => GuestKind::Stress(visit.turn),
        };
        self.feed.joined(peer, &visit.name(), kind);
    }

    fn turned(&self, peer: PeerId, turn: StressTurn) {
        self.feed.turned(peer, turn);
    }

    fn left(&self, peer: PeerId, _visit: &Visit, _code: u64) {
        self.feed.left(peer);
    }

    fn chat(&self, speaker: &str, text: &str) {
        self.feed.chat(speaker, text);
    }

    fn say(&self, text: &str) {
        self.feed.say(text);
    }

    #[cfg(feature = "fleet")]
    fn moves(&self, figures: &MoveFigures) {
        self.feed.moves(figures);
    }

    fn tick(&self, lines: u64, took: Duration) {
        self.feed.tick(lines, took);
    }

    fn url(&self) -> Option<String> {
        Some(self.dashboard.url())
    }

    fn address(&self) -> Option<SocketAddr> {
        Some(self.dashboard.local_addr())
    }

    fn listener(&self) -> Option<std::io::Result<TcpListener>> {
        Some(self.dashboard.listener())
    }

    fn close(&mut self, reason: &str) {
        self.dashboard.close(reason);
    }
}
