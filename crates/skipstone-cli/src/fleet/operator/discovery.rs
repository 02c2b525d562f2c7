//! `skipstone fleet discovery`: Prometheus' HTTP service discovery, from the directory.
//! <https://prometheus.io/docs/prometheus/latest/http_sd/>

use super::listing::{DirectoryFlags, Listing};
use skipstone_lab::report::{Exit, output};
use skipstone_lab::signals::Signals;
use std::net::SocketAddr;
use std::time::Duration;

/// Flags of `fleet discovery`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Nodes that run `serve --dashboard` are listed, each with its name as the label `instance`. In Prometheus:
  http_sd_configs: [{ url: \"http://127.0.0.1:7780/\" }]           of `skipstone fleet discovery --listen 127.0.0.1:7780`
  file_sd_configs: [{ files: [nodes.json] }]                     of `skipstone fleet discovery > nodes.json`

Exit codes: 0 the directory was read; 97 NATS was not reached, refused, or has no JetStream; 104 bad configuration.")]
pub(crate) struct DiscoveryArguments {
    #[command(flatten)]
    directory: DirectoryFlags,
    /// Serve it by HTTP at this address, until Ctrl-C. All who can connect to it read the nodes' names and addresses
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

pub(super) fn run(arguments: &DiscoveryArguments, signals: &Signals) -> Result<(), (Exit, String)> {
    let listening = arguments.listen.map(|address| {
        let refused =
            |error| (Exit::BadConfiguration, format!("--listen {address}: {error}; choose another address or port"));
        tiny_http::Server::http(address).map_err(refused)
    });
    let listening = listening.transpose()?;
    let mut listing = arguments.directory.read()?;
    let Some(server) = listening else {
        output::say(targets(&listing));
        return Ok(());
    };
    output::say(format_args!("discovery at http://{}/; stop with Ctrl-C", server.server_addr()));
    while !signals.is_set() {
        listing.poll(Duration::ZERO);
        let request = server.recv_timeout(TURN).map_err(|error| (Exit::Fail, error.to_string()))?;
        if let Some(request) = request {
            listing.poll(Duration::ZERO);
            // A client that has gone misses it.
            let _ = request.respond(answer(&listing));
        }
    }
    Ok(())
}

/// What was read last, also while NATS is away: Prometheus would go on with the same targets.
fn answer(listing: &Listing) -> tiny_http::Response<std::io::Cursor<Vec<u8>>> {
    let kind = tiny_http::Header::from_bytes("Content-Type", "application/json").expect("it is ASCII");
    tiny_http::Response::from_string(targets(listing).to_string()).with_header(kind)
}

/// A group for each node, so that each has its own labels. Those with `__meta_` are for relabelling alone.
fn targets(listing: &Listing) -> serde_json::Value {
    let nodes = listing.directory.nodes().filter_map(|(name, entry)| {
        let record = &entry.record;
        Some(serde_json::json!({
            "targets": [record.metrics.as_ref()?],
            "labels": {
                "instance": name.as_str(),
                "__meta_skipstone_address": record.address,
                "__meta_skipstone_version": record.version,
                "__meta_skipstone_draining": record.status.is_draining.to_string(),
            },
        }))
    });
    nodes.collect()
}

/// How long a signal waits.
const TURN: Duration = Duration::from_millis(200);
