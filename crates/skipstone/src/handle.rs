//! An application's end of a driver: two bounded queues to a thread of its own, or the driver itself, stepped by hand.

use crate::driver::Driver;
use crate::start_error::StartError;
use crossbeam_queue::ArrayQueue;
use mio::Waker;
use skipstone_proto::channel::{MessageId, Submission};
use skipstone_proto::endpoint::{Event, Group, PeerId};
use skipstone_proto::time::Duration;
use skipstone_proto::wire::settings::Merging;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

/// Who drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// A thread in the background, so that acknowledgements do not wait for the game's tick.
    #[default]
    Background,
    /// The application, by calling `drive`: for single-threaded engines and for tests.
    Stepped,
}

/// The queue to the driver is full: it cannot keep up, or was not flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFull;

impl std::fmt::Display for QueueFull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the queue to the driver is full: send less, or flush and try again at the next tick")
    }
}

impl std::error::Error for QueueFull {}

/// What an application asks of its driver.
pub(crate) enum Command {
    Send {
        peer: PeerId,
        channel: u16,
        message: Submission,
    },
    Broadcast {
        group: Group,
        channel: u16,
        payload: bytes::Bytes,
        id: MessageId,
    },
    Accept(PeerId),
    Close {
        peer: PeerId,
        code: u64,
        reason: String,
        linger: Duration,
    },
    CloseAll {
        code: u64,
        reason: String,
        linger: Duration,
    },
    Join(PeerId, Group),
    Leave(PeerId, Group),
    Merging(PeerId, Merging),
    Flush,
    /// Anything that needs an answer.
    Ask(Box<dyn FnOnce(&mut Driver) + Send>),
    Stop,
}

/// Commands that may wait.
const COMMANDS_MAX: usize = 1 << 15;
/// Events that may wait; what comes beyond stays with the protocol, which holds its peers back.
const EVENTS_MAX: usize = 1 << 15;

/// A command that the driver's queue had no room for.
pub(crate) struct Refused(Box<Command>);

impl From<Refused> for QueueFull {
    fn from(_: Refused) -> Self {
        QueueFull
    }
}

/// What both threads see.
struct Shared {
    commands: ArrayQueue<Command>,
    events: ArrayQueue<Event>,
    /// The driver waits for its sockets and must be woken for a command.
    is_driver_asleep: AtomicBool,
    /// The driver has events that had no room.
    is_driver_stalled: AtomicBool,
    /// The application's, who may wait for several drivers.
    bell: Arc<Bell>,
    /// Why the driver gave up, if it did.
    failure: Mutex<Option<String>>,
}

/// Wakes an application that waits for events.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    is_application_asleep: AtomicBool,
    bell: Condvar,
    lock: Mutex<()>,
}

impl Bell {
    /// Waits until it rings, for `span` at most; not at all if something has happened already.
    pub(crate) fn wait(&self, span: Duration, has_happened: impl Fn() -> bool) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_application_asleep.store(true, Ordering::SeqCst);
        if !has_happened() {
            drop(self.bell.wait_timeout(lock, span));
        }
        self.is_application_asleep.store(false, Ordering::SeqCst);
    }

    fn ring(&self) {
        if self.is_application_asleep.load(Ordering::SeqCst) {
            let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.bell.notify_one();
        }
    }
}

/// An application's end of a driver.
pub(crate) struct Handle {
    inner: Inner,
    next_id: u64,
}

enum Inner {
    Background { shared: Arc<Shared>, waker: Arc<Waker>, thread: Option<JoinHandle<()>> },
    Stepped(Box<Driver>),
}

impl Handle {
    pub(crate) fn new(driver: Driver, mode: Mode) -> Result<Self, StartError> {
        Handle::ringing(&Arc::default(), driver, mode)
    }

    /// As `new`, for one of several drivers, all of which ring the same bell.
    pub(crate) fn ringing(bell: &Arc<Bell>, driver: Driver, mode: Mode) -> Result<Self, StartError> {
        let inner = match mode {
            Mode::Stepped => Inner::Stepped(Box::new(driver)),
            Mode::Background => {
                let shared = Arc::new(Shared {
                    commands: ArrayQueue::new(COMMANDS_MAX),
                    events: ArrayQueue::new(EVENTS_MAX),
                    is_driver_asleep: AtomicBool::new(false),
                    is_driver_stalled: AtomicBool::new(false),
                    bell: bell.clone(),
                    failure: Mutex::new(None),
                });
                let (waker, theirs) = (driver.waker(), shared.clone());
                let thread = std::thread::Builder::new().name("skipstone-driver".into());
                let thread = thread.spawn(move || run(driver, &theirs)).map_err(StartError::io("start a thread"))?;
                Inner::Background { shared, waker, thread: Some(thread) }
            }
        };
        Ok(Handle { inner, next_id: 0 })
    }

