//! Sockets of a client that looks for a server address that answers: one socket for each attempt, and the HELLO that
//! all attempts send.

use super::{ATTEMPT_DELAY, Attempt, Dial, DialConfig, Resolved, Search};
use crate::driver::Driver;
use crate::driver::protected::Protected;
use crate::driver::sockets::Socket;
use crate::url::{Resolve, Scheme, Target};
use skipstone_proto::PeerId;
use skipstone_proto::Time;
use skipstone_proto::{Carrier, Path};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Receiver, sync_channel};

impl Driver {
    /// Starts a connection to a server whose addresses this resolver returns.
    pub(crate) fn dial(&mut self, config: DialConfig<'_>, resolve: Resolve) -> io::Result<PeerId> {
        let DialConfig { target, token, impairment, protection, handshake_timeout, remote } = config;
        let carrier = match target.scheme {
            Scheme::Encrypted | Scheme::Plain => Carrier::UDP,
            Scheme::Dtls => Carrier::DTLS,
            Scheme::WebSocket => Carrier::WEBSOCKET,
            Scheme::SecureWebSocket => Carrier::WEBSOCKET_TLS,
            Scheme::Tcp => Carrier::TCP,
        };
        let Protected { protection, beneath } = protection;
        let unknown = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), target.port);
        let placeholder = self.sockets.all.insert(Socket::Dialing) as u32;
        let path = Path { socket: placeholder, local: None, remote: unknown, carrier };
        let now = self.clock.now();
        let peer = self.endpoint.connect_with(now, path, token, protection).map_err(io::Error::other)?;
        // A stream or a session accepts no packets before it is open.
        self.endpoint.set_writable(placeholder, false);
        let resolving = self.resolve(&target, resolve)?;
        let search = Search { target, impairment, beneath, resolving, remote };
        self.dial = Some(Box::new(Dial::new(search, peer, placeholder, now..now + handshake_timeout)));
        Ok(peer)
    }

    /// Resolves the addresses in a separate thread, which sends the result, wakes the driver and ends.
    fn resolve(&self, target: &Target, resolve: Resolve) -> io::Result<Receiver<Resolved>> {
        let (answer, answered) = sync_channel(1);
        let (host, port, waker) = (target.host.clone(), target.port, self.waker.clone());
        let thread = std::thread::Builder::new().name("skipstone-resolver".into());
        thread.spawn(move || {
            // If either fails, the client is gone, and the result is not needed.
            let _ = answer.send(resolve(&host, port));
            let _ = waker.wake();
        })?;
        Ok(answered)
    }

    /// Starts attempts that are due, and ends the search when one attempt has succeeded or none can succeed.
    pub(in crate::driver) fn go_on_dialing(&mut self, now: Time) {
        let Some(mut dial) = self.dial.take() else { return };
        if dial.winner.is_some() {
            return self.hang_up_others(&dial);
        }
        dial.take_answer();
        while dial.wants_attempt(now) {
            self.begin_attempt(now, &mut dial);
        }
        let (code, why) = match dial.verdict(now) {
            Some(verdict) => verdict,
            None => {
                self.dial = Some(dial);
                return;
            }
        };
        self.endpoint.handle_unreachable(now, dial.peer, code, &dial.reason(why));
        self.hang_up_others(&dial);
    }

    fn begin_attempt(&mut self, now: Time, dial: &mut Dial) {
        let Some(address) = dial.addresses.pop_front() else { return };
        self.release_sockets();
        let beneath = (now, &dial.beneath);
        let opened = self.sockets.open(self.poll.registry(), &dial.target, address, dial.impairment.as_ref(), beneath);
        match opened {
            Ok(path) => {
                dial.next_attempt_at = now + ATTEMPT_DELAY;
                dial.attempts.push(Attempt { address, socket: path.socket });
                self.send_hello(now, dial, path.socket);
                self.after_secured(path.socket);
            }
            Err(error) => dial.failures.push(format!("{address} ({error})")),
        }
    }

    /// Sends HELLO again along all attempts, after the endpoint has sent it.
    pub(in crate::driver) fn repeat_hello(&mut self, now: Time) {
        let Some(mut dial) = self.dial.take_if(|dial| core::mem::take(&mut dial.is_hello_due)) else { return };
        for attempt in dial.attempts.clone() {
            self.send_hello(now, &mut dial, attempt.socket);
        }
        self.dial = Some(dial);
    }

    /// Stores the HELLO that the endpoint has sent to the placeholder path.
    pub(in crate::driver) fn take_hello(&mut self, datagram: &[u8]) {
        if let Some(dial) = &mut self.dial {
            dial.hello.clear();
            dial.hello.extend_from_slice(datagram);
            dial.is_hello_due = true;
        }
    }

    fn send_hello(&mut self, now: Time, dial: &mut Dial, number: u32) {
        let Some(Socket::Own(own)) = self.sockets.all.get_mut(number as usize) else { return };
        if dial.hello.is_empty() || own.secured.is_some() {
            return;
        }
        let outcome = own.send(now, &dial.hello, dial.hello.len(), &mut self.outgoing);
        self.stats.note(&outcome, &mut self.outgoing);
        if outcome.errors.unreachable > 0 {
            dial.on_failed(now, number, "no route to it");
            self.sockets.remove(number);
        }
    }

    /// Records that the attempt on this socket has failed. False if the socket belongs to no attempt, or a path has
    /// already been chosen.
    pub(in crate::driver) fn on_attempt_failed(&mut self, number: u32, why: &str) -> bool {
        let now = self.clock.now();
        self.dial.as_mut().is_some_and(|dial| dial.on_failed(now, number, why))
    }

    /// Ends the search: the connection was closed before an address was found.
    pub(in crate::driver) fn abandon_dial(&mut self) {
        if let Some(dial) = self.dial.take() {
            self.hang_up_others(&dial);
        }
    }

    /// Closes all sockets of the search except the winner's.
    fn hang_up_others(&mut self, dial: &Dial) {
        let winner = dial.winner.map(|path| path.socket);
        for attempt in dial.attempts.iter().filter(|attempt| Some(attempt.socket) != winner) {
            self.close_secured(attempt.socket);
            self.sockets.remove(attempt.socket);
        }
        self.sockets.remove(dial.placeholder);
        if let Some(winner) = winner {
            self.sockets.give(winner, dial.peer);
        }
    }
}
