//! Clients.

use super::both::{not_available, with};
use super::{client_config, raw};
use crate::convert;
use crate::failure::{Failure, call};
use crate::slot::{Connection, Engine, Slot};
use crate::types::*;
use crate::{kept, table};
use library::{Client, Destination};
use std::ffi::c_char;
use std::time::Duration;

/// Sets the defaults: a client that trusts the system's certificate authorities. `size` is
/// sizeof(SkipstoneClientConfig).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_config_init(
    config: *mut SkipstoneClientConfig,
    size: u32,
) -> SkipstoneStatus {
    // SAFETY: the caller's pointer.
    call(|| unsafe { raw::initialise("config", config, &convert::client_defaults(), size) })
}

/// Begins to connect; SKIPSTONE_EVENT_KIND_CONNECTED or SKIPSTONE_EVENT_KIND_CLOSED follows. The URL is
/// `skip://host:port#sha256=...` (encrypted), `skip+plain://`, `skip+dtls://`, `ws://`, `wss://` or `tcp://`. The
/// server decides by the token, of up to 1,024 bytes, whether to accept. `config` may be NULL for the defaults.
/// `client` gets the handle, which skipstone_client_close or skipstone_release ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_connect(
    url: *const c_char,
    token: *const u8,
    token_length: usize,
    config: *const SkipstoneClientConfig,
    client: *mut SkipstoneClient,
) -> SkipstoneStatus {
    call(|| {
        // SAFETY: the caller's pointers.
        unsafe { raw::put("client", client, 0) }?;
        // SAFETY: the caller's pointers.
        let url = unsafe { raw::text("url", url) }?;
        // SAFETY: the caller's pointers.
        let token = unsafe { raw::bytes("token", token, token_length) }?;
        // SAFETY: the caller's pointers.
        let config = unsafe { client_config::read(config) }?;
        let connected = Client::connect(url, token, config.clone())?;
        let handle = add(connected, Destination::new(url).ok(), token, config)?;
        // SAFETY: it was written to above.
        unsafe { client.write(handle) };
        Ok(())
    })
}

/// Connects to a server in this process: for a single player, or for the host of a listen server. Events and channels
/// are the same as over a network, without sockets and encryption. `config` may be NULL for the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_connect_local(
    server: SkipstoneServer,
    token: *const u8,
    token_length: usize,
    config: *const SkipstoneClientConfig,
    client: *mut SkipstoneClient,
) -> SkipstoneStatus {
    call(|| {
        // SAFETY: the caller's pointers.
        unsafe { raw::put("client", client, 0) }?;
        // SAFETY: the caller's pointers.
        let token = unsafe { raw::bytes("token", token, token_length) }?;
        // SAFETY: the caller's pointers.
        let config = unsafe { client_config::read(config) }?;
        let connected = table::find(server)?.lock()?.server()?.connect_local(token, config.clone())?;
        let handle = add(connected, None, token, config)?;
        // SAFETY: it was written to above.
        unsafe { client.write(handle) };
        Ok(())
    })
}

/// Closes the connection and invalidates the handle. Queued reliable messages have `linger_us` to arrive first; the
/// call returns when the server has confirmed the close, or soon after `linger_us`. `reason` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_close(
    client: SkipstoneClient,
    code: u64,
    reason: *const c_char,
    linger_us: u64,
) -> SkipstoneStatus {
    call(|| {
        // SAFETY: the caller's text.
        let reason = unsafe { raw::text_or_none("reason", reason) }?.unwrap_or("");
        // Another kind of handle is not ended.
        table::find(client)?.lock()?.connection()?;
        let slot = table::remove(client)?;
        let engine = kept::end(client, &slot);
        if let Some(Engine::Client(connection)) = engine {
            connection.client.close(code, reason, Duration::from_micros(linger_us));
        }
        Ok(())
    })
}