    /// A name for the next message.
    pub(crate) fn next_id(&mut self) -> MessageId {
        self.next_id += 1;
        MessageId(self.next_id)
    }

    /// Gives a command to the driver, which is woken for it unless that can wait.
    pub(crate) fn command(&mut self, command: Command, wake: Wake) -> Result<(), Refused> {
        match &mut self.inner {
            Inner::Stepped(driver) => driver.apply(command),
            Inner::Background { shared, waker, .. } => {
                let pushed = shared.commands.push(command);
                let is_filling = shared.commands.len() > COMMANDS_MAX / 2;
                if (wake == Wake::Now || is_filling) && shared.is_driver_asleep.swap(false, Ordering::SeqCst) {
                    // A driver that cannot be woken is gone, and says so through its failure.
                    let _ = waker.wake();
                }
                return pushed.map_err(|command| Refused(Box::new(command)));
            }
        }
        Ok(())
    }

    /// As `command`, for what may not be lost: waits while the queue is full.
    pub(crate) fn insist(&mut self, mut command: Command) {
        while let Err(Refused(refused)) = self.command(command, Wake::Now) {
            if self.is_gone() {
                return;
            }
            command = *refused;
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether the next command will be taken: nobody else gives any.
    pub(crate) fn has_room(&self) -> bool {
        match &self.inner {
            Inner::Stepped(_) => true,
            Inner::Background { shared, .. } => !shared.commands.is_full(),
        }
    }

    /// Lets the driver's owner look at it and waits for the answer. `None` if the driver is gone.
    pub(crate) fn ask<T: Send + 'static>(
        &mut self,
        question: impl FnOnce(&mut Driver) -> T + Send + 'static,
    ) -> Option<T> {
        self.pose(question).answer()
    }

    /// As `ask`, with the waiting left for later.
    pub(crate) fn pose<T: Send + 'static>(
        &mut self,
        question: impl FnOnce(&mut Driver) -> T + Send + 'static,
    ) -> Posed<T> {
        match &mut self.inner {
            Inner::Stepped(driver) => {
                driver.queue_broadcasts();
                Posed::Answered(question(driver))
            }
            Inner::Background { .. } => {
                let (answer, answered) = mpsc::sync_channel(1);
                self.insist(Command::Ask(Box::new(move |driver| {
                    // Whoever asked has stopped waiting, if this fails.
                    let _ = answer.send(question(driver));
                })));
                Posed::Open(answered)
            }
        }
    }

    /// Whether there are events.
    pub(crate) fn has_events(&self) -> bool {
        match &self.inner {
            Inner::Stepped(driver) => driver.endpoint.event_count() > 0,
            Inner::Background { shared, .. } => !shared.events.is_empty(),
        }
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        match &mut self.inner {
            Inner::Stepped(driver) => driver.poll_event(),
            Inner::Background { shared, waker, .. } => {
                let event = shared.events.pop();
                if shared.events.is_empty() && shared.is_driver_stalled.swap(false, Ordering::SeqCst) {
                    let _ = waker.wake();
                }
                event
            }
        }
    }

    /// Waits until there is an event, for `span` at most. A stepped driver is driven meanwhile.
    pub(crate) fn wait(&mut self, span: Duration) {
        match &mut self.inner {
            Inner::Stepped(driver) => {
                let end = Instant::now() + span;
                while driver.endpoint.event_count() == 0 {
                    let left = end.saturating_duration_since(Instant::now());
                    if driver.drive(left).is_err() || left.is_zero() {
                        return;
                    }
                }
            }
            Inner::Background { shared, .. } => shared.bell.wait(span, || !shared.events.is_empty()),
        }
    }

