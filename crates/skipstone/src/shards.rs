//! A server's shards, each a driver with a thread, sockets and connections of its own, as the application sees them: as one
//! server. A server without shards is one of these.
//!
//! ```text
//!                ┌── queues ── driver 0 ── UDP, TCP ──┐
//! application ───┼── queues ── driver 1 ── UDP, TCP ──┼── one port, the kernel chooses (SO_REUSEPORT)
//!                └── queues ── driver 2 ── UDP, TCP ──┘
//! ```
//! Nothing that one driver writes another reads, as long as clients stay where they are; so a broadcast has a payload for
//! each shard, because peers that share one count their copies in one place.

use crate::driver::siblings::{Mailbox, Siblings};
use crate::driver::sockets::reserve_port;
use crate::driver::{Driver, Origin, Sharing};
use crate::handle::{Bell, Command, Handle, Mode, Posed, QueueFull, Wake};
use crate::security::Security;
use crate::start_error::{ShardsError, StartError};
use bytes::Bytes;
use skipstone_proto::channel::MessageId;
use skipstone_proto::endpoint::{Config, Event, Group, PeerId, Shard};
use skipstone_proto::time::Duration;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// Shards at most: a connection id has 8 bits for them.
const SHARDS_MAX: u32 = 256;

/// Whether there can be so many.
pub(crate) fn check(count: u32, mode: Mode) -> Result<(), ShardsError> {
    match count {
        1 => Ok(()),
        2..=SHARDS_MAX if mode == Mode::Stepped => Err(ShardsError::Stepped),
        2..=SHARDS_MAX if cfg!(target_os = "linux") => Ok(()),
        2..=SHARDS_MAX => Err(ShardsError::System),
        _ => Err(ShardsError::Count(count)),
    }
}

/// Drivers that listen on one port, each with a share of its clients.
pub(crate) fn listen(
    count: u32,
    address: SocketAddr,
    websocket: bool,
    security: &Security,
    config: &Config,
) -> Result<(Vec<Driver>, SocketAddr), StartError> {
    let refused = || StartError::io(format!("listen on {address}"));
    let origin = Origin::new().map_err(StartError::io("draw a secret"))?;
    let sharing = if count == 1 { Sharing::Nobody } else { Sharing::Shards };
    let mut local = if count == 1 { address } else { reserve_port(address, websocket).map_err(refused())? };
    let bits = bits_for(count);
    let mut drivers = Vec::new();
    for index in 0..count {
        // Suites of its own: sessions share what they have in common, and count who does.
        let own = Config { shard: Shard { index, bits }, suites: security.suites(), ..config.clone() };
        let mut driver = Driver::born_of(&origin, own)?;
        if let Some(identity) = security.identity() {
            driver.shake_hands_as(identity);
        }
        local = driver.listen(local, websocket, sharing).map_err(refused())?;
        drivers.push(driver);
    }
    if count > 1 {
        let mailboxes: Vec<Arc<Mailbox>> = drivers.iter().map(Mailbox::of).collect();
        for (index, driver) in drivers.iter_mut().enumerate() {
            driver.meet(Siblings::new(Shard { index: index as u32, bits }, mailboxes.clone(), config.connections_max));
        }
    }
    Ok((drivers, local))
}

/// How many top bits of an id name one of so many shards.
fn bits_for(shards: u32) -> u32 {
    shards.next_power_of_two().trailing_zeros()
}

/// All shards' handles. A peer's index is that of its shard, times their number, plus the shard's own: unambiguous, and
/// as small as can be.
#[derive(Debug)]
pub(crate) struct Shards {
    handles: Vec<Handle>,
    /// Whose event is next.
    turn: usize,
    bell: Arc<Bell>,
}

impl Shards {
    pub(crate) fn start(drivers: Vec<Driver>, mode: Mode) -> Result<Self, StartError> {
        let bell = Arc::default();
        let handles = drivers.into_iter().map(|driver| Handle::ringing(&bell, driver, mode));
        Ok(Shards { handles: handles.collect::<Result<_, _>>()?, turn: 0, bell })
    }

    /// A name for the next message.
    pub(crate) fn next_id(&mut self) -> MessageId {
        self.handles[0].next_id()
    }

