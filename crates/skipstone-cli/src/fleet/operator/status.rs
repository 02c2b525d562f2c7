//! `skipstone fleet status`.

use super::listing::{DirectoryFlags, Listing, age};
use skipstone_fleet::directory::{ListedEntry, NodeName, NodeRecord, RoomName, RoomPolicy, RoomRecord};
use skipstone_lab::clean;
use skipstone_lab::report::format::counted;
use skipstone_lab::report::{Exit, output};
use std::time::Duration;

/// Flags of `fleet status`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A lease is the time since a node renewed it last, by this machine's clock and that of NATS. Nodes renew each 3 s; after 15 s
another node takes over.

Exit codes: 0 the directory was read; 97 NATS was not reached, refused, or has no JetStream; 104 bad configuration.")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    directory: DirectoryFlags,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &StatusArguments) -> Result<(), (Exit, String)> {
    let listing = arguments.directory.read()?;
    if arguments.json {
        output::say(json(&listing));
        return Ok(());
    }
    output::say(table(&listing));
    Ok(())
}

fn json(listing: &Listing) -> serde_json::Value {
    let node = |(name, entry): (&NodeName, &ListedEntry<NodeRecord>)| {
        let record = &entry.record;
        serde_json::json!({
            "name": name.as_str(),
            "address": record.address,
            "version": record.version,
            "metrics": record.metrics,
            "load": record.status.load,
            "capacity": record.status.capacity,
            "draining": record.status.is_draining,
            "lease_age_ms": age(entry.stored_at).as_millis() as u64,
        })
    };
    let room = |(name, entry): (&RoomName, &ListedEntry<RoomRecord>)| {
        serde_json::json!({
            "name": name.as_str(),
            "node": entry.record.node.as_str(),
            "epoch": entry.record.epoch(entry.revision).0,
            "policy": policy(entry.record.policy),
        })
    };
    serde_json::json!({
        "nodes": listing.directory.nodes().map(node).collect::<Vec<_>>(),
        "rooms": listing.directory.rooms().map(room).collect::<Vec<_>>(),
    })
}

fn table(listing: &Listing) -> String {
    let mut text = format!("{:<20}{:>9}{:>14}{:>8}  {:<10}{}\n", "Node", "version", "players", "lease", "", "address");
    for (name, entry) in listing.directory.nodes() {
        let (record, status) = (&entry.record, entry.record.status);
        let lease = age(entry.stored_at);
        let state = match (lease > LEASE, status.is_draining) {
            (true, _) => "overdue",
            (_, true) => "draining",
            _ => "",
        };
        let (players, lease) =
            (format!("{}/{}", status.load, status.capacity), format!("{:.1} s", lease.as_secs_f64()));
        let (version, address) = (clean::line(&record.version), clean::line(&record.address));
        text += &format!("{:<20}{version:>9}{players:>14}{lease:>8}  {state:<10}{address}\n", name.as_str());
    }
    text += &format!("\n{:<20}{:<20}{:>9}  {}\n", "Room", "node", "epoch", "policy");
    for (name, entry) in listing.directory.rooms() {
        let (node, epoch) = (entry.record.node.as_str(), entry.record.epoch(entry.revision).0);
        text += &format!("{:<20}{node:<20}{epoch:>9}  {}\n", name.as_str(), policy(entry.record.policy));
    }
    let (nodes, rooms) = (listing.directory.nodes().count(), listing.directory.rooms().count());
    text + &format!("\n{}, {}", counted(nodes as u64, "node"), counted(rooms as u64, "room"))
}

fn policy(policy: RoomPolicy) -> &'static str {
    match policy {
        RoomPolicy::Unique => "unique",
        RoomPolicy::Casual => "casual",
    }
}

const LEASE: Duration = Duration::from_secs(15);
