//! `skipstone fleet key` and `skipstone fleet ticket`.

use super::listing::DirectoryFlags;
use skipstone_fleet::directory::RoomName;
use skipstone_fleet::tickets::{FleetKeys, Ticket, UnixTime};
use skipstone_lab::report::{Exit, output};
use std::path::PathBuf;

/// Flags of `fleet key`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A file of keys has a key in each line. All of them admit, the first secret one signs: to replace a key, write the new one into
the first line, and remove the old one a minute later. Nodes that only admit need the public key alone.")]
pub(crate) struct KeyArguments {
    /// The file, which must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Flags of `fleet ticket`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Try:
  skipstone fleet key fleet.key
  skipstone serve --fleet local --node n1 --room lobby --fleet-key fleet.key
  skipstone fleet ticket --fleet nats://127.0.0.1:PORT --fleet-key fleet.key --player zoe --room lobby
  skipstone chat URL --ticket v4.public.…

Exit codes: 0 a ticket was printed; 97 NATS was not reached, or no node runs the room; 104 bad configuration.")]
pub(crate) struct TicketArguments {
    #[command(flatten)]
    directory: DirectoryFlags,
    /// The file with the key that signs
    #[arg(long, value_name = "FILE")]
    fleet_key: PathBuf,
    /// The player's name
    #[arg(long, value_name = "NAME")]
    player: String,
    /// The room
    #[arg(long, value_name = "NAME", value_parser = |text: &str| RoomName::new(text))]
    room: RoomName,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn make_key(arguments: &KeyArguments) -> Result<(), (Exit, String)> {
    let keys = FleetKeys::create(&arguments.file).map_err(|error| (Exit::BadConfiguration, error.to_string()))?;
    output::say(keys.public_lines().trim_end());
    Ok(())
}

pub(super) fn run(arguments: &TicketArguments) -> Result<(), (Exit, String)> {
    let bad = |error: &dyn std::fmt::Display| (Exit::BadConfiguration, error.to_string());
    let keys = FleetKeys::read(&arguments.fleet_key).map_err(|error| bad(&error))?;
    let signer = keys.signer().map_err(|error| bad(&error))?;
    let listing = arguments.directory.read()?;
    let none = || (Exit::Unavailable, format!("no node runs the room {0}; start one with --room {0}", arguments.room));
    let (_, room) = listing.directory.rooms().find(|(name, _)| **name == arguments.room).ok_or_else(none)?;
    let (node, epoch) = (room.record.node.clone(), room.record.epoch(room.revision));
    let (_, owner) = listing.directory.nodes().find(|(name, _)| **name == node).ok_or_else(none)?;
    let ticket = Ticket { player: arguments.player.clone(), room: arguments.room.clone(), node, epoch };
    let token = signer.issue(&ticket, UnixTime::now()).map_err(|error| bad(&error))?;
    let address = &owner.record.address;
    match arguments.json {
        true => output::say(serde_json::json!({ "address": address, "ticket": token })),
        false => {
            let address = skipstone_lab::clean::line(address);
            output::say(format_args!("{address}\n{token}"));
            // Beside what a script reads.
            output::complain(format_args!("within 30 s, once: skipstone chat '{address}' --ticket {token}"));
        }
    }
    Ok(())
}
