//! Servers.

use super::both::{not_available, with};
use super::{raw, server_config};
use crate::convert;
use crate::failure::{Failure, call};
use crate::slot::{Engine, Slot, State};
use crate::types::*;
use crate::{identity, kept, log, table};
use library::{Server, code};
use std::ffi::c_char;
use std::time::Duration;

/// Sets the defaults: a server that encrypts with a self-signed certificate, accepts every carrier and merges messages
/// until skipstone_flush. `size` is sizeof(SkipstoneServerConfig).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_config_init(
    config: *mut SkipstoneServerConfig,
    size: u32,
) -> SkipstoneStatus {
    // SAFETY: the caller's pointer.
    call(|| unsafe { raw::initialise("config", config, &convert::server_defaults(), size) })
}

/// Sets the defaults of a SkipstoneDelivery for the channels from `first` to `last`. `size` is
/// sizeof(SkipstoneChannel).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_channel_init(
    channel: *mut SkipstoneChannel,
    size: u32,
    first: u16,
    last: u16,
    delivery: u32,
) -> SkipstoneStatus {
    call(|| {
        let rule = library::ChannelRule::new(first..=last, convert::delivery(delivery)?);
        // SAFETY: the caller's pointer.
        unsafe { raw::initialise("channel", channel, &convert::channel_of(&rule), size) }
    })
}

/// Sets a rule for the channels from `first` to `last` without any limit. `size` is sizeof(SkipstoneInboundRule).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_inbound_rule_init(
    rule: *mut SkipstoneInboundRule,
    size: u32,
    first: u16,
    last: u16,
) -> SkipstoneStatus {
    call(|| {
        let defaults = convert::inbound_of(&library::InboundRule::new(first..=last));
        // SAFETY: the caller's pointer.
        unsafe { raw::initialise("rule", rule, &defaults, size) }
    })
}

/// Opens the sockets and begins to serve. `server` gets the handle, which skipstone_server_stop or skipstone_release
/// ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_start(
    config: *const SkipstoneServerConfig,
    server: *mut SkipstoneServer,
) -> SkipstoneStatus {
    call(|| {
        // SAFETY: the caller's pointers.
        unsafe { raw::put("server", server, 0) }?;
        // SAFETY: the caller's pointers.
        let config = unsafe { server_config::read(config) }?;
        let started = Server::start(config)?;
        started.warnings().iter().for_each(|warning| log::warn(warning));
        let handle = table::add(Slot::new(Engine::Server(Box::new(started))))?;
        // SAFETY: it was written to above.
        unsafe { server.write(handle) };
        Ok(())
    })
}

/// Closes every connection, stops the server and invalidates the handle. Queued reliable messages have `linger_us` to
/// arrive; the call takes little longer. `reason` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_stop(
    server: SkipstoneServer,
    code: u64,
    reason: *const c_char,
    linger_us: u64,
) -> SkipstoneStatus {
    call(|| {
        // SAFETY: the caller's text.
        let reason = unsafe { raw::text_or_none("reason", reason) }?.unwrap_or("");
        // Another kind of handle is not ended.
        table::find(server)?.lock()?.server()?;
        let slot = table::remove(server)?;
        let engine = kept::end(server, &slot);
        if let Some(Engine::Server(server)) = engine {
            server.shutdown(code, reason, Duration::from_micros(linger_us));
        }
        Ok(())
    })
}

/// Accepts a client that asked to connect. SKIPSTONE_EVENT_KIND_CONNECTED follows.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_server_accept(server: SkipstoneServer, peer: SkipstonePeer) -> SkipstoneStatus {
    with(server, |state| Ok(state.server()?.accept(convert::peer_id(peer))?))
}

/// Refuses a client that asked to connect. It receives the code and up to 512 bytes of the reason, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_refuse(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    code: u64,
    reason: *const c_char,
) -> SkipstoneStatus {
    // SAFETY: the caller's text.
    with(server, |state| unsafe { close(state, peer, code, reason, 0) })
}

