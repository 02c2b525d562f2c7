//! Those who watch the server: the console's sessions, the dashboard and the database. Telling them waits for nobody.

use super::dashboard_flags::OpenDashboard;
use super::database_flags::OpenDatabase;
use super::visit::Visit;
use crate::console::Console;
use skipstone::PeerId;
use std::net::TcpListener;
use std::time::Duration;

/// Console, dashboard and database, as far as there are any.
pub(super) struct Audience {
    pub(super) console: Option<Console>,
    pub(super) dashboard: Option<OpenDashboard>,
    pub(super) database: Option<OpenDatabase>,
}

impl Audience {
    /// A line of the log.
    pub(super) fn log(&self, line: &str) {
        self.console.iter().for_each(|console| console.log(line));
        self.dashboard.iter().for_each(|dashboard| dashboard.log(line));
    }

    /// A client is there.
    pub(super) fn joined(&self, peer: PeerId, visit: &Visit, carrier: &str) {
        self.dashboard.iter().for_each(|dashboard| dashboard.joined(peer, &visit.name(), &visit.guest));
        self.database.iter().for_each(|database| database.joined(peer, visit, carrier));
    }

    /// A client is gone, by this close code.
    pub(super) fn left(&self, peer: PeerId, visit: &Visit, code: u64) {
        self.dashboard.iter().for_each(|dashboard| dashboard.left(peer));
        self.database.iter().for_each(|database| database.left(peer, visit, code));
    }

    /// A line of a chat client.
    pub(super) fn chat(&self, speaker: &str, text: &str) {
        self.dashboard.iter().for_each(|dashboard| dashboard.chat(speaker, text));
    }

    /// A word of the server to everybody.
    pub(super) fn say(&self, text: &str) {
        self.dashboard.iter().for_each(|dashboard| dashboard.say(text));
    }

    /// A tick ended, `took` after it was due; `lines` came since the server began.
    pub(super) fn tick(&self, lines: u64, took: Duration) {
        self.dashboard.iter().for_each(|dashboard| dashboard.tick(lines, took));
    }

    pub(super) fn dashboard_url(&self) -> Option<String> {
        self.dashboard.as_ref().map(OpenDashboard::url)
    }

    /// Second handles to the sockets of console and dashboard, for the process that follows this one.
    pub(super) fn listeners(&self) -> std::io::Result<Vec<TcpListener>> {
        let console = self.console.iter().map(Console::listener);
        console.chain(self.dashboard.iter().map(OpenDashboard::listener)).collect()
    }

    /// Tells all why the server ends.
    pub(super) fn close(self, reason: &str) {
        if let Some(console) = self.console {
            console.close(reason);
        }
        if let Some(dashboard) = self.dashboard {
            dashboard.close(reason);
        }
    }
}
