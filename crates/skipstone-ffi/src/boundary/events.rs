//! Events: copied from the library's queue to the caller's array. Their bytes are not copied; they are lent until the
//! next poll.

use super::raw;
use crate::convert;
use crate::failure::{Failure, call};
use crate::slot::{Engine, Held, State};
use crate::types::*;
use crate::{identity, kept, slot, table};
use library::{Destination, Event};
use std::ffi::{CString, c_char};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Takes up to `capacity` events, and stores their number in `count`.
///
/// What the events point to is valid until the next call with this handle. Only one thread polls a handle: another
/// thread gets SKIPSTONE_STATUS_WRONG_THREAD until the first one has called this function with a `capacity` of 0, which
/// returns its events, or has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_poll(
    handle: SkipstoneHandle,
    events: *mut SkipstoneEvent,
    capacity: u32,
    count: *mut u32,
) -> SkipstoneStatus {
    call(|| {
        // SAFETY: the caller's pointer.
        unsafe { raw::put("count", count, 0) }?;
        raw::check_room("events", events, capacity)?;
        let slot = table::find(handle).inspect_err(|_| kept::give_back(handle))?;
        let mut state = slot.lock()?;
        state.held.begin(kept::reader())?;
        if let Engine::Server(server) = state.engine().inspect_err(|_| kept::give_back(handle))? {
            identity::log_events(server);
        }
        if capacity == 0 {
            state.held.release();
            return Ok(());
        }
        let mut taken = 0;
        while taken < capacity {
            let Some(event) = next(&mut state)? else { break };
            // SAFETY: the array has room for `capacity` events.
            unsafe { events.add(taken as usize).write(lend(&mut state.held, event)) };
            taken += 1;
        }
        // SAFETY: it was written to above.
        unsafe { count.write(taken) };
        Ok(())
    })
}

/// Waits until there is an event, for `timeout_us` at most. It returns at the first event, so a loop with a fixed rate
/// calls `skipstone_wait_tick` instead. Other threads may use the handle meanwhile, but only one may wait: a second one
/// gets SKIPSTONE_STATUS_WRONG_THREAD. A stepped handle is driven during the wait, and other threads cannot use it.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_wait(handle: SkipstoneHandle, timeout_us: u64) -> SkipstoneStatus {
    call(|| {
        let span = Duration::from_micros(timeout_us);
        let slot = table::find(handle)?;
        let _right = slot.wait_alone()?;
        let mut state = slot.lock()?;
        let (waiter, span) = match state.engine()? {
            Engine::Server(server) => (server.waiter(), span),
            // The next poll then begins the next connection.
            Engine::Client(connection) => {
                let client = &connection.client;
                (client.waiter(), client.returns_in().map_or(span, |pause| span.min(pause)))
            }
        };
        if let Some(waiter) = waiter {
            drop(state);
            waiter.wait(span);
            return Ok(());
        }
        match state.engine()? {
            Engine::Server(server) => server.wait(span),
            Engine::Client(connection) => connection.client.wait(span),
        }
        Ok(())
    })
}

/// Waits for the next tick of a loop that runs once per `interval_us`, regardless of how many events arrive:
/// `skipstone_poll` returns them afterwards. The first tick is due one interval after the first call, each later one an
/// interval after the previous one was due. Ticks that are late by a whole interval or more are skipped; `missed`,
/// unless it is NULL, gets their number. Other threads may use the handle meanwhile, but not wait. A stepped handle is
/// driven during the wait, and other threads cannot use it. Since version 1.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_wait_tick(
    handle: SkipstoneHandle,
    interval_us: u64,
    missed: *mut u64,
) -> SkipstoneStatus {
    call(|| {
        let slot = table::find(handle)?;
        let _right = slot.wait_alone()?;
        let mut state = slot.lock()?;
        let tick = state.ticks.next_after(Instant::now(), Duration::from_micros(interval_us));
        // SAFETY: the caller's pointer.
        unsafe { raw::put_if_wanted("missed", missed, tick.missed) }?;
        let has_thread = match state.engine()? {
            Engine::Server(server) => server.waiter().is_some(),
            Engine::Client(connection) => connection.client.waiter().is_some(),
        };
        if has_thread {
            drop(state);
            return sleep_until(tick.due, handle);
        }
        match state.engine()? {
            Engine::Server(server) => server.wait_until(tick.due),
            Engine::Client(connection) => connection.client.wait_until(tick.due),
        }
        Ok(())
    })
}

