//! Reconnecting: by a call of the application, or automatically.

use super::both::{not_available, with};
use super::raw;
use crate::convert;
use crate::failure::Failure;
use crate::types::*;
use library::{Client, Close, ClosedBy, code};

/// Begins a new connection after SKIPSTONE_EVENT_KIND_CLOSED, with the URL and configuration of the first, and with the
/// latest token: the one of skipstone_client_set_token, or else the first. If the server closed with
/// SKIPSTONE_CLOSE_CODE_RESTART and named another address (`at=HOST:PORT` in the reason), the connection goes there; if
/// that server does not admit the client, the next one goes to the first URL again. Pause before the call, longer each
/// time, with a random part where many clients lose a server at the same time. Its events have the same `peer` as those
/// of the first.
///
/// A client with `reconnects` needs it only after it has given up.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_client_reconnect(client: SkipstoneClient) -> SkipstoneStatus {
    with(client, |state| {
        let connection = state.connection()?;
        if !connection.is_closed {
            let text = "the connection has not ended, or the client connects again by itself: close it, or wait for \
                        the event that it is closed";
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

/// The time until a client with `reconnects` connects again: call it while handling SKIPSTONE_EVENT_KIND_CLOSED, before
/// the next poll, which may begin the next attempt. SKIPSTONE_STATUS_NOT_AVAILABLE if there is no next attempt, because
/// the close was final or no attempt is left, or while the client is connected or connecting. The next connection is a
/// new one, which begins with SKIPSTONE_EVENT_KIND_CONNECTED; queued messages are not transferred to it. An attempt
/// that cannot begin, because the system refuses a socket, causes no event unless it is the last. Since version 1.3.
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

/// Sets the token of later connections: what the server gave the client for its session, in place of the first token.
/// Up to 1,024 bytes; after an error the previous token stays. Since version 1.3.
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
