//! Why a ticket was not admitted or not issued, and why keys are unusable. A sentence each, with cause and remedy: players
//! read it as the reason of their refusal.

use crate::directory::{Epoch, NodeName, RoomName};

/// Why a ticket was not admitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TicketError {
    /// The token is no ticket.
    #[error("the token is no ticket ({0}); ask the fleet for a ticket, and send it unchanged")]
    Malformed(&'static str),
    /// The signature is of none of the fleet's keys.
    #[error("no key of this node has signed the ticket; ask the fleet for one, whose nodes and issuers share a key")]
    Forged,
    /// Its time is over.
    #[error("the ticket expired {0} s ago; ask for another{clocks}", clocks = clocks(*.0))]
    Expired(u64),
    /// Its time has not come.
    #[error("the ticket is valid in {0} s only: the clocks of its issuer and of this node differ; set both by NTP")]
    NotYetValid(u64),
    /// It was admitted before.
    #[error("the ticket was used already; ask for another")]
    Reused,
    /// It is for another node.
    #[error("the ticket is for the node {0}, and this is {1}; connect to the address that came with the ticket")]
    WrongNode(NodeName, NodeName),
    /// The room has changed its owner since, or this node has lost and regained it.
    #[error("the ticket is for epoch {ticket} of the room {room}, which has {now} now; ask for another", ticket = .ticket.0, now = .now.0)]
    OldEpoch {
        /// The room.
        room: RoomName,
        /// The ticket's epoch.
        ticket: Epoch,
        /// The room's.
        now: Epoch,
    },
    /// The node does not run the room.
    #[error("this node does not run the room {0} of the ticket; ask for another")]
    NoRoom(RoomName),
    /// The node cannot remember one more ticket as used.
    #[error("this node has admitted {0} tickets within their time, which is the maximum; try again in 30 s")]
    TooMany(usize),
}

impl TicketError {
    /// One word, for counters.
    pub fn label(&self) -> &'static str {
        match self {
            TicketError::Malformed(_) => "malformed",
            TicketError::Forged => "forged",
            TicketError::Expired(_) => "expired",
            TicketError::NotYetValid(_) => "not_yet_valid",
            TicketError::Reused => "reused",
            TicketError::WrongNode(..) => "wrong_node",
            TicketError::OldEpoch { .. } => "old_epoch",
            TicketError::NoRoom(_) => "no_room",
            TicketError::TooMany(_) => "too_many",
        }
    }
}

/// A ticket that is that old was kept, or the clocks differ.
fn clocks(seconds: u64) -> &'static str {
    match seconds >= 60 {
        true => ". If it is new, the clocks of its issuer and of this node differ: set both by NTP",
        false => "",
    }
}

/// Why a ticket was not issued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IssueError {
    /// The player's name does not fit.
    #[error("a player's name has 1 to 128 bytes and no control characters, and this has {bytes} bytes; choose another")]
    Player {
        /// Its length.
        bytes: usize,
    },
    /// The clock is beyond what a date can be.
    #[error("this machine's clock is beyond the year 9999; set it by NTP")]
    Clock,
    /// The system gave no random number.
    #[error("the system gives no random numbers ({0}); a ticket needs one")]
    Random(String),
}

/// Why keys are unusable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// A line is no key.
    #[error(
        "line {0} is no key; a line is k4.secret.… or k4.public.…, as `skipstone fleet key FILE` writes and prints them"
    )]
    Line(usize),
    /// No line is a key.
    #[error("there is no key; `skipstone fleet key FILE` makes one")]
    Empty,
    /// More keys than a node tries.
    #[error("there are {0} keys, and 4 at most; remove those that sign no more")]
    TooMany(usize),
    /// There are public keys alone.
    #[error(
        "there is no secret key, which issuing tickets needs; use the file that `skipstone fleet key FILE` has made"
    )]
    NoSecret,
    /// The system gave no random number.
    #[error("the system gives no random numbers, which a key needs")]
    Random,
    /// The file exists.
    #[error("{0} exists already; choose another name, because overwriting it would invalidate its key")]
    Exists(String),
    /// Others may read the secret key.
    #[error("others than its owner can read the secret key in {0}, and issue tickets; chmod 600 {0}")]
    OpenToOthers(String),
    /// The file cannot be read or written.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    /// What is wrong inside a file.
    #[error("{0}: {1}")]
    In(String, Box<KeyError>),
}