/// Sleeps until the deadline, or until another thread ends the handle.
fn sleep_until(deadline: Instant, handle: SkipstoneHandle) -> Result<(), Failure> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK_SPAN));
        table::find(handle).map_err(|_| slot::ended())?;
    }
}

/// How often a thread that waits for a tick checks that the handle still exists.
const LOOK_SPAN: Duration = Duration::from_millis(50);

/// The next event; the handle remembers the parts that later calls need.
fn next(state: &mut State) -> Result<Option<Event>, Failure> {
    match state.engine()? {
        Engine::Server(server) => Ok(server.poll_event()),
        Engine::Client(connection) => {
            let event = connection.client.poll_event();
            match &event {
                Some(Event::Connected { settings, .. }) => {
                    connection.settings = Some(settings.clone());
                    connection.destination.iter_mut().for_each(Destination::on_connected);
                }
                Some(Event::Closed { close, .. }) => {
                    // A client that reconnects by itself has ended with its last connection.
                    connection.is_closed = connection.client.returns_in().is_none();
                    if let Some(destination) = &mut connection.destination {
                        destination.on_closed(close);
                    }
                }
                _ => {}
            }
            Ok(event)
        }
    }
}

/// The event in the caller's form. What it points to is kept.
fn lend(held: &mut Held, event: Event) -> SkipstoneEvent {
    let mut lent = SkipstoneEvent {
        kind: 0,
        channel: 0,
        detail: 0,
        peer: convert::peer_number(event.peer()),
        data: std::ptr::null(),
        length: 0,
        age_us: 0,
        id: 0,
        code: 0,
        address: std::ptr::null(),
        reserved: 0,
    };
    match &event {
        Event::Requested { token, remote, .. } => {
            lent.kind = SkipstoneEventKind::Requested as u32;
            lend_bytes(&mut lent, token);
            lent.address = address(held, *remote);
        }
        Event::Connected { .. } => lent.kind = SkipstoneEventKind::Connected as u32,
        Event::Message { channel, payload, age, .. } => {
            lent.kind = SkipstoneEventKind::Message as u32;
            lent.channel = *channel;
            lend_bytes(&mut lent, payload);
            lent.age_us = u32::try_from(age.as_micros()).unwrap_or(u32::MAX);
        }
        Event::Acknowledged { id, channel, .. } => {
            lent.kind = SkipstoneEventKind::Acknowledged as u32;
            (lent.id, lent.channel) = (id.0, *channel);
        }
        Event::GivenUp { id, channel, why, .. } => {
            lent.kind = SkipstoneEventKind::GivenUp as u32;
            (lent.id, lent.channel) = (id.0, *channel);
            lent.detail = convert::given_up(*why) as u16;
        }
        Event::PathChanged { path, .. } => {
            lent.kind = SkipstoneEventKind::PathChanged as u32;
            lent.address = address(held, path.remote);
        }
        Event::Closed { close, .. } => {
            lent.kind = SkipstoneEventKind::Closed as u32;
            lent.code = close.code;
            lend_bytes(&mut lent, &close.reason);
            lent.detail = convert::closed_by(close.by) as u16;
        }
        // A kind without a number in this version.
        _ => {}
    }
    held.events.push(event);
    lent
}

/// The bytes of an event do not move with the event: they are on the heap.
fn lend_bytes(lent: &mut SkipstoneEvent, bytes: &library::Bytes) {
    // An empty slice has a dangling pointer, which must not reach the runtime of another language.
    if bytes.is_empty() {
        return;
    }
    lent.data = bytes.as_ptr();
    // A message's length always fits into a u32.
    lent.length = bytes.len() as u32;
}

fn address(held: &mut Held, address: SocketAddr) -> *const c_char {
    let text = CString::new(address.to_string()).expect("no address has a NUL in it");
    held.texts.push(text);
    held.texts[held.texts.len() - 1].as_ptr()
}
