//! What comes in from the sockets: to which connection, or from which stranger. WIRE.md sections 2 and 6.

use super::{Drop, Endpoint};
use crate::connection::event::code;
use crate::connection::handshake::VERSIONS;
use crate::connection::{Connection, Context, Ids};
use crate::path::Path;
use crate::security::cookie::Claim;
use crate::security::{Plain, Security};
use crate::time::Time;
use crate::wire::datagram::{self, Challenge, Datagram, HEADER_BYTES, Hello, OPEN_HEADER_BYTES, Open, SUITE_PLAIN};

impl Endpoint {
    /// Takes a datagram that came along `path`. It is changed in place. Whatever is in it: at worst it is dropped and
    /// counted.
    pub fn handle_datagram(&mut self, now: Time, path: Path, datagram: &mut [u8]) {
        if let Err(reason) = self.dispatch(now, path, datagram) {
            self.past.drops.count(reason);
        }
    }

    fn dispatch(&mut self, now: Time, path: Path, bytes: &mut [u8]) -> Result<(), Drop> {
        let length = bytes.len();
        let decoded = datagram::decode(bytes).map_err(|_| Drop::Malformed)?;
        match decoded {
            Datagram::Packet { to } => return self.handle_packet(now, path, to, bytes),
            Datagram::Hello(hello) => return self.handle_hello(now, path, &hello, length),
            Datagram::Open(open) => {
                let open = Open { cookie: &open.cookie.clone(), ..open };
                return self.handle_open(now, path, &open, bytes);
            }
            _ => {}
        }
        let (to, is_taken) = match decoded {
            Datagram::Challenge(challenge) => {
                (challenge.to, self.on_path(now, path, challenge.to, |c, cx| c.handle_challenge(cx.now, &challenge)))
            }
            Datagram::Refuse { to, nonce, code, reason } => {
                (to, self.on_path(now, path, to, |c, cx| c.handle_refuse(cx, nonce, code, reason)))
            }
            Datagram::Versions { to, nonce, versions } => {
                let theirs: Vec<u16> = versions.collect();
                (to, self.on_path(now, path, to, |c, cx| c.handle_versions(cx, nonce, &theirs)))
            }
            // Suites with a handshake of their own come from outside the core; there is none here.
            _ => return Err(Drop::BadFrame),
        };
        let _ = to;
        if is_taken? { Ok(()) } else { Err(Drop::BadFrame) }
    }

    fn handle_packet(&mut self, now: Time, path: Path, to: u32, bytes: &mut [u8]) -> Result<(), Drop> {
        self.on_path(now, path, to, |connection, cx| connection.handle_packet(cx, bytes, HEADER_BYTES))
    }

    /// Acts on the connection with this id, if it lies on this path.
    fn on_path<T>(
        &mut self,
        now: Time,
        path: Path,
        id: u32,
        act: impl FnOnce(&mut Connection, &mut Context<'_>) -> T,
    ) -> Result<T, Drop> {
        let index = self.ids.find(id).ok_or(Drop::UnknownConnection)?;
        let slot = self.slots.at(index).ok_or(Drop::UnknownConnection)?;
        let connection = slot.connection.as_deref_mut().ok_or(Drop::UnknownConnection)?;
        if connection.path().remote != path.remote || connection.path().socket != path.socket {
            return Err(Drop::WrongPath);
        }
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        let result = act(connection, cx);
        self.after(index);
        Ok(result)
    }

    fn handle_hello(&mut self, now: Time, path: Path, hello: &Hello<'_>, length: usize) -> Result<(), Drop> {
        if !self.config.is_server {
            return Err(Drop::BadFrame);
        }
        let common = VERSIONS.into_iter().find(|ours| hello.versions.clone().any(|theirs| theirs == *ours));
        let Some(version) = common.filter(|_| hello.suites & SUITE_PLAIN != 0) else {
            self.reply(path, length, datagram::versions_len(VERSIONS.len()), |writer| {
                datagram::encode_versions(writer, hello.source, hello.nonce, &VERSIONS);
            });
            return Err(Drop::NoCommonVersion);
        };
        self.challenge(now, path, length, hello.source, hello.nonce, version);
        Ok(())
    }

    fn challenge(&mut self, now: Time, path: Path, length: usize, source: u32, nonce: u64, version: u16) {
        let claim = Claim { remote: path.remote, source, nonce, version, suite: SUITE_PLAIN };
        let cookie = self.jar.bake(now, &claim);
        self.reply(path, length, datagram::CHALLENGE_BYTES, |writer| {
            let challenge = Challenge { to: source, nonce, version, suite: SUITE_PLAIN, cookie: &cookie };
            datagram::encode_challenge(writer, &challenge);
        });
    }

    /// Answers a stranger, with no more bytes than the stranger sent.
    fn reply(
        &mut self,
        path: Path,
        received: usize,
        length: usize,
        write: impl FnOnce(&mut crate::wire::cursor::Writer<'_>),
    ) {
        if received < length || !self.replies.push(path, write) {
            self.past.drops.count(Drop::TooManyReplies);
        }
    }

    fn handle_open(&mut self, now: Time, path: Path, open: &Open<'_>, bytes: &mut [u8]) -> Result<(), Drop> {
        if !self.config.is_server || open.suite != SUITE_PLAIN || !VERSIONS.contains(&open.version) {
            return Err(Drop::BadFrame);
        }
        let claim = Claim {
            remote: path.remote,
            source: open.source,
            nonce: open.nonce,
            version: open.version,
            suite: open.suite,
        };
        // First of all: a new challenge would make the client change the key of a connection that it has.
        if let Some(index) = self.opened.get(&(path.remote, open.source)).copied() {
            let local = self.slots.at(index).and_then(|slot| slot.connection.as_ref()).map(|c| c.ids().local);
            let id = local.ok_or(Drop::UnknownConnection)?;
            return self.on_path(now, path, id, |c, cx| c.handle_packet(cx, bytes, OPEN_HEADER_BYTES));
        }
        if !self.jar.is_good(now, &claim, open.cookie) {
            self.challenge(now, path, bytes.len(), open.source, open.nonce, open.version);
            return Err(Drop::BadCookie);
        }
        if self.is_taken(&path) {
            return Err(Drop::BadFrame);
        }
        if self.is_full() {
            let reason = "the server is full";
            self.reply(path, bytes.len(), datagram::refuse_len(code::FULL, reason), |writer| {
                datagram::encode_refuse(writer, open.source, open.nonce, code::FULL, reason);
            });
            return Err(Drop::Full);
        }
        self.let_in(now, path, open, bytes)
    }

    /// A client whose address is proven. If its first packet makes no sense, it was never here.
    fn let_in(&mut self, now: Time, path: Path, open: &Open<'_>, bytes: &mut [u8]) -> Result<(), Drop> {
        let security = Security::Plain(Plain::new(open.nonce, open.cookie));
        let peer = self.slots.reserve();
        let local = self.ids.assign(&mut self.rng, peer.index);
        let ids = Ids { local, remote: open.source };
        let timeout = self.config.handshake_timeout;
        let mut connection = Connection::new_server(now, peer, path, ids, security, self.settings.clone(), timeout);
        connection.set_congestion(self.config.congestion);
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        connection.handle_packet(cx, bytes, OPEN_HEADER_BYTES);
        if !connection.is_requested() {
            self.past.add(connection.stats_mut());
            self.ids.release(local);
            self.slots.unreserve(peer);
            return Ok(());
        }
        self.opened.insert((path.remote, open.source), peer.index);
        self.adopt(connection);
        Ok(())
    }
}
