//! Groups of a server's peers, and broadcasts to them.

use super::both::{known, with};
use super::raw;
use crate::convert;
use crate::failure::Failure;
use crate::slot::State;
use crate::types::*;
use library::{BroadcastReceipt, Bytes, Group, PeerId, SendError, Server};

/// Sends one message to every connected member of a group; SKIPSTONE_EVERYONE contains all connected peers. The bytes
/// are copied once for all members. `peers` gets the number of members for which the message was accepted, `id` the
/// message's number; both may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_broadcast(
    server: SkipstoneServer,
    group: SkipstoneGroup,
    channel: u16,
    data: *const u8,
    length: usize,
    peers: *mut u32,
    id: *mut u64,
) -> SkipstoneStatus {
    with(server, |state| {
        let send = |server: &mut Server, payload| server.broadcast(Group(group), channel, payload);
        // SAFETY: the caller's pointers.
        unsafe { broadcast(state, (data, length), (peers, id), send) }
    })
}

/// As skipstone_server_broadcast, except to the `except_count` peers at `except`: usually the author of a message that
/// is passed on. A peer in that list that is not a member, or has disconnected, is ignored. Since version 1.2.
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
        // SAFETY: the caller's array.
        let except = unsafe { raw::items("except", except, except_count as usize) }?;
        let except: Vec<PeerId> = except.iter().filter_map(|peer| known(convert::peer_id(*peer))).collect();
        let send = |server: &mut Server, payload| server.broadcast_except(Group(group), &except, channel, payload);
        // SAFETY: the caller's pointers.
        unsafe { broadcast(state, (data, length), (peers, id), send) }
    })
}

/// Adds a peer to a group.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_server_join(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    group: SkipstoneGroup,
) -> SkipstoneStatus {
    with(server, |state| Ok(state.server()?.join(convert::peer_id(peer), Group(group))?))
}

/// Removes a peer from a group.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_server_leave(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    group: SkipstoneGroup,
) -> SkipstoneStatus {
    with(server, |state| Ok(state.server()?.leave(convert::peer_id(peer), Group(group))?))
}

/// Sends the message, and stores for how many peers it was accepted and its number.
///
/// # Safety
/// `message` points to `length` bytes; each pointer of `receipt` is NULL or has room for its value.
unsafe fn broadcast(
    state: &mut State,
    message: (*const u8, usize),
    receipt: (*mut u32, *mut u64),
    send: impl FnOnce(&mut Server, Bytes) -> Result<BroadcastReceipt, SendError>,
) -> Result<(), Failure> {
    let ((data, length), (peers, id)) = (message, receipt);
    raw::check_room("peers", peers, u32::from(!peers.is_null()))?;
    raw::check_room("id", id, u32::from(!id.is_null()))?;
    // SAFETY: the caller's promise.
    let payload = unsafe { raw::message(&mut state.held, data, length) }?;
    let sent = send(state.server()?, payload)?;
    // SAFETY: the caller's promise.
    unsafe { raw::put_if_wanted("peers", peers, sent.peers as u32) }?;
    // SAFETY: the caller's promise.
    unsafe { raw::put_if_wanted("id", id, sent.id.0) }
}