/// Closes a connection. Queued reliable messages have `linger_us` to arrive first; SKIPSTONE_EVENT_KIND_CLOSED follows.
/// The peer receives the code (those below 1,000 are the application's own) and up to 512 bytes of the reason, which
/// may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_close(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    code: u64,
    reason: *const c_char,
    linger_us: u64,
) -> SkipstoneStatus {
    // SAFETY: the caller's text.
    with(server, |state| unsafe { close(state, peer, code, reason, linger_us) })
}

/// Removes a peer at once: skipstone_server_close with SKIPSTONE_CLOSE_CODE_KICKED and without linger.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_kick(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    reason: *const c_char,
) -> SkipstoneStatus {
    // SAFETY: the caller's text.
    with(server, |state| unsafe { close(state, peer, code::KICKED, reason, 0) })
}

/// Sends a message of `length` bytes to one peer. The bytes are copied once; the payload of an event, passed on in the
/// order of the events, is not even copied, so do not modify what an event points to. `id`, which may be NULL, gets the
/// message's number in later events.
///
/// An accepted message on a reliable channel is delivered, or ends in SKIPSTONE_EVENT_KIND_GIVEN_UP, or its connection
/// ends. `age_us` is 0, or the age of the message that this one answers or passes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_send(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    channel: u16,
    data: *const u8,
    length: usize,
    age_us: u64,
    id: *mut u64,
) -> SkipstoneStatus {
    with(server, |state| {
        raw::check_room("id", id, u32::from(!id.is_null()))?;
        // SAFETY: the caller's buffer.
        let payload = unsafe { raw::message(&mut state.held, data, length) }?;
        let server = state.server()?;
        let sent = server.send_aged(convert::peer_id(peer), channel, payload, Duration::from_micros(age_us))?;
        // SAFETY: the caller's pointer.
        unsafe { raw::put_if_wanted("id", id, sent.0) }
    })
}

/// Sets when messages to one peer are sent: as `merging_us` in the configuration.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_server_set_merging(
    server: SkipstoneServer,
    peer: SkipstonePeer,
    merging_us: u64,
) -> SkipstoneStatus {
    with(server, |state| Ok(state.server()?.set_merging(convert::peer_id(peer), convert::merging(merging_us))?))
}

/// Sets the answer to queries of server browsers, which have no connection, up to 1,181 bytes; NULL for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_set_query_answer(
    server: SkipstoneServer,
    answer: *const u8,
    length: usize,
) -> SkipstoneStatus {
    with(server, |state| {
        let server = state.server()?;
        let answer = match answer.is_null() {
            true => None,
            // SAFETY: the caller's buffer.
            false => Some(unsafe { raw::payload(answer, length) }?),
        };
        server.set_query_answer(answer).map_err(|error| match error {
            library::QueryAnswerError::Driver(error) => error.into(),
            error => Failure::new(SkipstoneStatus::TooLong, error.to_string()),
        })
    })
}

/// The URL by which clients on this machine reach the server, with its fingerprint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_url(
    server: SkipstoneServer,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> SkipstoneStatus {
    // SAFETY: the caller's pointers.
    with(server, |state| unsafe { raw::put_text(&state.server()?.url(), buffer, capacity, length) })
}

/// The URL by which pages on this machine reach the server by WebTransport; SKIPSTONE_STATUS_NOT_AVAILABLE if it has
/// none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_webtransport_url(
    server: SkipstoneServer,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> SkipstoneStatus {
    with(server, |state| {
        let url = state.server()?.webtransport_url();
        let url = url.ok_or_else(|| not_available("the server does not serve WebTransport"))?;
        // SAFETY: the caller's pointers.
        unsafe { raw::put_text(&url, buffer, capacity, length) }
    })
}

/// The address on which the server listens, "0.0.0.0:7777".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_address(
    server: SkipstoneServer,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> SkipstoneStatus {
    with(server, |state| {
        let address = state.server()?.local_addr().to_string();
        // SAFETY: the caller's pointers.
        unsafe { raw::put_text(&address, buffer, capacity, length) }
    })
}

