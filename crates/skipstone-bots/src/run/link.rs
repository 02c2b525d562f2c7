//! A bot as its sockets and its host see it.

use crate::protocol::{Cause, Ending, SendRefused};
use crate::socket::BotSocket;
use std::time::Duration;

/// A bot's connection, and its random numbers.
pub(super) struct Link {
    pub(super) number: u32,
    /// When the bot began by the schedule, since the run began: its time counts from here.
    pub(super) from: Duration,
    pub(super) random: u64,
    pub(super) socket: Option<BotSocket>,
    /// When the connection was to begin; until it is made.
    pub(super) connecting_since: Option<Duration>,
    pub(super) is_connected: bool,
    pub(super) was_connected: bool,
    /// Whether the script has closed the connection that there still is.
    pub(super) is_closing: bool,
    /// How the last connection ended, until there is another.
    pub(super) ending: Option<Ending>,
    /// While the script has paused reading: until when.
    pub(super) reads_from: Option<Duration>,
    /// Connections so far: each has a seed of its own.
    pub(super) connections: u64,
}

impl Link {
    pub(super) fn new(number: u32, from: Duration, seed: u64) -> Self {
        Link {
            number,
            from,
            random: seed,
            socket: None,
            connecting_since: None,
            is_connected: false,
            was_connected: false,
            is_closing: false,
            ending: None,
            reads_from: None,
            connections: 0,
        }
    }

    /// Why a call of the script that needs a connection is refused.
    pub(super) fn not_connected(&mut self) -> String {
        let has_socket = self.socket.is_some();
        let ending = self.socket.as_mut().map_or(self.ending.as_ref(), BotSocket::ending);
        let why = match ending {
            Some(ending) if ending.cause == Cause::Closed => ending.text.clone(),
            Some(ending) => ending.to_string(),
            None if has_socket => "it connects still".into(),
            None => "bot:connect comes first".into(),
        };
        format!("{}: {why}", SendRefused::NotConnected)
    }
}
