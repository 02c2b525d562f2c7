//! A player: a client that follows moves, and asks the entrance again when its node is lost.

use crate::entrance::{Admission, Entrance};
use crate::failure::Failure;
use crate::node::{LINES, POSITIONS};
use skipstone::{Client, ClientConfig, Event, Reconnect};
use std::time::{Duration, Instant};

/// A player in a room.
#[derive(Debug)]
pub struct Player {
    name: String,
    room: String,
    home: String,
    client: Client,
    /// Connections that the player asked for. Those of moves are not among them.
    pub connections: u32,
}

impl Player {
    /// Gets a ticket, and enters.
    pub fn enter(name: &str, room: &str, entrance: &mut Entrance) -> Result<Player, Failure> {
        let admission = entrance.ask(name, room)?;
        let client = connect(&admission)?;
        let (name, room) = (name.to_owned(), room.to_owned());
        Ok(Player { name, room, home: admission.node, client, connections: 1 })
    }

    /// Enters the same room, wherever it is now.
    pub fn enter_again(&mut self, entrance: &mut Entrance) -> Result<(), Failure> {
        let admission = entrance.ask(&self.name, &self.room)?;
        self.client = connect(&admission)?;
        self.home = admission.node;
        self.connections += 1;
        Ok(())
    }

    /// The node that the entrance named last.
    pub fn home(&self) -> &str {
        &self.home
    }

    /// Sends a line: `say TEXT`, `step NUMBER`, `watch ROOM`, `enter ROOM`.
    pub fn say(&mut self, line: &str) -> Result<(), Failure> {
        if let Some(room) = line.strip_prefix("enter ") {
            room.clone_into(&mut self.room);
        }
        self.client.send(LINES, line.to_owned())?;
        Ok(())
    }

    /// Waits for a line of the chat.
    pub fn hear(&mut self, awaited: &str) -> Result<String, Failure> {
        self.until(LINES, awaited)
    }

    /// Waits for positions of a room.
    pub fn see(&mut self, awaited: &str) -> Result<String, Failure> {
        self.until(POSITIONS, awaited)
    }

    /// Waits until the connection ends, whoever ends it.
    pub fn until_lost(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(Event::Closed { .. }) = self.client.poll_event() {
                return Ok(());
            }
            self.client.wait(Duration::from_millis(10));
        }
        Err(format!("{}: the node lives", self.name).into())
    }

    fn until(&mut self, on: u16, awaited: &str) -> Result<String, Failure> {
        let deadline = Instant::now() + PATIENCE;
        let mut last = String::new();
        while Instant::now() < deadline {
            match self.client.poll_event() {
                Some(Event::Message { channel, payload, .. }) if channel == on => {
                    last = String::from_utf8_lossy(&payload).into_owned();
                    if last == awaited {
                        return Ok(last);
                    }
                }
                Some(Event::Closed { close, .. }) => return Err(close.reason_text().into()),
                Some(_) => {}
                None => self.client.wait(Duration::from_millis(10)),
            }
        }
        Err(format!("{} waits for `{awaited}`, and had `{last}` last", self.name).into())
    }
}

fn connect(admission: &Admission) -> Result<Client, Failure> {
    // A client that may reconnect follows moves. One whose node is lost gets another ticket instead.
    let reconnect = Some(Reconnect { attempts_max: 0, ..Reconnect::default() });
    let config = ClientConfig { reconnect, ..ClientConfig::default() };
    let mut client = Client::connect(&admission.url, admission.ticket.as_bytes(), config)?;
    loop {
        match client.poll_event() {
            Some(Event::Connected { .. }) => return Ok(client),
            Some(Event::Closed { close, .. }) => return Err(close.reason_text().into()),
            Some(_) => {}
            None => client.wait(Duration::from_millis(10)),
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(15);