    /// The shard of a peer, and what it is called there.
    pub(crate) fn of(&mut self, peer: PeerId) -> (&mut Handle, PeerId) {
        let count = self.handles.len() as u32;
        if count == 1 {
            return (&mut self.handles[0], peer);
        }
        let local = PeerId { index: peer.index / count, ..peer };
        (&mut self.handles[(peer.index % count) as usize], local)
    }

    /// What a peer of this shard is called outside.
    fn outside(&self, shard: usize, peer: PeerId) -> PeerId {
        PeerId { index: peer.index * self.handles.len() as u32 + shard as u32, ..peer }
    }

    /// Gives a command to every shard; it is not lost.
    pub(crate) fn insist_all(&mut self, command: impl Fn() -> Command) {
        self.handles.iter_mut().for_each(|handle| handle.insist(command()));
    }

    /// Sends to a group: in all shards, or in none if the queue to one of them is full.
    pub(crate) fn broadcast(
        &mut self,
        group: Group,
        channel: u16,
        payload: Bytes,
        id: MessageId,
        wake: Wake,
    ) -> Result<(), QueueFull> {
        if let [only] = &mut self.handles[..] {
            return Ok(only.command(Command::Broadcast { group, channel, payload, id }, wake)?);
        }
        if self.handles.iter().any(|handle| !handle.has_room()) {
            return Err(QueueFull);
        }
        for handle in &mut self.handles {
            // Also for the last: the application may pass on what came to another shard, and lies there in a larger piece.
            let payload = Bytes::copy_from_slice(&payload);
            handle.command(Command::Broadcast { group, channel, payload, id }, wake)?;
        }
        Ok(())
    }

    /// Lets every shard answer; `None` if one of them is gone. They are asked at once.
    pub(crate) fn ask_all<T: Send + 'static>(
        &mut self,
        question: impl Fn(&mut Driver) -> T + Clone + Send + 'static,
    ) -> Option<Vec<T>> {
        let posed: Vec<Posed<T>> = self.handles.iter_mut().map(|handle| handle.pose(question.clone())).collect();
        posed.into_iter().map(Posed::answer).collect()
    }

    /// As `ask_all`, for answers about peers, of whom each shard knows its own.
    pub(crate) fn ask_of_peers<T: Send + 'static>(
        &mut self,
        question: impl Fn(&mut Driver) -> Vec<(PeerId, T)> + Clone + Send + 'static,
    ) -> Vec<(PeerId, T)> {
        let answers = self.ask_all(question).unwrap_or_default();
        let mut all = Vec::new();
        for (shard, answer) in answers.into_iter().enumerate() {
            all.extend(answer.into_iter().map(|(peer, told)| (self.outside(shard, peer), told)));
        }
        all
    }

    /// The next event; the shards take turns.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        if let [only] = &mut self.handles[..] {
            return only.poll_event();
        }
        for _ in 0..self.handles.len() {
            let shard = self.turn;
            self.turn = (shard + 1) % self.handles.len();
            if let Some(mut event) = self.handles[shard].poll_event() {
                let outside = self.outside(shard, event.peer());
                *event.peer_mut() = outside;
                return Some(event);
            }
        }
        None
    }

    /// Waits until there is an event, for `span` at most. A stepped driver is driven meanwhile.
    pub(crate) fn wait(&mut self, span: Duration) {
        match &mut self.handles[..] {
            [only] => only.wait(span),
            handles => self.bell.wait(span, || handles.iter().any(Handle::has_events)),
        }
    }

    /// One round of a stepped driver; nothing with threads in the background.
    pub(crate) fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.handles[0].drive(wait_max)
    }

    /// Why a driver gave up, if one did.
    pub(crate) fn failure(&self) -> Option<String> {
        self.handles.iter().find_map(Handle::failure)
    }

    /// Ends every connection, and waits until all peers know or `span` is over.
    pub(crate) fn close_all(&mut self, code: u64, reason: &str, linger: Duration, span: Duration) {
        let end = Instant::now() + span;
        // All hear of it before any is waited for.
        self.insist_all(|| Command::CloseAll { code, reason: reason.into(), linger });
        self.handles.iter_mut().for_each(|handle| handle.await_goodbyes(end));
    }
}