/// Sends a message of `length` bytes to the server. Otherwise as skipstone_server_send.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_send(
    client: SkipstoneClient,
    channel: u16,
    data: *const u8,
    length: usize,
    age_us: u64,
    id: *mut u64,
) -> SkipstoneStatus {
    with(client, |state| {
        raw::check_room("id", id, u32::from(!id.is_null()))?;
        // SAFETY: the caller's buffer.
        let payload = unsafe { raw::message(&mut state.held, data, length) }?;
        let connection = state.connection()?;
        let sent = connection.client.send_aged(channel, payload, Duration::from_micros(age_us))?;
        // SAFETY: the caller's pointer.
        unsafe { raw::put_if_wanted("id", id, sent.0) }
    })
}

/// The number that identifies the connection in events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_peer(client: SkipstoneClient, peer: *mut SkipstonePeer) -> SkipstoneStatus {
    with(client, |state| {
        let number = convert::peer_number(state.connection()?.client.peer());
        // SAFETY: the caller's pointer.
        unsafe { raw::put("peer", peer, number) }
    })
}

/// The server's address as text; SKIPSTONE_STATUS_NOT_AVAILABLE while none of the addresses of its name has answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_server_address(
    client: SkipstoneClient,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> SkipstoneStatus {
    with(client, |state| {
        let address = state.connection()?.client.remote_addr();
        let address = address.ok_or_else(|| not_available("no address of the server's name has answered yet"))?;
        // SAFETY: the caller's pointers.
        unsafe { raw::put_text(&address.to_string(), buffer, capacity, length) }
    })
}

/// The rule of a channel in the server's settings; SKIPSTONE_STATUS_NOT_AVAILABLE before
/// SKIPSTONE_EVENT_KIND_CONNECTED. Set `rule->size` before the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_channel(
    client: SkipstoneClient,
    channel: u16,
    rule: *mut SkipstoneChannel,
) -> SkipstoneStatus {
    with(client, |state| {
        let settings = state.connection()?.settings.clone();
        let settings = settings.ok_or_else(|| not_available("the client has not been connected"))?;
        let found = settings.rule(channel).ok_or_else(|| {
            let text = format!("the server's channel table has no rule for channel {channel}");
            Failure::new(SkipstoneStatus::NoSuchChannel, text)
        })?;
        // SAFETY: the caller's pointer.
        unsafe { raw::write("rule", rule, &convert::channel_of(found)) }
    })
}

/// Migrates the connection to a new socket, after the system has reported a change of network. `has_moved`, which may
/// be NULL, gets 0 if the connection is not established, or is a stream, which cannot migrate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_rebind(client: SkipstoneClient, has_moved: *mut u32) -> SkipstoneStatus {
    with(client, |state| {
        raw::check_room("has_moved", has_moved, u32::from(!has_moved.is_null()))?;
        let moved = state.connection()?.client.rebind()?;
        // SAFETY: the caller's pointer.
        unsafe { raw::put_if_wanted("has_moved", has_moved, u32::from(moved)) }
    })
}

/// The estimated current time of the server's clock; SKIPSTONE_STATUS_NOT_AVAILABLE until the server has answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_server_time(
    client: SkipstoneClient,
    time: *mut SkipstoneServerTime,
) -> SkipstoneStatus {
    with(client, |state| {
        let estimate = state.connection()?.client.server_time();
        let estimate = estimate.ok_or_else(|| not_available("the server has not told its time yet"))?;
        let (at_us, error_us) = (convert::micros(estimate.at), convert::micros(estimate.error));
        // SAFETY: the caller's pointer.
        unsafe { raw::put("time", time, SkipstoneServerTime { at_us, error_us }) }
    })
}

fn add(
    client: Client,
    destination: Option<Destination>,
    token: &[u8],
    config: library::ClientConfig,
) -> Result<u64, Failure> {
    let connection =
        Connection { client, destination, token: token.to_owned(), config, settings: None, is_closed: false };
    table::add(Slot::new(Engine::Client(Box::new(connection))))
}
