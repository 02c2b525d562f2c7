//! Functions that servers and clients have in common, except events.

use super::raw;
use crate::convert;
use crate::failure::{Failure, call};
use crate::slot::{Engine, State};
use crate::types::*;
use crate::{kept, table};
use library::PeerId;
use std::ffi::c_char;
use std::time::Duration;

/// Drives a stepped server or client: receives, handles timers and sends, waiting for the sockets for `wait_max_us` at
/// most. No effect with background threads.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_drive(handle: SkipstoneHandle, wait_max_us: u64) -> SkipstoneStatus {
    with(handle, |state| {
        let wait_max = Duration::from_micros(wait_max_us);
        match state.engine()? {
            Engine::Server(server) => server.drive(wait_max)?,
            Engine::Client(connection) => connection.client.drive(wait_max)?,
        }
        Ok(())
    })
}

/// Sends all messages that were queued since the last flush. A server needs it at the end of each tick, unless its
/// configuration says otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_flush(handle: SkipstoneHandle) -> SkipstoneStatus {
    with(handle, |state| {
        match state.engine()? {
            Engine::Server(server) => server.flush()?,
            Engine::Client(connection) => connection.client.flush()?,
        }
        Ok(())
    })
}

/// The reason why the handle's driver has ended; SKIPSTONE_STATUS_NOT_AVAILABLE while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_failure(
    handle: SkipstoneHandle,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> SkipstoneStatus {
    call(|| {
        let slot = table::find(handle)?;
        let failure = match slot.lock()?.engine()? {
            Engine::Server(server) => server.failure(),
            Engine::Client(connection) => connection.client.failure(),
        };
        let failure = failure.ok_or_else(|| not_available("the driver runs"))?;
        // SAFETY: the caller's pointers.
        unsafe { raw::put_text(&failure, buffer, capacity, length) }
    })
}

/// State and counters of one connection, up to 50 ms old. Set `overview->size` before the call.
/// SKIPSTONE_STATUS_NOT_AVAILABLE if there is no such connection, or none yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_overview(
    handle: SkipstoneHandle,
    peer: SkipstonePeer,
    overview: *mut SkipstoneOverview,
) -> SkipstoneStatus {
    call(|| {
        let slot = table::find(handle)?;
        let peer = convert::peer_id(peer);
        let figures = match slot.lock()?.engine()? {
            Engine::Server(server) => known(peer).and_then(|peer| server.overview(peer)),
            Engine::Client(connection) if connection.client.peer() == peer => connection.client.overview(),
            Engine::Client(_) => None,
        };
        let figures = figures.ok_or_else(|| not_available("the connection has no figures, or none yet"))?;
        // SAFETY: the caller's pointer.
        unsafe { raw::write("overview", overview, &convert::overview(peer, &figures)) }
    })
}

/// Counters of the drivers and their sockets, up to 50 ms old. Set `stats->size` before the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_driver_stats(
    handle: SkipstoneHandle,
    stats: *mut SkipstoneDriverStats,
) -> SkipstoneStatus {
    call(|| {
        let slot = table::find(handle)?;
        let figures = match slot.lock()?.engine()? {
            Engine::Server(server) => server.driver_stats(),
            Engine::Client(connection) => connection.client.driver_stats(),
        };
        // SAFETY: the caller's pointer.
        unsafe { raw::write("stats", stats, &convert::driver_stats(&figures)) }
    })
}

/// Ends a server or a client at once, without notifying its peers, and invalidates the handle. No thread may read its
/// events afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_release(handle: SkipstoneHandle) -> SkipstoneStatus {
    call(|| release(handle))
}

pub(super) fn release(handle: SkipstoneHandle) -> Result<(), Failure> {
    let slot = table::remove(handle)?;
    drop(kept::end(handle, &slot));
    Ok(())
}

/// Calls a function with the server or client of the handle, while no other call changes it.
pub(super) fn with(handle: SkipstoneHandle, body: impl FnOnce(&mut State) -> Result<(), Failure>) -> SkipstoneStatus {
    call(|| body(&mut *table::find(handle)?.lock()?))
}

/// A peer id that may be valid.
pub(super) fn known(peer: PeerId) -> Option<PeerId> {
    (peer.index != u32::MAX).then_some(peer)
}

pub(super) fn not_available(why: &str) -> Failure {
    Failure::new(SkipstoneStatus::NotAvailable, why)
}
