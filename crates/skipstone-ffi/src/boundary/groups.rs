//! Groups of a server's peers, and messages to all of a group.

use super::both::{known, with};
use super::raw;
use crate::convert;
use crate::failure::Failure;
use crate::slot::State;
use crate::types::*;
use library::{BroadcastReceipt, Bytes, Group, PeerId, SendError, Server};

/// Sends one message to every connected member of a group; SKIPSTONE_EVERYONE has all that are connected. The bytes are copied,
/// once for all. `peers` gets the number of members for which it was accepted, `id` the message's number; both may be NULL.
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

/// Takes a peer out of a group.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_server_leave(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    group: SkipstoneGroup,
) -> SkipstoneStatus {
    with(server, |state| Ok(state.server()?.leave(convert::peer_id(peer), Group(group))?))
}

/// Sends the message, and tells for how many peers it was accepted and which number it has.
///
/// # Safety
/// `message` points to so many bytes; each of `receipt` is NULL or has room for its value.
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
