//! Connecting again: by the application, or by a client that does so by itself.

use super::both::{not_available, with};
use super::raw;
use crate::convert;
use crate::failure::Failure;
use crate::types::*;
use library::{Client, Close, ClosedBy, code};

/// Begins a new connection with the URL and configuration of the first and the newest token, that of
/// skipstone_client_set_token or else the first, after SKIPSTONE_EVENT_KIND_CLOSED. Where the server closed with
/// SKIPSTONE_CLOSE_CODE_RESTART and named another address (`at=HOST:PORT` in the reason), the connection goes there; and to
/// the first URL again if that server does not let the client in. Wait before it, longer each time, and add a part at random
/// where many clients lose a server at the same moment. Its events have the same `peer` as those of the first.
///
/// A client that `reconnects` by itself needs it only when it has given up.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_client_reconnect(client: SkipstoneClient) -> SkipstoneStatus {
    with(client, |state| {
        let connection = state.connection()?;
        if !connection.is_closed {
            let text = "the connection has not ended, or the client connects again by itself: close it, or wait for the event \
                        that it is closed";
            return Err(Failure::new(SkipstoneStatus::StillOpen, text));
        }
        let Some(destination) = &mut connection.destination else {
            let text = "a client of a server in this process does not reconnect: connect a new one";
            return Err(Failure::new(SkipstoneStatus::BadUrl, text));
        };
        let connected = Client::connect(destination.url(), &connection.token, connection.config.clone());
        connection.client = connected.inspect_err(|error| {
            let reason = error.to_string().into();
            destination.on_closed(&Close { by: ClosedBy::Nobody, code: code::UNREACHABLE, reason });
        })?;
        connection.is_closed = false;
        Ok(())
    })
}

/// How long it is until a client that `reconnects` connects again by itself: ask while handling SKIPSTONE_EVENT_KIND_CLOSED, before
/// the next poll, which may begin the next attempt. SKIPSTONE_STATUS_NOT_AVAILABLE if it does not, because that end is final or no
/// attempt is left, or while it is connected or connecting. A connection of its own follows, which begins with
/// SKIPSTONE_EVENT_KIND_CONNECTED; nothing that was queued is taken along. An attempt that cannot begin, because the system refuses a
/// socket, gives no event unless it is the last. Since version 1.3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_returns_in(client: SkipstoneClient, pause_us: *mut u64) -> SkipstoneStatus {
    with(client, |state| {
        let pause = state.connection()?.client.returns_in();
        let pause =
            pause.ok_or_else(|| not_available("the client does not connect again by itself, or already does"))?;
        // SAFETY: the caller's pointer.
        unsafe { raw::put("pause_us", pause_us, convert::micros(pause)) }
    })
}

/// Sets the token of the connections that follow this one: what the server gave the client for its session, in place of what it
/// first came with. Up to 1,024 bytes; after an error the one before stays. Since version 1.3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_client_set_token(
    client: SkipstoneClient,
    token: *const u8,
    token_length: usize,
) -> SkipstoneStatus {
    with(client, |state| {
        // SAFETY: the caller's pointers.
        let token = unsafe { raw::bytes("token", token, token_length) }?;
        let connection = state.connection()?;
        connection.client.set_token(token)?;
        connection.token = token.to_owned();
        Ok(())
    })
}
