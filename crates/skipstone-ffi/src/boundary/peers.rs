//! A server's peers: who is connected, from where, and broadcasts that leave some of them out.

use super::both::{known, not_available, with};
use super::raw;
use crate::convert;
use crate::failure::Failure;
use crate::types::*;
use library::{Group, PeerId};
use std::ffi::c_char;

/// As skipstone_server_broadcast, without the `except_count` members at `except`: most often without the one whose message is
/// passed on. A peer there that is no member, or has gone, changes nothing. Since version 1.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_broadcast_except(
    server: SkipstoneServer,
    group: SkipstoneGroup,
    except: *const SkipstonePeer,
    except_count: u32,
    channel: u16,
    data: *const u8,
    length: usize,
    peers: *mut u32,
    id: *mut u64,
) -> SkipstoneStatus {
    with(server, |state| {
        raw::check_room("peers", peers, u32::from(!peers.is_null()))?;
        raw::check_room("id", id, u32::from(!id.is_null()))?;
        // SAFETY: the caller's array.
        let except = unsafe { raw::items("except", except, except_count as usize) }?;
        let except: Vec<PeerId> = except.iter().filter_map(|peer| known(convert::peer_id(*peer))).collect();
        // SAFETY: the caller's buffer.
        let payload = unsafe { raw::message(&mut state.held, data, length) }?;
        let receipt = state.server()?.broadcast_except(Group(group), &except, channel, payload)?;
        // SAFETY: the caller's pointers.
        unsafe { raw::put_if_wanted("peers", peers, receipt.peers as u32) }?;
        // SAFETY: the caller's pointers.
        unsafe { raw::put_if_wanted("id", id, receipt.id.0) }
    })
}

/// The connected peers, up to `capacity` of them. `count` gets the number that there are. Since version 1.2.
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

/// The address of a client, "192.0.2.1:50000", from SKIPSTONE_EVENT_KIND_REQUESTED until SKIPSTONE_EVENT_KIND_CLOSED is polled;
/// SKIPSTONE_STATUS_NOT_AVAILABLE if there is no such client. Since version 1.2.
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

/// Denies these `count` addresses and networks ("192.0.2.7", "192.0.2.0/24", "2001:db8::/32") and no others: on every carrier
/// nothing of them is heard, kept or answered. A native player's connection that stands hears nothing more: close it first. On an
/// error all stays as it was. Since version 1.2.
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
