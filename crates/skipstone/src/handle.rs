//! An application's end of a driver: two bounded queues to a thread of its own, or the driver itself, stepped by hand.
//! Both give the same answers, because [`Roster`] records the events that the application has polled.

use crate::deadline::deadline_in;
use crate::driver::Driver;
use crate::driver::command::Command;
use crate::driver::thread::{DriverShared, run};
use crate::net::network_list::NetworkList;
use crate::recipients::Recipients;
use crate::roster::Roster;
use crate::send_error::{PeerError, SendError, SendRefusal};
use crate::start_error::StartError;
use crate::statistics::Board;
use bytes::Bytes;
use mio::Waker;
use skipstone_mailbox::{Consumed, Produced, Wakeup};
use skipstone_proto::Duration;
use skipstone_proto::{BroadcastMessage, Close, ClosedBy, Event, Group, InboundRule, PeerId, code};
use skipstone_proto::{Merging, Settings};
use skipstone_proto::{MessageId, Submission};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

/// Whether a background thread or the application runs the driver.
///
/// # Examples
/// Server and client in one thread. Nothing is received or sent between two calls of `drive`:
///
/// ```
/// use skipstone::{Client, ClientConfig, Event, Server, ServerConfig, Threading};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut config = ServerConfig::new("127.0.0.1:0".parse()?);
/// config.threading = Threading::Stepped;
/// let mut server = Server::start(config)?;
/// let config = ClientConfig { threading: Threading::Stepped, ..ClientConfig::default() };
/// let mut client = Client::connect(&server.url(), b"", config)?;
/// let mut is_connected = false;
/// while !is_connected {
///     // Receives, handles timers and sends; waits for the socket no longer than this.
///     server.drive(Duration::from_millis(1))?;
///     while let Some(event) = server.poll_event() {
///         if let Event::Requested { peer, .. } = event {
///             server.accept(peer)?;
///         }
///     }
///     client.drive(Duration::from_millis(1))?;
///     while let Some(event) = client.poll_event() {
///         is_connected |= matches!(event, Event::Connected { .. });
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Threading {
    /// A thread in the background, so that acknowledgements do not wait for the game's tick.
    #[default]
    Background,
    /// The application, by calling `drive`: for single-threaded engines and for tests.
    Stepped,
}

/// Configuration of a handle.
#[derive(Clone, Debug)]
pub(crate) struct HandleConfig {
    pub(crate) threading: Threading,
    /// Bytes that may wait in each of the two queues between an application and its driver's thread.
    pub(crate) queue_bytes_max: u64,
    /// The server's settings, which its clients follow.
    pub(crate) settings: Arc<Settings>,
    /// A server's rules for clients' messages; some rules reserve channels for clients.
    pub(crate) inbound: Arc<[InboundRule]>,
}

/// An application's end of a driver.
pub(crate) struct Handle {
    inner: Inner,
    roster: Roster,
    board: Arc<Board>,
    next_id: u64,
    /// Messages were sent since the last flush.
    is_unflushed: bool,
}

enum Inner {
    Background(Background),
    /// No other thread locks this mutex: the mutex makes the handle `Sync`, and locking it never blocks.
    Stepped(Mutex<Stepped>),
}

struct Background {
    shared: Arc<DriverShared>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
    produced: Produced,
    consumed: Consumed,
}

struct Stepped {
    driver: Box<Driver>,
    /// Why driving failed, if it did.
    failure: Option<String>,
}

/// Whether a command can wait for the next flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    Now,
    Later,
}

impl Handle {
    /// A handle of one of the drivers that wake the same application.
    pub(crate) fn waking(wakeup: &Arc<Wakeup>, driver: Driver, config: &HandleConfig) -> Result<Self, StartError> {
        let board = driver.board();
        let inner = match config.threading {
            Threading::Stepped => Inner::Stepped(Mutex::new(Stepped { driver: Box::new(driver), failure: None })),
            Threading::Background => Inner::Background(Background::spawn(wakeup, driver, config.queue_bytes_max)?),
        };
        let roster = Roster::new(Arc::clone(&config.settings), Arc::clone(&config.inbound));
        Ok(Handle { inner, roster, board, next_id: 0, is_unflushed: false })
    }

