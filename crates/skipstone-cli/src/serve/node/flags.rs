//! Flags of `serve` about its fleet.

use crate::fleet_flags::NatsFlags;
use skipstone_fleet::directory::{NodeName, RoomName};
use skipstone_lab::units::Span;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Flags of `serve` about its fleet.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "A node of a fleet, over NATS")]
pub(crate) struct NodeFlags {
    /// NATS of the fleet that this server is a node of: nats://HOST or tls://HOST; or `local`, to start a nats-server
    /// on this machine. Players stay connected while NATS is away
    #[arg(long, value_name = "URL", requires = "node", conflicts_with_all = ["stress", "piped"])]
    pub(crate) fleet: Option<String>,
    /// Name of this node, of which the fleet has one: letters, digits, - and _
    #[arg(long, value_name = "NAME", requires = "fleet", value_parser = |text: &str| NodeName::new(text))]
    pub(crate) node: Option<NodeName>,
    /// Where players of other machines reach this server, in place of the address that it listens on
    #[arg(long, value_name = "HOST:PORT", requires = "fleet", value_parser = host_and_port)]
    pub(crate) advertise: Option<String>,
    /// A room that this node runs, unless another does; that node's rooms are taken over when it ends. May be given
    /// several times
    #[arg(long, value_name = "NAME", requires = "fleet", value_parser = |text: &str| RoomName::new(text))]
    pub(crate) room: Vec<RoomName>,
    /// Admit only players with a ticket that a key of this file has signed, as `skipstone fleet key FILE` makes it
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub(crate) fleet_key: Option<PathBuf>,
    /// Players that move to other nodes in a second, when this node gives them away: `drain`, SIGTERM or SIGUSR2 while
    /// other nodes live
    #[arg(long, value_name = "N", requires = "fleet", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) drain_rate: u32,
    /// How long that may take. Players that are left are told to reconnect: elsewhere if the server ends, here if it
    /// restarts
    #[arg(long, value_name = "TIME", requires = "fleet", default_value = "60s")]
    pub(crate) drain_limit: Span,
    #[command(flatten)]
    pub(crate) nats: NatsFlags,
}

impl NodeFlags {
    /// Whether this server is a node, and its name.
    pub(crate) fn name(&self) -> Option<String> {
        self.fleet.as_ref().and(self.node.as_ref()).map(NodeName::to_string)
    }

    /// Where players connect, from the URL of native clients.
    pub(super) fn player_address(&self, url: &str) -> String {
        let Some(advertised) = &self.advertise else { return url.to_owned() };
        let (scheme, rest) = url.split_once("://").unwrap_or(("skip", url));
        let pin = rest.find('#').map_or("", |at| &rest[at..]);
        format!("{scheme}://{advertised}{pin}")
    }

    /// Where Prometheus reads the metrics of a dashboard that listens there.
    pub(super) fn metrics_address(&self, dashboard: SocketAddr) -> String {
        match (&self.advertise, dashboard.ip().is_unspecified()) {
            (Some(advertised), true) => {
                let host = advertised.rsplit_once(':').map_or(advertised.as_str(), |(host, _)| host);
                format!("{host}:{}", dashboard.port())
            }
            (None, true) => format!("127.0.0.1:{}", dashboard.port()),
            (_, false) => dashboard.to_string(),
        }
    }
}

fn host_and_port(text: &str) -> Result<String, String> {
    let wrong = || "give HOST:PORT, such as game.example:7777 or [2001:db8::1]:7777".to_owned();
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let is_plain = host.starts_with('[') == host.ends_with(']') && host.contains(':') == host.starts_with('[');
    let is_host = (1..=200).contains(&host.len()) && !host.contains(['/', '#', '@', '?', ' ']) && is_plain;
    match is_host && port.parse::<u16>().is_ok_and(|port| port > 0) {
        true => Ok(text.to_owned()),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct OneNode {
        #[command(flatten)]
        flags: NodeFlags,
        /// WHY: the node's flags exclude these of `serve`.
        #[arg(long)]
        stress: bool,
        #[arg(long)]
        piped: bool,
    }

    #[test]
    fn players_and_prometheus_get_the_address_that_is_advertised() {
        let flags = |words: &[&str]| {
            let all = ["serve"].iter().chain(words);
            <OneNode as clap::Parser>::try_parse_from(all).expect("they are flags").flags
        };
        let local = flags(&[]);
        let public = flags(&["--fleet", "local", "--node", "n", "--advertise", "game.example:7000"]);
        let url = "skip://127.0.0.1:7777#sha256=ab";
        assert_eq!(local.player_address(url), url);
        assert_eq!(public.player_address(url), "skip://game.example:7000#sha256=ab");
        assert_eq!(public.player_address("skip+plain://[::1]:7777"), "skip+plain://game.example:7000");
        let (any, loopback) = ("0.0.0.0:7779".parse().unwrap(), "127.0.0.1:9".parse().unwrap());
        assert_eq!(public.metrics_address(any), "game.example:7779");
        assert_eq!(local.metrics_address(any), "127.0.0.1:7779");
        assert_eq!(public.metrics_address(loopback), "127.0.0.1:9");
    }

    #[test]
    fn an_advertised_address_has_a_host_and_a_port() {
        for right in ["game.example:1", "10.0.0.1:7777", "[2001:db8::1]:7777"] {
            assert_eq!(host_and_port(right).as_deref(), Ok(right));
        }
        for wrong in
            ["", "host", "host:", "host:0", "host:70000", ":7777", "skip://host:1", "::1:7777", "a b:1", "[::1:7"]
        {
            assert!(host_and_port(wrong).is_err(), "{wrong}");
        }
    }
}