/// The port on which the server listens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_port(server: SkipstoneServer, port: *mut u16) -> SkipstoneStatus {
    // SAFETY: the caller's pointer.
    with(server, |state| unsafe { raw::put("port", port, state.server()?.local_addr().port()) })
}

/// SHA-256 of the server's certificate, SKIPSTONE_FINGERPRINT_BYTES bytes; SKIPSTONE_STATUS_NOT_AVAILABLE if the server
/// does not encrypt.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_fingerprint(
    server: SkipstoneServer,
    fingerprint: *mut u8,
) -> SkipstoneStatus {
    with(server, |state| {
        let own = state.server()?.fingerprint();
        let own = own.ok_or_else(|| not_available("the server has no certificate: it does not encrypt"))?;
        // SAFETY: the caller's pointer, to SKIPSTONE_FINGERPRINT_BYTES bytes.
        unsafe { raw::put("fingerprint", fingerprint.cast::<[u8; 32]>(), own.0) }
    })
}

/// SHA-256 of the certificates that browsers accept by their hash (`serverCertificateHashes`): the current one and the
/// next one. Writes up to `capacity` of them, SKIPSTONE_FINGERPRINT_BYTES bytes each; `count` gets their total number:
/// 0 if the certificate is signed by an authority that browsers trust. Since version 1.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_web_fingerprints(
    server: SkipstoneServer,
    fingerprints: *mut u8,
    capacity: u32,
    count: *mut u32,
) -> SkipstoneStatus {
    with(server, |state| {
        raw::check_room("fingerprints", fingerprints, capacity)?;
        let all = identity::web_fingerprints(state.server()?);
        for (index, fingerprint) in all.iter().take(capacity as usize).enumerate() {
            // SAFETY: there is room for `capacity` of them.
            let place = unsafe { fingerprints.cast::<[u8; 32]>().add(index) };
            // SAFETY: as above.
            unsafe { raw::put("fingerprints", place, fingerprint.0) }?;
        }
        // SAFETY: the caller's pointer.
        unsafe { raw::put("count", count, all.len() as u32) }
    })
}

/// How long the server has been running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_time(server: SkipstoneServer, time_us: *mut u64) -> SkipstoneStatus {
    // SAFETY: the caller's pointer.
    with(server, |state| unsafe { raw::put("time_us", time_us, convert::micros(state.server()?.time())) })
}

/// Counters of all connections, past and present, up to 50 ms old. Set `stats->size` before the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_stats(
    server: SkipstoneServer,
    stats: *mut SkipstoneStats,
) -> SkipstoneStatus {
    // SAFETY: the caller's pointer.
    with(server, |state| unsafe { raw::write("stats", stats, &convert::stats(&state.server()?.stats())) })
}

/// State and counters of every connection, up to `capacity` of them. `count` gets their total number. Set the `size` of
/// each before the call. For display: the cost grows with the number of connections.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_server_overviews(
    server: SkipstoneServer,
    overviews: *mut SkipstoneOverview,
    capacity: u32,
    count: *mut u32,
) -> SkipstoneStatus {
    with(server, |state| {
        raw::check_room("overviews", overviews, capacity)?;
        let all = state.server()?.overviews();
        let used = (all.len() as u32).min(capacity);
        let figures = all.iter().map(|(peer, overview)| convert::overview(*peer, overview));
        // SAFETY: the array has room for `capacity` of them.
        unsafe { raw::write_all("overviews", overviews, used, figures) }?;
        // SAFETY: the caller's pointer.
        unsafe { raw::put("count", count, all.len() as u32) }
    })
}

/// # Safety
/// `reason` is NULL or NUL-terminated.
unsafe fn close(
    state: &mut State,
    peer: SkipstonePeer,
    code: u64,
    reason: *const c_char,
    linger_us: u64,
) -> Result<(), Failure> {
    let server = state.server()?;
    // SAFETY: the caller's promise.
    let reason = unsafe { raw::text_or_none("reason", reason) }?.unwrap_or("");
    Ok(server.close(convert::peer_id(peer), code, reason, Duration::from_micros(linger_us))?)
}