    /// The application has begun to connect to this peer.
    pub(crate) fn connecting(&mut self, peer: PeerId) {
        self.roster.connecting(peer);
    }

    /// Id for the next message.
    pub(crate) fn next_id(&mut self) -> MessageId {
        self.next_id += 1;
        MessageId(self.next_id)
    }

    /// Continues with the ids of another handle, so that they stay unique.
    pub(crate) fn continue_ids(&mut self, other: &Handle) {
        self.next_id = self.next_id.max(other.next_id);
    }

    /// Whether a message would be accepted now.
    pub(crate) fn admit(&mut self, peer: PeerId, channel: u16, bytes: usize) -> Result<(), SendRefusal> {
        if self.is_gone() {
            return Err(SendRefusal::DriverGone);
        }
        self.roster.admit(peer, channel, bytes).map(drop)
    }

    /// Accepts a message, or returns it with the reason.
    pub(crate) fn send(
        &mut self,
        (peer, channel): (PeerId, u16),
        message: Submission,
        wake: Wake,
    ) -> Result<(), SendError> {
        let bytes = message.payload.len();
        if self.is_gone() {
            return Err(SendError::new(SendRefusal::DriverGone, message.payload));
        }
        let admitted = match self.roster.admit(peer, channel, bytes) {
            Ok(admitted) => admitted,
            Err(reason) => return Err(SendError::new(reason, message.payload)),
        };
        match &mut self.inner {
            Inner::Stepped(stepped) => {
                let payload = message.payload.clone();
                let sent = owned(stepped).driver.send(peer, channel, message);
                sent.map_err(|error| SendError::new(reason_of(error, channel, bytes), payload))?;
            }
            Inner::Background(background) => {
                if !background.has_room(Command::weight_of(bytes)) {
                    return Err(SendError::new(SendRefusal::DriverBusy, message.payload));
                }
                if let Some(gate) = &admitted.gate {
                    gate.on_handed(bytes);
                }
                background.push(Command::Send { peer, channel, message, gate: admitted.gate }, wake);
            }
        }
        self.is_unflushed = true;
        Ok(())
    }

    /// Number of peers for which this handle can accept a broadcast.
    pub(crate) fn admit_broadcast(
        &mut self,
        to: &Recipients,
        channel: u16,
        bytes: usize,
    ) -> Result<usize, SendRefusal> {
        if self.is_gone() {
            return Err(SendRefusal::DriverGone);
        }
        let peers = self.roster.admit_broadcast(to, channel, bytes)?;
        match &mut self.inner {
            Inner::Background(background) if !background.has_room(Command::weight_of(bytes)) => {
                Err(SendRefusal::DriverBusy)
            }
            _ => Ok(peers),
        }
    }

    /// Sends an admitted broadcast to a group.
    pub(crate) fn broadcast(&mut self, group: Group, message: BroadcastMessage, wake: Wake) {
        self.is_unflushed = true;
        self.push(Command::Broadcast { group, message }, wake);
    }

    pub(crate) fn flush(&mut self) -> Result<(), PeerError> {
        self.check_driver()?;
        // A flush with no message to send would only fill the queue.
        if core::mem::take(&mut self.is_unflushed) {
            self.push(Command::Flush, Wake::Now);
        }
        Ok(())
    }

    /// Asks for [`Event::Settled`], once the messages that were accepted so far have been acknowledged.
    pub(crate) fn settle(&mut self, peer: PeerId) {
        self.push(Command::Settle(peer), Wake::Now);
    }

    pub(crate) fn accept(&mut self, peer: PeerId) -> Result<(), PeerError> {
        self.check_driver()?;
        self.roster.accept(peer)?;
        self.push(Command::Accept(peer), Wake::Now);
        Ok(())
    }

    pub(crate) fn close(&mut self, peer: PeerId, code: u64, reason: &str, linger: Duration) -> Result<(), PeerError> {
        self.check_driver()?;
        PeerError::check_code(code)?;
        self.roster.close(peer)?;
        self.push(Command::Close { peer, code, reason: reason.into(), linger }, Wake::Now);
        Ok(())
    }

