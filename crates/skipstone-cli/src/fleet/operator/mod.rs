//! `skipstone fleet`: what an operator asks of a fleet of servers, and makes for it.

mod discovery;
mod listing;
mod status;
mod tickets;

use skipstone_lab::report::Exit;
use skipstone_lab::signals::Signals;

/// What to do with a fleet.
#[derive(Debug, Clone, clap::Subcommand)]
pub(crate) enum FleetCommand {
    /// Show all nodes, with their load and the age of their leases, and all rooms, with their owners
    Status(status::StatusArguments),
    /// Print where the nodes' metrics are, as Prometheus' HTTP service discovery reads it; or serve that
    Discovery(discovery::DiscoveryArguments),
    /// Make a key that signs tickets, in a new file that its owner alone reads, and print the public key
    Key(tickets::KeyArguments),
    /// Print a ticket, which admits a player to a room once within 30 s, and where to connect with it
    Ticket(tickets::TicketArguments),
}

/// Runs as the flags say.
pub(crate) fn run(command: &FleetCommand) -> Exit {
    let (name, outcome) = match command {
        FleetCommand::Status(arguments) => ("fleet status", status::run(arguments)),
        FleetCommand::Discovery(arguments) => {
            let signals = Signals::watch().map_err(|error| (Exit::Fail, error));
            ("fleet discovery", signals.and_then(|signals| discovery::run(arguments, &signals)))
        }
        FleetCommand::Key(arguments) => ("fleet key", tickets::make_key(arguments)),
        FleetCommand::Ticket(arguments) => ("fleet ticket", tickets::run(arguments)),
    };
    outcome.map_or_else(|(exit, sentence)| exit.told(name, sentence), |()| Exit::Pass)
}
