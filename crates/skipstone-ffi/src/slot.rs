//! A server or a client, with the events that its application may still read. A lock makes calls from several threads
//! safe; events belong to the thread that polled them.

use crate::failure::Failure;
use crate::types::SkipstoneStatus;
use library::{Bytes, Client, ClientConfig, Destination, Event, Server, Settings, Ticks};
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread::ThreadId;

/// The server or client of a handle.
pub(crate) struct Slot {
    state: Mutex<State>,
    /// The right to wait for events, held by one thread at a time.
    waiting: Mutex<()>,
}

pub(crate) struct State {
    /// Empty once the handle has ended.
    pub(crate) engine: Option<Engine>,
    pub(crate) held: Held,
    /// The schedule of `skipstone_wait_tick`.
    pub(crate) ticks: Ticks,
}

pub(crate) enum Engine {
    Server(Box<Server>),
    Client(Box<Connection>),
}

/// A client, and the parameters with which it can connect again.
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// The target of the next connection. None: a server in this process, which has no URL.
    pub(crate) destination: Option<Destination>,
    pub(crate) token: Vec<u8>,
    pub(crate) config: ClientConfig,
    /// The server's settings from the last time that it admitted the client.
    pub(crate) settings: Option<Arc<Settings>>,
    /// Its connection has ended, and the client does not reconnect by itself.
    pub(crate) is_closed: bool,
}

/// Events that were polled and may still be read.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) events: Vec<Event>,
    pub(crate) texts: Vec<CString>,
    /// The position of the event that was passed on last: applications process events in order.
    passed_on: usize,
    poller: Option<ThreadId>,
    /// None once the thread that polled has ended.
    reader: Weak<()>,
}

impl Held {
    /// Ends the validity of earlier events, polled by this thread or by one that has ended.
    pub(crate) fn begin(&mut self, reader: Weak<()>) -> Result<(), Failure> {
        let me = std::thread::current().id();
        // The events of a thread that has ended have no reader.
        if self.poller.is_some_and(|poller| poller != me) && self.reader.strong_count() > 0 {
            let text = "another thread polls this handle, and may still read its events: poll in one thread, or let \
                        that one give its events back first";
            return Err(Failure::new(SkipstoneStatus::WrongThread, text));
        }
        self.poller = Some(me);
        self.reader = reader;
        self.events.clear();
        self.texts.clear();
        self.passed_on = 0;
        Ok(())
    }

    /// The message at `data`, shared with the event whose payload contains it; `None` if none of the next events
    /// contains it.
    pub(crate) fn shared(&mut self, data: *const u8, length: usize) -> Option<Bytes> {
        let ahead = self.events.iter().enumerate().skip(self.passed_on).take(LOOK_AHEAD);
        let (place, payload) = ahead.filter_map(|(place, event)| Some((place, part(event, data, length)?))).next()?;
        self.passed_on = place;
        Some(payload)
    }

    /// The thread that polled reads no event any more: any thread may poll next.
    pub(crate) fn release(&mut self) {
        self.poller = None;
    }

    /// Whether another thread may still read events.
    pub(crate) fn is_read_elsewhere(&self) -> bool {
        let me = std::thread::current().id();
        self.has_reader() && self.poller.is_some_and(|poller| poller != me)
    }

    /// Whether there are events and the thread that polled them still exists.
    pub(crate) fn has_reader(&self) -> bool {
        !self.events.is_empty() && self.reader.strong_count() > 0
    }
}

/// The maximum distance in events between two messages that are passed on without a copy: a bound on the search.
const LOOK_AHEAD: usize = 16;

/// These bytes as a part of an event's payload.
fn part(event: &Event, data: *const u8, length: usize) -> Option<Bytes> {
    let Event::Message { payload, .. } = event else { return None };
    let start = data.addr().checked_sub(payload.as_ptr().addr())?;
    let end = start.checked_add(length)?;
    (end <= payload.len() && length > 0).then(|| payload.slice(start..end))
}