    pub(crate) fn join(&mut self, peer: PeerId, group: Group) -> Result<(), PeerError> {
        self.check_room()?;
        if self.roster.join(peer, group)? {
            self.push(Command::Join(peer, group), Wake::Later);
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self, peer: PeerId, group: Group) -> Result<(), PeerError> {
        self.check_room()?;
        if self.roster.leave(peer, group)? {
            self.push(Command::Leave(peer, group), Wake::Later);
        }
        Ok(())
    }

    pub(crate) fn set_merging(&mut self, peer: PeerId, merging: Merging) -> Result<(), PeerError> {
        self.check_room()?;
        if matches!(merging, Merging::After(span) if span > MERGING_MAX) {
            return Err(PeerError::MergingTooLong);
        }
        self.roster.check(peer)?;
        self.push(Command::Merging(peer, merging), Wake::Now);
        Ok(())
    }

    pub(crate) fn set_query_answer(&mut self, answer: Option<Bytes>) -> Result<(), PeerError> {
        self.check_room()?;
        self.push(Command::QueryAnswer(answer), Wake::Now);
        Ok(())
    }

    /// Denies these addresses and no others.
    pub(crate) fn set_denied(&mut self, networks: Arc<NetworkList>) -> Result<(), PeerError> {
        self.check_room()?;
        self.push(Command::Deny(networks), Wake::Now);
        Ok(())
    }

    /// Accepts no further handshake.
    pub(crate) fn stop_inviting(&mut self) -> Result<(), PeerError> {
        self.check_room()?;
        self.push(Command::StopInviting, Wake::Now);
        Ok(())
    }

    /// Ends every connection; their `Closed` events follow.
    pub(crate) fn close_all(&mut self, code: u64, reason: &str, linger: Duration) {
        self.roster.close_all();
        self.push(Command::CloseAll { code, reason: reason.into(), linger }, Wake::Now);
    }

    /// Runs a function on the driver and waits for the answer, for 5 s and until `end` at most.
    pub(crate) fn ask<T: Send + 'static>(
        &mut self,
        end: Option<Instant>,
        question: impl FnOnce(&mut Driver) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        if self.is_gone() {
            return Err(NoAnswer::DriverGone);
        }
        match &mut self.inner {
            Inner::Stepped(stepped) => {
                let driver = &mut owned(stepped).driver;
                driver.queue_broadcasts();
                Ok(question(driver))
            }
            Inner::Background(background) => {
                let (answer, answered) = mpsc::sync_channel(1);
                let ask = Box::new(move |driver: &mut Driver| {
                    // Sending fails only if the application no longer waits for the answer.
                    let _ = answer.send(question(driver));
                });
                background.push(Command::Ask(ask), Wake::Now);
                background.answer(&answered, end)
            }
        }
    }

    /// The peers' states and groups.
    pub(crate) fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Where the driver publishes its statistics.
    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    /// Whether there are events.
    pub(crate) fn has_events(&self) -> bool {
        match &self.inner {
            Inner::Stepped(stepped) => lock(stepped).driver.endpoint.event_count() > 0,
            Inner::Background(background) => {
                !background.shared.events.is_empty() || self.is_gone() && self.roster.open_peers().next().is_some()
            }
        }
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        let event = match &mut self.inner {
            Inner::Stepped(stepped) => owned(stepped).driver.poll_event(),
            Inner::Background(background) => background.poll_event(),
        };
        let Some(event) = event.or_else(|| self.farewell()) else {
            self.note_drained();
            return None;
        };
        self.roster.on_event(&event);
        if let Event::Connected { peer, .. } = event {
            // The peer joins here, so that a broadcast reaches only peers whose `Connected` event the application has
            // polled.
            self.push(Command::Join(peer, Group::EVERYONE), Wake::Later);
        }
        Some(event)
    }

    /// The `Closed` event of a connection whose driver is gone and cannot report the end itself.
    fn farewell(&mut self) -> Option<Event> {
        let reason = self.failure()?;
        let late = match &mut self.inner {
            Inner::Background(background) => background.poll_event(),
            Inner::Stepped(_) => None,
        };
        late.or_else(|| {
            let peer = self.roster.open_peers().next()?;
            let close = Close { by: ClosedBy::Nobody, code: code::CARRIER_LOST, reason: reason.into() };
            Some(Event::Closed { peer, close })
        })
    }

