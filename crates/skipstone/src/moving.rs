//! A client on its way to another server: both connections. [`Crossing`] decides, and keeps what waits for the one or
//! the other; WIRE.md section 8.2.

use crate::handle::{Handle, Wake};
use crate::send_error::{SendError, SendRefusal};
use crate::url::Target;
use bytes::Bytes;
use skipstone_proto::{
    Crossing, Duration, Event, GivenUp, MoveAction, MoveMessage, PeerId, Route, Settings, Submission, Time, code,
};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The moves of a client whose server can move it.
#[derive(Debug)]
pub(crate) struct Moving {
    crossing: Crossing,
    began: Instant,
    pub(crate) there: Option<Connecting>,
    /// A connection that was not chosen, until its server knows that.
    parting: Option<Connecting>,
    parting_until: Time,
}

/// A connection to another server, which begins or stands.
#[derive(Debug)]
pub(crate) struct Connecting {
    pub(crate) handle: Handle,
    pub(crate) peer: PeerId,
    pub(crate) remote: Arc<OnceLock<SocketAddr>>,
    pub(crate) target: Target,
}

/// What a client is to do for its move.
pub(crate) enum MoveStep {
    /// Connect to this server, and give the connection to [`Moving::connecting`].
    Connect { destination: String, token: Vec<u8> },
    /// This is the client's connection from now on.
    Arrived(Box<Connecting>),
}

impl Moving {
    /// The moves of a connection that was just established. The server hears that this client can be moved.
    pub(crate) fn begin(here: &mut Handle, peer: PeerId, settings: &Arc<Settings>, bytes_max: u64) -> Option<Moving> {
        let crossing = Crossing::new(settings, bytes_max)?;
        tell(here, peer, crossing.channel(), MoveMessage::Able.encode());
        Some(Moving { crossing, began: Instant::now(), there: None, parting: None, parting_until: Time::ZERO })
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.crossing.is_moving()
    }

    /// The other connection.
    pub(crate) fn there(&mut self) -> Option<&mut Connecting> {
        self.there.as_mut()
    }

    /// The connection to the other server has begun, or could not.
    pub(crate) fn connecting(&mut self, there: Option<Connecting>) {
        match there {
            Some(there) => self.there = Some(there),
            None => self.crossing.stay(),
        }
    }

    /// The application ends the client. One that has not chosen yet stays, so that what it held back is sent here.
    pub(crate) fn stop(&mut self) {
        self.crossing.stay();
    }

    /// The connections beside the present one.
    pub(crate) fn others(&mut self) -> impl Iterator<Item = &mut Connecting> {
        self.there.iter_mut().chain(&mut self.parting)
    }

    /// Whether there are events beside those of the present connection.
    pub(crate) fn has_events(&self) -> bool {
        self.crossing.has_events()
    }

    /// Drives the other connection, if the application drives its client.
    pub(crate) fn drive(&mut self) {
        for other in self.others() {
            // A failure ends the connection with an event.
            let _ = other.handle.drive(Duration::ZERO);
        }
    }

    /// An event of the present server, as far as it is the application's.
    pub(crate) fn on_event(&mut self, event: Event) -> Option<Event> {
        let now = self.now();
        self.crossing.on_event_here(event, now)
    }

    /// Follows both connections. To be repeated until there is nothing more to do.
    pub(crate) fn advance(&mut self, here: &mut Handle, peer: PeerId) -> Option<MoveStep> {
        let now = self.now();
        self.crossing.on_time(now);
        self.hear_there();
        self.part();
        while let Some(action) = self.crossing.poll_action() {
            match action {
                MoveAction::Connect { destination, token } => return Some(MoveStep::Connect { destination, token }),
                MoveAction::Settle => here.settle(peer),
                MoveAction::SendHere(message) => tell(here, peer, self.crossing.channel(), message),
                MoveAction::SendThere(message) => {
                    if let Some(there) = &mut self.there {
                        tell(&mut there.handle, there.peer, self.crossing.channel(), message);
                    }
                }
                MoveAction::Switch => {
                    if let Some(mut there) = self.there.take() {
                        self.release(&mut there.handle, there.peer);
                        self.there = Some(there);
                    }
                }
                MoveAction::Stay => {
                    if let Some(mut there) = self.there.take() {
                        there.handle.close_all(code::NONE, "the client stays where it is", Duration::ZERO);
                        (self.parting, self.parting_until) = (Some(there), now + PARTING_MAX);
                    }
                    self.release(here, peer);
                }
                MoveAction::Finish => {
                    let mut there = self.there.take()?;
                    // The application's messages had ids of the former handle until now: they stay unique.
                    there.handle.continue_ids(here);
                    return Some(MoveStep::Arrived(Box::new(there)));
                }
            }
        }
        None
    }

    /// The next event that is not the present connection's: of the other server, once it may come, or of this side.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.crossing.poll_event()
    }

    /// Accepts a message for the connection that it belongs to: the one of here, unless the client has chosen the
    /// other.
    pub(crate) fn send(
        &mut self,
        here: &mut Handle,
        peer: PeerId,
        channel: u16,
        message: Submission,
    ) -> Result<(), SendError> {
        match self.crossing.route(channel) {
            Route::Refused => Err(SendError::new(SendRefusal::NoSuchChannel { channel }, message.payload)),
            Route::Held => {
                if let Err(reason) = here.admit(peer, channel, message.payload.len()) {
                    return Err(SendError::new(reason, message.payload));
                }
                let held = self.crossing.hold(channel, message);
                held.map_err(|message| SendError::new(SendRefusal::QueueFull, message.payload))
            }
            Route::There if let Some(there) = &mut self.there => {
                there.handle.send((there.peer, channel), message, Wake::Now)
            }
            Route::There | Route::Here => here.send((peer, channel), message, Wake::Now),
        }
    }

    fn release(&mut self, to: &mut Handle, peer: PeerId) {
        for (channel, message) in self.crossing.take_held() {
            let id = message.id;
            if to.send((peer, channel), message, Wake::Now).is_err() {
                self.crossing.give_up(peer, id, channel, GivenUp::QueueFull);
            }
        }
    }

    /// Forgets a connection that was not chosen once its server has answered the close.
    fn part(&mut self) {
        let Some(parting) = &mut self.parting else { return };
        let is_over =
            std::iter::from_fn(|| parting.handle.poll_event()).any(|event| matches!(event, Event::Closed { .. }));
        if is_over || self.now() >= self.parting_until {
            self.parting = None;
        }
    }

    /// Takes the other server's events, as far as there is room for what must wait.
    fn hear_there(&mut self) {
        let now = self.now();
        while self.crossing.has_room()
            && let Some(event) = self.there.as_mut().and_then(|there| there.handle.poll_event())
        {
            self.crossing.on_event_there(event, now);
        }
    }

    fn now(&self) -> Time {
        Time::ZERO + self.began.elapsed()
    }
}

/// Sends a message on the channel of moves, whatever the merging. What cannot be sent belongs to a connection that
/// ends.
fn tell(handle: &mut Handle, peer: PeerId, channel: u16, message: Vec<u8>) {
    let id = handle.next_id();
    let message = Submission { payload: Bytes::from(message), id, age: Duration::ZERO };
    let _ = handle.send((peer, channel), message, Wake::Now);
    let _ = handle.flush();
}

/// How long a server that was not chosen may take to answer the close.
const PARTING_MAX: Duration = Duration::from_secs(1);