impl Slot {
    pub(crate) fn new(engine: Engine) -> Self {
        let state = State { engine: Some(engine), held: Held::default(), ticks: Ticks::default() };
        Slot { state: Mutex::new(state), waiting: Mutex::new(()) }
    }

    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, State>, Failure> {
        self.state.lock().map_err(|_| {
            let text = "a bug in Skipstone ended an earlier call with this handle: release it and create another";
            Failure::new(SkipstoneStatus::Internal, text)
        })
    }

    /// As [`Slot::lock`], for the thread that ends the handle.
    pub(crate) fn lock_even_if_failed(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to wait for events; an error while another thread has it.
    pub(crate) fn wait_alone(&self) -> Result<MutexGuard<'_, ()>, Failure> {
        match self.waiting.try_lock() {
            Ok(right) => Ok(right),
            Err(TryLockError::Poisoned(right)) => Ok(right.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let text = "another thread waits for events of this handle: wait in the thread that polls";
                Err(Failure::new(SkipstoneStatus::WrongThread, text))
            }
        }
    }
}

impl State {
    pub(crate) fn engine(&mut self) -> Result<&mut Engine, Failure> {
        self.engine.as_mut().ok_or_else(ended)
    }

    pub(crate) fn server(&mut self) -> Result<&mut Server, Failure> {
        match self.engine()? {
            Engine::Server(server) => Ok(server),
            Engine::Client(_) => Err(wrong_kind("a client", "a server")),
        }
    }

    pub(crate) fn connection(&mut self) -> Result<&mut Connection, Failure> {
        match self.engine()? {
            Engine::Client(connection) => Ok(connection),
            Engine::Server(_) => Err(wrong_kind("a server", "a client")),
        }
    }
}

/// Another thread ended the handle after it was found.
pub(crate) fn ended() -> Failure {
    Failure::new(SkipstoneStatus::BadHandle, "the handle was stopped, closed or released by another thread")
}

fn wrong_kind(what: &str, wanted: &str) -> Failure {
    Failure::new(SkipstoneStatus::WrongKind, format!("the handle belongs to {what}, but this function needs {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use library::PeerId;
    use std::time::Duration;

    fn message(payload: Bytes) -> Event {
        let peer = PeerId { index: 0, generation: 0 };
        Event::Message { peer, channel: 0, payload, age: Duration::ZERO }
    }

    #[test]
    fn forwarded_payloads_are_shared_and_other_bytes_are_copied() {
        let payloads: Vec<Bytes> = (0..100).map(|number| Bytes::from(vec![number; 20])).collect();
        let mut held = Held { events: payloads.iter().cloned().map(message).collect(), ..Held::default() };
        for payload in payloads.iter().step_by(LOOK_AHEAD - 1) {
            for _ in 0..2 {
                let shared = held.shared(payload.as_ptr(), 20).expect("the next but a few");
                assert_eq!(shared.as_ptr(), payload.as_ptr());
            }
            let part = held.shared(payload[5..].as_ptr(), 15).expect("its end");
            assert_eq!(part, payload[5..]);
            assert_eq!(held.shared(payload[5..].as_ptr(), 16), None, "beyond its end");
            assert_eq!(held.shared(payload.as_ptr(), 0), None, "nothing");
        }
        assert_eq!(held.shared(payloads[0].as_ptr(), 20), None, "one that was passed long ago is copied");
        let own = [7; 20];
        assert_eq!(held.shared(own.as_ptr(), 20), None);
        assert_eq!(held.shared(std::ptr::null(), 20), None);
        assert_eq!(held.shared(payloads[99].as_ptr(), usize::MAX), None);
        held.begin(Weak::new()).expect("nobody else polls");
        assert_eq!(held.shared(payloads[0].as_ptr(), 20), None, "its event is over");
    }
}