    /// One round of a stepped driver, waiting for `wait_max` at most; nothing with a thread in the background.
    pub(crate) fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        match &mut self.inner {
            Inner::Stepped(driver) => driver.drive(wait_max),
            Inner::Background { .. } => Ok(()),
        }
    }

    /// Whether nobody takes commands any more.
    fn is_gone(&self) -> bool {
        match &self.inner {
            Inner::Stepped(_) => false,
            Inner::Background { thread, .. } => thread.as_ref().is_none_or(JoinHandle::is_finished),
        }
    }

    /// Why the driver gave up, if it did.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.inner {
            Inner::Stepped(_) => None,
            Inner::Background { shared, .. } => shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Ends every connection, and waits until all peers know or `span` is over.
    pub(crate) fn close_all(&mut self, code: u64, reason: &str, linger: Duration, span: Duration) {
        let end = Instant::now() + span;
        self.insist(Command::CloseAll { code, reason: reason.into(), linger });
        self.await_goodbyes(end);
    }

    /// Waits until no connection is left, until `end` at most.
    pub(crate) fn await_goodbyes(&mut self, end: Instant) {
        while Instant::now() < end {
            match self.ask(|driver| driver.endpoint.open_count()) {
                None | Some(0) => return,
                Some(_) => {}
            }
            if self.drive(Duration::from_millis(5)).is_err() {
                return;
            }
            if let Inner::Background { .. } = self.inner {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

/// A question that a driver was asked.
pub(crate) enum Posed<T> {
    Answered(T),
    Open(mpsc::Receiver<T>),
}

impl<T> Posed<T> {
    /// Waits for the answer. `None` if the driver is gone.
    pub(crate) fn answer(self) -> Option<T> {
        match self {
            Posed::Answered(answer) => Some(answer),
            Posed::Open(answer) => answer.recv_timeout(ANSWER_MAX).ok(),
        }
    }
}

/// How long an answer of the driver may take; it is stuck or gone otherwise.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Whether a command can wait for the next flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    Now,
    Later,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.insist(Command::Stop);
        if let Inner::Background { thread, .. } = &mut self.inner
            && let Some(thread) = thread.take()
        {
            // Had it panicked, it has said so already.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handle")
    }
}

/// The driver's thread.
fn run(mut driver: Driver, shared: &Shared) {
    crate::net::wait::sharpen_timers();
    let failed = loop {
        let mut must_stop = false;
        while let Some(command) = shared.commands.pop() {
            must_stop |= matches!(command, Command::Stop);
            driver.apply(command);
        }
        if must_stop {
            // What was said last still leaves; should that fail, nobody is left to hear of it.
            let _ = driver.drive(Duration::ZERO);
            break None;
        }
        hand_events_up(&mut driver, shared);
        shared.is_driver_asleep.store(true, Ordering::SeqCst);
        let wait_max = if shared.commands.is_empty() { Duration::MAX } else { Duration::ZERO };
        let result = driver.drive(wait_max);
        shared.is_driver_asleep.store(false, Ordering::SeqCst);
        if let Err(error) = result {
            break Some(error);
        }
    };
    if let Some(error) = failed {
        *shared.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }
}

fn hand_events_up(driver: &mut Driver, shared: &Shared) {
    let mut handed = false;
    while !shared.events.is_full() {
        let Some(event) = driver.poll_event() else { break };
        handed = true;
        // There is room, and nobody else pushes.
        let _ = shared.events.push(event);
    }
    shared.is_driver_stalled.store(driver.endpoint.event_count() > 0, Ordering::SeqCst);
    if handed {
        shared.bell.ring();
    }
}

impl Driver {
    pub(crate) fn apply(&mut self, command: Command) {
        if let Command::Broadcast { group, channel, payload, id } = command {
            return self.broadcast(group, (channel, payload, id));
        }
        if matches!(command, Command::Flush) {
            return self.flush();
        }
        self.queue_broadcasts();
        let now = self.now();
        let endpoint = &mut self.endpoint;
        match command {
            // A message that is refused is counted, and reported where its channel has receipts.
            Command::Send { peer, channel, message } => drop(endpoint.submit(now, peer, channel, message)),
            Command::Broadcast { .. } | Command::Flush | Command::Stop => {}
            Command::Accept(peer) => drop(endpoint.accept(now, peer)),
            Command::Close { peer, code, reason, linger } => drop(endpoint.close(now, peer, code, &reason, linger)),
            Command::CloseAll { code, reason, linger } => {
                endpoint.stop_listening();
                endpoint.close_all(now, code, &reason, linger);
            }
            Command::Join(peer, group) => drop(endpoint.join(peer, group)),
            Command::Leave(peer, group) => endpoint.leave(peer, group),
            Command::Merging(peer, merging) => endpoint.set_merging(peer, merging),
            Command::Ask(question) => question(self),
        }
    }
}
