//! DTLS sessions of clients, each around a UDP socket of its own. Packets wait until the session is established.

use super::Driver;
use super::dial::Dial;
use super::secured::Secured;
use super::sockets::{Socket, Sockets};
use skipstone_proto::{Endpoint, Path, Time, code};

/// Handles a datagram of a client's server, by the client's session if it has one.
pub(super) fn take_own(
    endpoint: &mut Endpoint,
    dial: &mut Option<Box<Dial>>,
    secured: &mut Option<Box<Secured>>,
    now: Time,
    path: Path,
    bytes: &mut [u8],
) {
    match secured {
        Some(secured) if Endpoint::is_session_reset(bytes) => {
            if secured.session.is_established() {
                endpoint.handle_datagram(now, path, bytes);
            }
        }
        Some(secured) => {
            // A datagram that does not belong to the session was forged or is late, so the result is ignored.
            secured.session.handle_datagram(now, bytes, &mut |content| take_plain(endpoint, dial, now, path, content));
        }
        None => take_plain(endpoint, dial, now, path, bytes),
    }
}

/// Handles a client's datagram, which may be the first answer of a server with several addresses.
fn take_plain(endpoint: &mut Endpoint, dial: &mut Option<Box<Dial>>, now: Time, path: Path, bytes: &mut [u8]) {
    if let Some(dial) = dial {
        dial.on_datagram(endpoint, path, bytes);
    }
    endpoint.handle_datagram(now, path, bytes);
}

impl Sockets {
    fn secured(&mut self, number: u32) -> Option<&mut Secured> {
        match self.all.get_mut(number as usize) {
            Some(Socket::Own(own)) => own.secured.as_deref_mut(),
            _ => None,
        }
    }

    /// The earliest timer of the clients' sessions.
    pub(super) fn dtls_due(&self) -> Time {
        let due = |number: &u32| match self.all.get(*number as usize) {
            Some(Socket::Own(own)) => own.secured.as_ref().map_or(Time::NEVER, |it| it.session.poll_timeout()),
            _ => Time::NEVER,
        };
        self.timed.iter().map(due).min().unwrap_or(Time::NEVER)
    }
}

impl Driver {
    /// Handles the timeouts of clients' sessions.
    pub(super) fn wake_dtls_clients(&mut self, now: Time) {
        let timed = core::mem::take(&mut self.sockets.timed);
        for number in timed {
            let Some(secured) = self.sockets.secured(number) else { continue };
            secured.is_timed = false;
            if secured.session.poll_timeout() <= now {
                secured.session.handle_timeout(now);
            }
            self.after_secured(number);
        }
    }

    /// Sends the output of a client's session, and handles its state changes.
    pub(super) fn after_secured(&mut self, number: u32) {
        let now = self.clock.recent();
        self.send_records(now, number);
        let Some(Socket::Own(own)) = self.sockets.all.get_mut(number as usize) else { return };
        let path = own.path(number);
        let Some(secured) = own.secured.as_deref_mut() else { return };
        let is_established = secured.session.is_established();
        if let Some(failure) = secured.session.failure().cloned() {
            let was_open = is_established && !failure.is_untrusted;
            let code = if was_open { code::CARRIER_LOST } else { code::SECURITY };
            if failure.is_untrusted
                && let Some(dial) = &mut self.dial
            {
                dial.on_untrusted(number);
            }
            if !self.on_attempt_failed(number, &failure.reason)
                && let Some(owner) = self.sockets.owner(number as usize)
            {
                self.endpoint.handle_unreachable(now, owner, code, &failure.reason);
            }
            return self.sockets.remove(number);
        }
        if !secured.is_timed && secured.session.poll_timeout() < Time::NEVER {
            secured.is_timed = true;
            self.sockets.timed.push(number);
        }
        if is_established && core::mem::replace(&mut secured.is_opening, false) {
            if let Some(dial) = &mut self.dial {
                dial.on_answer(&mut self.endpoint, path);
            }
            self.endpoint.set_writable(number, true);
        }
    }

    /// Sends datagrams of the protocol inside of a client's session.
    pub(super) fn send_secured(&mut self, now: Time, number: u32, bytes: &[u8], segment_bytes: Option<usize>) {
        let Some(secured) = self.sockets.secured(number) else { return };
        for datagram in bytes.chunks(segment_bytes.unwrap_or(bytes.len()).max(1)) {
            secured.session.send(now, datagram);
        }
        self.after_secured(number);
    }

    /// Ends a client's session, before its socket is closed.
    pub(super) fn close_secured(&mut self, number: u32) {
        let now = self.clock.recent();
        if let Some(secured) = self.sockets.secured(number) {
            secured.session.close(now);
            self.send_records(now, number);
        }
    }

    /// Sends the waiting datagrams of a client's session.
    fn send_records(&mut self, now: Time, number: u32) {
        let Some(Socket::Own(own)) = self.sockets.all.get_mut(number as usize) else { return };
        while let Some(datagram) = own.secured.as_mut().and_then(|secured| secured.session.poll_datagram()) {
            let outcome = own.send(now, &datagram, datagram.len(), &mut self.outgoing);
            self.stats.note(&outcome, &mut self.outgoing);
        }
    }
}
