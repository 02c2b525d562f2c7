//! Where players ask for a room. In a real game this is the login service, and it checks who the player is.

use crate::failure::Failure;
use crate::node::Fleet;
use crate::question::{ENTER, words};
use skipstone_fleet::bus::{Bus, BusEvent, BusSettings};
use std::time::{Duration, Instant};

/// The end of the bus at which the entrance asks the nodes.
#[derive(Debug)]
pub struct Entrance {
    bus: Bus,
}

/// A player's right to enter: once, within 30 s.
#[derive(Clone, Debug)]
pub struct Admission {
    /// The node of the room.
    pub node: String,
    /// Where it listens.
    pub url: String,
    /// What to connect with.
    pub ticket: String,
}

impl Entrance {
    /// Connects to the bus of a fleet.
    pub fn open(fleet: &Fleet) -> Result<Entrance, Failure> {
        Ok(Entrance { bus: Bus::connect(BusSettings::new(fleet.nats.parse()?))? })
    }

    /// Asks until the room's owner answers. A room that is not there is created meanwhile; one whose owner was lost is
    /// taken over.
    pub fn ask(&mut self, player: &str, room: &str) -> Result<Admission, Failure> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let request = self.bus.request(ENTER, format!("{player} {room}"), ASK_EVERY)?;
            while let Some(event) = self.bus.wait(2 * ASK_EVERY) {
                match event {
                    BusEvent::Answer { request: answered, result } if answered == request => {
                        let text = result.ok().and_then(|answer| String::from_utf8(answer.to_vec()).ok());
                        if let Some([node, url, ticket]) = text.as_deref().and_then(words) {
                            let [node, url, ticket] = [node, url, ticket].map(str::to_owned);
                            return Ok(Admission { node, url, ticket });
                        }
                        break;
                    }
                    _ => {}
                }
            }
        }
        Err(format!("no node has answered for the room {room} within {PATIENCE:?}").into())
    }
}

const ASK_EVERY: Duration = Duration::from_millis(100);
/// A takeover may take 20 s.
const PATIENCE: Duration = Duration::from_secs(30);