    /// Polling returned nothing more: a [`Waiter`](crate::Waiter) of this handle no longer waits for a driver that is
    /// gone.
    fn note_drained(&self) {
        if let Inner::Background(background) = &self.inner
            && self.is_gone()
            && !self.has_events()
        {
            background.shared.is_drained.store(true, Ordering::SeqCst);
        }
    }

    /// Waits until there is an event, for `span` at most. A stepped driver is driven meanwhile.
    pub(crate) fn wait(&mut self, span: Duration) {
        match &mut self.inner {
            Inner::Stepped(_) => {
                let end = deadline_in(span);
                while !self.has_events() {
                    let left = end.saturating_duration_since(Instant::now());
                    if self.drive(left).is_err() || left.is_zero() {
                        return;
                    }
                }
            }
            Inner::Background(background) => {
                let wakeup = Arc::clone(&background.shared.wakeup);
                wakeup.wait(span, || self.has_events());
            }
        }
    }

    /// Waits until the deadline, whatever happens meanwhile. A stepped driver is driven, for one round at least.
    pub(crate) fn wait_until(&mut self, deadline: Instant) {
        let left = || deadline.saturating_duration_since(Instant::now());
        if matches!(self.inner, Inner::Stepped(_)) {
            while self.drive(left()).is_ok() && !left().is_zero() {}
        }
        // A driver that failed keeps the application's pace.
        std::thread::sleep(left());
    }

    /// The queues shared with the driver's thread; none with a stepped driver.
    pub(crate) fn shared(&self) -> Option<Arc<DriverShared>> {
        match &self.inner {
            Inner::Stepped(_) => None,
            Inner::Background(background) => Some(Arc::clone(&background.shared)),
        }
    }

