//! Flags of `serve` about the dashboard, and how the server feeds it. Without the feature `dashboard` there are neither.

#[cfg(not(feature = "dashboard"))]
pub(super) use absent::{DashboardFlags, OpenDashboard};
#[cfg(feature = "dashboard")]
pub(super) use present::{DashboardFlags, OpenDashboard};
use skipstone_lab::workload::Workload;

/// What the page says about the game, and the token that it asks for.
#[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "nobody asks"))]
pub(crate) struct GameFacts {
    pub(super) workload: Workload,
    /// Ticks a second; 0 is unthrottled.
    pub(super) ticks_per_second: u32,
    pub(super) websocket: bool,
    pub(super) token: Option<String>,
    /// Proxies that are believed, as they were given.
    pub(super) trusted_proxies: Vec<String>,
}

#[cfg(feature = "dashboard")]
mod present {
    use super::super::admin::Admin;
    use super::GameFacts;
    use crate::dashboard::{Dashboard, DashboardConfig, Feed, GuestKind, ServerFacts, feed};
    use skipstone::net::websocket::TrustedProxies;
    use skipstone::{PeerId, Server};
    use skipstone_lab::report::output;
    use skipstone_lab::workload::{Guest, Workload};
    use std::net::{SocketAddr, TcpListener};
    use std::sync::Arc;
    use std::time::Duration;

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
        /// A host name under which browsers find the dashboard, such as that of a proxy; may be given several times
        #[arg(long, value_name = "NAME", requires = "dashboard")]
        dashboard_host: Vec<String>,
    }

    /// A dashboard, and the end by which the loop feeds it.
    pub(crate) struct OpenDashboard {
        dashboard: Dashboard,
        feed: Feed,
    }

    impl DashboardFlags {
        /// Listens, if it was asked to.
        pub(crate) fn listen(
            &self,
            game: &GameFacts,
            admin: &Admin,
            server: &Server,
            handed: Option<TcpListener>,
        ) -> Result<Option<OpenDashboard>, String> {
            let Some(listen) = self.address() else { return Ok(None) };
            let (feed, intake) = feed();
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
            };
            let config = DashboardConfig {
                listen,
                handed,
                token: game.token.clone(),
                names: self.dashboard_host.clone(),
                proxies: TrustedProxies::new(&game.trusted_proxies)
                    .map_err(|text| format!("'{text}' is no address or network: see --trusted-proxy"))?,
                server: facts,
                statistics: server.statistics(),
                commands: Arc::new(admin.clone()),
            };
            Ok(Some(OpenDashboard { dashboard: Dashboard::listen(config, intake)?, feed }))
        }

        /// Where it listens, if it was asked to.
        pub(crate) fn address(&self) -> Option<SocketAddr> {
            self.dashboard.or_else(|| self.open.then(|| SocketAddr::from(([127, 0, 0, 1], 7779))))
        }

        /// Opens the page, if that was asked for.
        pub(crate) fn open(&self, url: Option<&str>) {
            let Some(url) = url.filter(|_| self.open) else { return };
            if let Err(error) = open::that_detached(url) {
                output::complain(format_args!("no browser can be opened ({error}): open {url} yourself"));
            }
        }
    }

    impl OpenDashboard {
        pub(crate) fn log(&self, line: &str) {
            self.feed.log(line);
        }

        pub(crate) fn joined(&self, peer: PeerId, name: &str, guest: &Guest) {
            let kind = match guest {
                Guest::Chat(_) => GuestKind::Chat,
                Guest::Stress(_) => GuestKind::Stress,
            };
            self.feed.joined(peer, name, kind);
        }

        pub(crate) fn left(&self, peer: PeerId) {
            self.feed.left(peer);
        }

        pub(crate) fn chat(&self, speaker: &str, text: &str) {
            self.feed.chat(speaker, text);
        }

        pub(crate) fn say(&self, text: &str) {
            self.feed.say(text);
        }

        pub(crate) fn tick(&self, lines: u64, took: Duration) {
            self.feed.tick(lines, took);
        }

        pub(crate) fn url(&self) -> String {
            self.dashboard.url()
        }

        pub(crate) fn listener(&self) -> std::io::Result<TcpListener> {
            self.dashboard.listener()
        }

        pub(crate) fn close(self, reason: &str) {
            self.dashboard.close(reason);
        }
    }
}

#[cfg(not(feature = "dashboard"))]
mod absent {
    use super::super::admin::Admin;
    use super::GameFacts;
    use skipstone::{PeerId, Server};
    use skipstone_lab::workload::Guest;
    use std::net::{SocketAddr, TcpListener};
    use std::time::Duration;

    /// No flags: this tool was built without the feature `dashboard`.
    #[derive(Debug, Clone, Default, clap::Args)]
    pub(crate) struct DashboardFlags {}

    /// There is none.
    pub(crate) enum OpenDashboard {}

    impl DashboardFlags {
        pub(crate) fn listen(
            &self,
            _: &GameFacts,
            _: &Admin,
            _: &Server,
            _: Option<TcpListener>,
        ) -> Result<Option<OpenDashboard>, String> {
            Ok(None)
        }

        pub(crate) fn address(&self) -> Option<SocketAddr> {
            None
        }

        pub(crate) fn open(&self, _: Option<&str>) {}
    }

    impl OpenDashboard {
        pub(crate) fn log(&self, _: &str) {
            match *self {}
        }

        pub(crate) fn joined(&self, _: PeerId, _: &str, _: &Guest) {
            match *self {}
        }

        pub(crate) fn left(&self, _: PeerId) {
            match *self {}
        }

        pub(crate) fn chat(&self, _: &str, _: &str) {
            match *self {}
        }

        pub(crate) fn say(&self, _: &str) {
            match *self {}
        }

        pub(crate) fn tick(&self, _: u64, _: Duration) {
            match *self {}
        }

        pub(crate) fn url(&self) -> String {
            match *self {}
        }

        pub(crate) fn listener(&self) -> std::io::Result<TcpListener> {
            match *self {}
        }

        pub(crate) fn close(self, _: &str) {
            match self {}
        }
    }
}
