//! The observers of the server: console sessions, the dashboard and the database. Notifying them never blocks.

use super::visit::Visit;
use crate::console::Console;
#[cfg(feature = "fleet")]
use crate::move_figures::MoveFigures;
use skipstone::PeerId;
use skipstone_lab::workload::StressTurn;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// Events of the server; each watcher handles those that concern it.
pub(super) trait Watcher {
    /// A line of the log.
    fn log(&self, _line: &str) {}

    /// A client is connected. Its carrier is looked up only for watchers that need it.
    fn joined(&self, _peer: PeerId, _visit: &Visit, _carrier: &dyn Fn() -> &'static str) {}

    /// A stress client tells what it does.
    fn turned(&self, _peer: PeerId, _turn: StressTurn) {}

    /// A client left, with this close code.
    fn left(&self, _peer: PeerId, _visit: &Visit, _code: u64) {}

    /// A line of a chat client.
    fn chat(&self, _speaker: &str, _text: &str) {}

    /// A server message to all clients.
    fn say(&self, _text: &str) {}

    /// How many players this node of a fleet has moved. Called each tick.
    #[cfg(feature = "fleet")]
    fn moves(&self, _figures: &MoveFigures) {}

    /// A tick ended, `took` after it was due; `lines` came since the server began.
    fn tick(&self, _lines: u64, _took: Duration) {}

    /// The page that shows it.
    fn url(&self) -> Option<String> {
        None
    }

    /// Where that page listens, with its metrics.
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// A second handle to its socket, for the next process.
    fn listener(&self) -> Option<std::io::Result<TcpListener>> {
        None
    }

    /// Lines for `stats`.
    fn lines(&self) -> Vec<String> {
        Vec::new()
    }

    /// The statistics that the parent process records.
    fn json(&self) -> Option<serde_json::Value> {
        None
    }

    /// Why the server ends.
    fn close(&mut self, _reason: &str) {}

    /// The server has ended, and no observer waits any more.
    fn finish(self: Box<Self>, _end: ServerEnd) {}
}

/// Whether another server follows one that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerEnd {
    Final,
    /// The next program has its sockets.
    Inherited,
}

/// All watchers that exist.
pub(super) struct Audience {
    pub(super) console: Option<Console>,
    pub(super) watchers: Vec<Box<dyn Watcher>>,
}

impl Watcher for Console {
    fn log(&self, line: &str) {
        Console::log(self, line);
    }

    fn listener(&self) -> Option<std::io::Result<TcpListener>> {
        Some(Console::listener(self))
    }
}

impl Audience {
    /// The watchers to notify.
    pub(super) fn all(&self) -> impl Iterator<Item = &dyn Watcher> {
        let console = self.console.iter().map(|console| console as &dyn Watcher);
        console.chain(self.watchers.iter().map(|watcher| &**watcher))
    }

    pub(super) fn dashboard_url(&self) -> Option<String> {
        self.all().find_map(Watcher::url)
    }

    pub(super) fn dashboard_address(&self) -> Option<SocketAddr> {
        self.all().find_map(Watcher::address)
    }

    /// Second handles to the sockets of console and dashboard, for the next process.
    pub(super) fn listeners(&self) -> std::io::Result<Vec<TcpListener>> {
        self.all().filter_map(Watcher::listener).collect()
    }

    /// Tells all why the server ends.
    pub(super) fn close(&mut self, reason: &str) {
        self.console.iter_mut().for_each(|console| console.close(reason));
        self.watchers.iter_mut().for_each(|watcher| watcher.close(reason));
    }

    /// Last: no client waits for it.
    pub(super) fn finish(self, end: ServerEnd) {
        self.watchers.into_iter().for_each(|watcher| watcher.finish(end));
    }
}
