//! The connected peers of a server, their addresses, and the denied addresses.

use super::both::{known, not_available, with};
use super::raw;
use crate::convert;
use crate::failure::Failure;
use crate::types::*;
use library::PeerId;
use std::ffi::c_char;

/// The connected peers, up to `capacity` of them. `count` gets their total number. Since version 1.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_peers(
    server: SkipstoneServer,
    peers: *mut SkipstonePeer,
    capacity: u32,
    count: *mut u32,
) -> SkipstoneStatus {
    with(server, |state| {
        raw::check_room("peers", peers, capacity)?;
        let all: Vec<PeerId> = state.server()?.peers().collect();
        for (index, peer) in all.iter().take(capacity as usize).enumerate() {
            // SAFETY: there is room for `capacity` of them.
            let place = unsafe { peers.add(index) };
            // SAFETY: as above.
            unsafe { raw::put("peers", place, convert::peer_number(*peer)) }?;
        }
        // SAFETY: the caller's pointer.
        unsafe { raw::put("count", count, all.len() as u32) }
    })
}

/// The address of a client, "192.0.2.1:50000", from SKIPSTONE_EVENT_KIND_REQUESTED until SKIPSTONE_EVENT_KIND_CLOSED is
/// polled; SKIPSTONE_STATUS_NOT_AVAILABLE if there is no such client. Since version 1.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_peer_address(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> SkipstoneStatus {
    with(server, |state| {
        let server = state.server()?;
        let address = known(convert::peer_id(peer)).and_then(|peer| server.remote_addr(peer));
        let address = address.ok_or_else(|| not_available("the server has no such client"))?;
        // SAFETY: the caller's pointers.
        unsafe { raw::put_text(&address.to_string(), buffer, capacity, length) }
    })
}

/// Denies these `count` addresses and networks ("192.0.2.7", "192.0.2.0/24", "2001:db8::/32") and no others: on every
/// carrier the server ignores all datagrams and streams of new clients from them, keeps no state for them and does not
/// answer. Connected players on UDP (native, DTLS, WebTransport) are ignored too and end by the idle timeout; those on
/// streams and local clients stay: close them first. After an error the previous list still applies. Since version 1.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_set_denied(
    server: SkipstoneServer,
    networks: *const *const c_char,
    count: u32,
) -> SkipstoneStatus {
    with(server, |state| {
        // SAFETY: the caller's array of texts.
        let networks = unsafe { raw::texts("networks", networks, count) }?;
        state.server()?.set_denied(&networks).map_err(|error| match error {
            library::DenyError::Driver(error) => error.into(),
            error => Failure::new(SkipstoneStatus::BadValue, error.to_string()),
        })
    })
}