    /// Drives a stepped driver until received data is handled, waiting for `wait_max` at most; no effect with a
    /// background thread, while it runs.
    pub(crate) fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        if let Some(failure) = self.failure() {
            return Err(io::Error::other(failure));
        }
        let Inner::Stepped(stepped) = &mut self.inner else { return Ok(()) };
        let stepped = owned(stepped);
        let result = stepped.driver.drive_through(wait_max);
        if let Err(error) = &result {
            stepped.failure = Some(format!("the system refuses to wait for the sockets: {error}"));
        }
        result
    }

    /// Why the driver failed, if it did.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.inner {
            Inner::Stepped(stepped) => lock(stepped).failure.clone(),
            Inner::Background(background) => {
                let is_over = background.shared.is_over.load(Ordering::SeqCst);
                is_over.then(|| background.shared.failure.get().cloned().unwrap_or_else(|| "it was stopped".into()))
            }
        }
    }

    /// Waits until no connection is left, until `end` at most.
    pub(crate) fn await_goodbyes(&mut self, end: Instant) {
        while Instant::now() < end {
            match self.ask(Some(end), |driver| driver.endpoint.open_count()) {
                Err(NoAnswer::DriverGone) | Ok(0) => return,
                Err(NoAnswer::DriverBusy) | Ok(_) => {}
            }
            match &self.inner {
                Inner::Stepped(_) => {
                    if self.drive(Duration::from_millis(5)).is_err() {
                        return;
                    }
                }
                Inner::Background(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Gives the driver a command whose number is bounded elsewhere.
    fn push(&mut self, command: Command, wake: Wake) {
        match &mut self.inner {
            Inner::Stepped(stepped) => owned(stepped).driver.apply(command),
            Inner::Background(background) => background.push(command, wake),
        }
    }

    /// Whether the driver is gone and takes no more commands.
    fn is_gone(&self) -> bool {
        match &self.inner {
            Inner::Stepped(stepped) => lock(stepped).failure.is_some(),
            Inner::Background(background) => background.shared.is_over.load(Ordering::Acquire),
        }
    }

    fn check_driver(&self) -> Result<(), PeerError> {
        if self.is_gone() { Err(PeerError::DriverGone) } else { Ok(()) }
    }

    /// Checks the queue for commands that the application can repeat.
    pub(crate) fn check_room(&self) -> Result<(), PeerError> {
        self.check_driver()?;
        match &self.inner {
            Inner::Background(background) if !background.has_room(Command::weight_of(0)) => Err(PeerError::DriverBusy),
            _ => Ok(()),
        }
    }
}

impl Background {
    fn spawn(wakeup: &Arc<Wakeup>, driver: Driver, queue_bytes_max: u64) -> Result<Self, StartError> {
        let shared = Arc::new(DriverShared::new(queue_bytes_max, wakeup));
        let (waker, theirs) = (driver.waker(), Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("skipstone-driver".into());
        let thread = thread.spawn(move || run(driver, &theirs)).map_err(StartError::io("start a thread"))?;
        let (produced, consumed) = (Produced::default(), Consumed::default());
        Ok(Background { shared, waker, thread: Some(thread), produced, consumed })
    }

    fn has_room(&self, weight: u64) -> bool {
        self.shared.commands.has_room(&self.produced, weight)
    }

    fn push(&mut self, command: Command, wake: Wake) {
        self.shared.commands.push(&mut self.produced, command);
        let must_hurry = wake == Wake::Now || self.shared.commands.is_filling(&self.produced);
        if must_hurry && self.shared.driver.must_wake() {
            // A driver that cannot be woken is gone, and reports that through its failure.
            let _ = self.waker.wake();
        }
    }

    /// Waits for an answer as long as the driver lives.
    fn answer<T>(&self, answered: &mpsc::Receiver<T>, end: Option<Instant>) -> Result<T, NoAnswer> {
        let latest = deadline_in(ANSWER_MAX);
        let end = end.map_or(latest, |end| end.min(latest));
        while Instant::now() < end {
            match answered.recv_timeout(LOOK_SPAN) {
                Ok(answer) => return Ok(answer),
                Err(mpsc::RecvTimeoutError::Timeout) if !self.shared.is_over.load(Ordering::Acquire) => {}
                Err(_) => return answered.try_recv().map_err(|_| NoAnswer::DriverGone),
            }
        }
        answered.try_recv().map_err(|_| NoAnswer::DriverBusy)
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.shared.events.pop(&mut self.consumed);
        if self.shared.events.is_empty() && self.shared.is_driver_stalled.swap(false, Ordering::SeqCst) {
            let _ = self.waker.wake();
        }
        event
    }
}

fn owned(stepped: &mut Mutex<Stepped>) -> &mut Stepped {
    stepped.get_mut().unwrap_or_else(PoisonError::into_inner)
}

fn lock(stepped: &Mutex<Stepped>) -> std::sync::MutexGuard<'_, Stepped> {
    stepped.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The endpoint's error as a refusal of the handle.
pub(crate) fn reason_of(error: skipstone_proto::SendError, channel: u16, bytes: usize) -> SendRefusal {
    match error {
        skipstone_proto::SendError::UnknownPeer => SendRefusal::UnknownPeer,
        skipstone_proto::SendError::NotConnected => SendRefusal::NotConnected,
        skipstone_proto::SendError::NoSuchChannel => SendRefusal::NoSuchChannel { channel },
        skipstone_proto::SendError::WrongDirection => SendRefusal::WrongDirection { channel },
        skipstone_proto::SendError::TooLong { bytes_max } => SendRefusal::TooLong { bytes, bytes_max },
        skipstone_proto::SendError::QueueFull => SendRefusal::QueueFull,
    }
}

/// Why a query of the driver has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The driver has ended.
    DriverGone,
    /// The driver has not handled the query in time, and may handle it later.
    DriverBusy,
}

/// Limit on the span of [`Merging::After`].
const MERGING_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Time limit for an answer of the driver; after it the driver is stuck or gone.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// How often a handle that waits for an answer checks whether the driver still runs.
const LOOK_SPAN: Duration = Duration::from_millis(20);

impl Drop for Handle {
    fn drop(&mut self) {
        self.push(Command::Stop, Wake::Now);
        if let Inner::Background(background) = &mut self.inner
            && let Some(thread) = background.thread.take()
        {
            // A thread that panicked has already printed the panic.
            let _ = thread.join();
            // A thread with a `Waiter` of this handle is woken and sees the end, even if the driver ended
            // long before.
            background.shared.is_drained.store(false, Ordering::SeqCst);
            background.shared.wakeup.wake();
        }
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("roster", &self.roster).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
