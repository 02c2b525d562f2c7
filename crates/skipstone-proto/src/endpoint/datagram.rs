//! Datagrams that arrive from the sockets, for a connection or from an unknown host. WIRE.md sections 2 and 6.

use super::admission::{ClientAdmission, NotAdmitted};
use super::directory::Opened;
use super::pending_handshakes::HandshakeAdmission;
use super::replies::REPLY_BYTES_MAX;
use super::state::Endpoint;
use crate::connection::client_handshake::VERSIONS;
use crate::connection::event::{PeerId, code};
use crate::connection::stats::DropReason;
use crate::connection::{Connection, ConnectionIds, Context};
use crate::path::Path;
use crate::security::cookie::{Claim, CookieKey};
use crate::security::{Plain, Security};
use crate::time::Time;
use crate::wire::datagram::{self, Challenge, Datagram, Hello, OPEN_HEADER_BYTES_MAX, Open};
use crate::wire::datagram::{SUITE_PLAIN, SUITE_TLS_1_3};

impl Endpoint {
    /// A stream broke, or was closed by the peer. Its connection, if there is one, ends.
    pub fn handle_carrier_lost(&mut self, now: Time, socket: u32, reason: &str) {
        let Some(peer) = self.peer_of_stream(socket) else { return };
        let code = code::CARRIER_LOST;
        self.with(now, peer, |connection, cx| connection.handle_carrier_lost(cx, code, reason));
    }

    /// Handles a datagram that arrived along `path`, and changes it in place. The datagram may hold anything: an
    /// invalid one is dropped and counted.
    pub fn handle_datagram(&mut self, now: Time, path: Path, datagram: &mut [u8]) {
        if let Err(reason) = self.dispatch(now, path, datagram) {
            self.totals.past.drops.count(reason);
        }
        self.keep_budgets(now);
    }

    fn dispatch(&mut self, now: Time, path: Path, bytes: &mut [u8]) -> Result<(), DropReason> {
        let length = bytes.len();
        if length > HANDSHAKE_BYTES_MAX && bytes[0] != datagram::KIND_PACKET {
            return Err(DropReason::TooLong);
        }
        let decoded = datagram::decode(bytes).map_err(|_| DropReason::Malformed)?;
        match decoded {
            Datagram::Packet { to } => return self.handle_packet(now, path, to, bytes),
            Datagram::Hello(hello) => return self.handle_hello(now, path, &hello, length),
            Datagram::Query { nonce } => return self.handle_query(path, nonce, length),
            Datagram::Answer { .. } => return Err(DropReason::BadFrame),
            Datagram::Reset { id } => return self.handle_reset(now, path, id),
            Datagram::Open(open) => {
                // The packet is opened in place, after the header.
                let mut header = [0; OPEN_HEADER_BYTES_MAX];
                let header = &mut header[..open.header_bytes()];
                header.copy_from_slice(&bytes[..header.len()]);
                let open = datagram::decode_open(header).map_err(|_| DropReason::Malformed)?;
                return self.handle_open(now, path, &open, bytes);
            }
            _ => {}
        }
        let is_taken = match decoded {
            Datagram::Challenge(challenge) => {
                return self.on_path(now, path, challenge.to, |c, cx| c.handle_challenge(cx.now, &challenge))?;
            }
            Datagram::Crypto { to, .. } if !self.costly.has_room() && self.will_sign(&path, to) => {
                return self.put_off(now, path, bytes);
            }
            Datagram::Crypto { to, from, bytes } => {
                return self.on_session(now, path, to, length, |c, cx| c.handle_crypto(cx, from, bytes));
            }
            Datagram::Refuse { to, nonce, code, reason } => {
                self.on_path(now, path, to, |c, cx| c.handle_refuse(cx, nonce, code, reason))
            }
            Datagram::Versions { to, nonce, versions } => {
                let theirs: Vec<u16> = versions.collect();
                self.on_path(now, path, to, |c, cx| c.handle_versions(cx, nonce, &theirs))
            }
            Datagram::Packet { .. }
            | Datagram::Hello(_)
            | Datagram::Open(_)
            | Datagram::Query { .. }
            | Datagram::Answer { .. }
            | Datagram::Reset { .. } => unreachable!("they were taken above"),
        };
        if is_taken? { Ok(()) } else { Err(DropReason::BadFrame) }
    }

    /// Applies `act` to the connection with this id, if the connection uses this path.
    fn on_path<T>(
        &mut self,
        now: Time,
        path: Path,
        id: u32,
        act: impl FnOnce(&mut Connection, &mut Context<'_>) -> T,
    ) -> Result<T, DropReason> {
        let index = self.find_on_path(&path, id)?;
        let connection = self.slots.connection_at(index).ok_or(DropReason::UnknownConnection)?;
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        let result = act(connection, cx);
        self.after(index);
        Ok(result)
    }

    /// The connection with this id, if it uses this path.
    fn find_on_path(&mut self, path: &Path, id: u32) -> Result<u32, DropReason> {
        let index = self.directory.ids.find(id).ok_or(DropReason::UnknownConnection)?;
        let connection = self.slots.connection_at(index).ok_or(DropReason::UnknownConnection)?;
        if connection.is_on(path) { Ok(index) } else { Err(DropReason::WrongPath) }
    }

    /// Applies handshake bytes, which arrived in a datagram of `length` bytes, to the connection with this id. A server
    /// whose session fails by them refuses the client.
    fn on_session(
        &mut self,
        now: Time,
        path: Path,
        id: u32,
        length: usize,
        act: impl FnOnce(&mut Connection, &mut Context<'_>) -> Result<(), DropReason>,
    ) -> Result<(), DropReason> {
        let found = self.find_on_path(&path, id);
        if found == Err(DropReason::UnknownConnection) {
            self.reset(path, id, length);
        }
        let index = found?;
        let connection = self.slots.connection_at(index).ok_or(DropReason::UnknownConnection)?;
        let (opened_by, would_sign) = (connection.opened_by(), connection.will_sign());
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        let result = act(connection, cx);
        let has_signed = would_sign && !connection.will_sign();
        if let Some(why) = connection.refusal().map(shorten)
            && let Some(opened) = self.directory.opened.get(&opened_by).copied()
        {
            self.refuse_stranger(path, length, opened_by.1, opened.nonce, code::SECURITY, &why);
        }
        if has_signed {
            self.on_signature();
        }
        self.after(index);
        result
    }

    /// Whether this is a handshake whose ClientHello is not complete: no datagram of the client's can overtake the
    /// missing part.
    fn will_sign(&mut self, path: &Path, id: u32) -> bool {
        let found = self.find_on_path(path, id).ok();
        found.and_then(|index| self.slots.connection_at(index)).is_some_and(|connection| connection.will_sign())
    }

    fn handle_hello(&mut self, now: Time, path: Path, hello: &Hello<'_>, length: usize) -> Result<(), DropReason> {
        if !self.is_server() || !self.is_inviting && !path.carrier.is_bound {
            return Err(DropReason::BadFrame);
        }
        let common = VERSIONS.into_iter().find(|ours| hello.offer.versions.clone().any(|theirs| theirs == *ours));
        let Some(version) = common else {
            self.reply(path, length, datagram::versions_len(VERSIONS.len()), |writer| {
                datagram::encode_versions(writer, hello.source, hello.nonce, &VERSIONS);
            });
            return Err(DropReason::NoCommonVersion);
        };
        let Some(suite) = best_of(hello.offer.suites & self.suites_on(&path)) else {
            let reason = match &self.config.suites {
                None => "this server does not encrypt",
                Some(_) if hello.offer.suites & SUITE_TLS_1_3 == 0 => "encrypted clients only",
                Some(_) => "the server has none of the suites on offer",
            };
            self.refuse_stranger(path, length, hello.source, hello.nonce, code::NO_COMMON_SUITE, reason);
            return Err(DropReason::WrongSuite);
        };
        let Hello { source, nonce, offer } = *hello;
        let claim = Claim { remote: path.remote, source, nonce, version, suite, offer: offer.bytes };
        self.challenge(now, path, length, &claim);
        Ok(())
    }

    /// The suites that a client on this path may choose from.
    fn suites_on(&self, path: &Path) -> u8 {
        if path.carrier.is_protected {
            return SUITE_PLAIN;
        }
        let encrypted = self.config.suites.as_ref().map_or(0, |suites| suites.offered() & !SUITE_PLAIN);
        encrypted | if self.config.allows_plain { SUITE_PLAIN } else { 0 }
    }

    fn challenge(&mut self, now: Time, path: Path, length: usize, claim: &Claim<'_>) {
        let cookie = self.secrets.cookie_key.bake(now, claim);
        let Claim { source: to, nonce, version, suite, .. } = *claim;
        self.reply(path, length, datagram::CHALLENGE_BYTES, |writer| {
            datagram::encode_challenge(writer, &Challenge { to, nonce, version, suite, cookie: &cookie });
        });
    }

    fn refuse_stranger(&mut self, path: Path, length: usize, source: u32, nonce: u64, code: u64, reason: &str) {
        self.reply(path, length, datagram::refuse_len(code, reason), |writer| {
            datagram::encode_refuse(writer, source, nonce, code, reason);
        });
    }

    /// Answers an unknown host, with no more bytes than it sent.
    pub(super) fn reply(
        &mut self,
        path: Path,
        received: usize,
        length: usize,
        write: impl FnOnce(&mut crate::wire::cursor::Writer<'_>),
    ) {
        if received < length || !self.replies.push(path, write) {
            self.totals.past.drops.count(DropReason::TooManyReplies);
        }
    }

    fn handle_open(&mut self, now: Time, path: Path, open: &Open<'_>, bytes: &mut [u8]) -> Result<(), DropReason> {
        if !self.is_server() || !VERSIONS.contains(&open.version) {
            return Err(DropReason::BadFrame);
        }
        if open.suite & self.suites_on(&path) == 0 {
            return Err(DropReason::WrongSuite);
        }
        let claim = Claim {
            remote: path.remote,
            source: open.source,
            nonce: open.nonce,
            version: open.version,
            suite: open.suite,
            offer: open.offer.bytes,
        };
        // This check comes first: a new challenge would make the client change the key of a connection that it already
        // has.
        if let Some(opened) = self.directory.opened.get(&(path.remote, open.source)).copied() {
            return self.repeat_open(now, path, open, &claim, opened, bytes);
        }
        self.check_cookie(now, path, open, &claim, bytes.len())?;
        if self.is_taken(&path) {
            return Err(DropReason::BadFrame);
        }
        // Checked first, because a handshake may remove an older one to make room.
        self.check_admission(path, open, bytes.len())?;
        let is_costly = open.suite != SUITE_PLAIN;
        if is_costly && !self.costly.has_room() {
            return self.put_off(now, path, bytes);
        }
        if is_costly && !(self.handshake_budget.admits(now, &path.remote) && self.may_begin(now, &path)) {
            return Err(DropReason::TooManyHandshakes);
        }
        if !is_costly {
            return self.let_in(now, path, open, bytes);
        }
        self.on_signature();
        self.on_handshake_begun(&path.remote);
        self.let_in(now, path, open, bytes).inspect_err(|_| self.handshake_budget.on_failed(&path.remote))
    }

    fn put_off(&mut self, now: Time, path: Path, bytes: &[u8]) -> Result<(), DropReason> {
        if self.costly.put_off(now, path, bytes) { Ok(()) } else { Err(DropReason::TooManyHandshakes) }
    }

    /// Handles the requests that waited for a round with room for them.
    pub(super) fn handle_costly(&mut self, now: Time) {
        self.costly.begin_round();
        while let Some(mut waiting) = self.costly.next() {
            match waiting.is_stale(now) {
                true => self.totals.past.drops.count(DropReason::TooManyHandshakes),
                false => self.handle_datagram(now, waiting.path, &mut waiting.bytes),
            }
        }
    }

    /// An OPEN that already created a connection is repeated.
    fn repeat_open(
        &mut self,
        now: Time,
        path: Path,
        open: &Open<'_>,
        claim: &Claim<'_>,
        opened: Opened,
        bytes: &mut [u8],
    ) -> Result<(), DropReason> {
        // The cookie's age does not count, because the client repeats its OPEN; but no other host may send one in its
        // name.
        if opened.nonce != open.nonce || !self.secrets.cookie_key.is_own(claim, open.cookie) {
            return Err(DropReason::BadCookie);
        }
        let slot = self.slots.at(opened.index);
        let local = slot.and_then(|slot| slot.connection.as_ref()).map(|c| c.ids().local);
        let id = local.ok_or(DropReason::UnknownConnection)?;
        if !self.costly.has_room() && self.will_sign(&path, id) {
            return self.put_off(now, path, bytes);
        }
        let length = bytes.len();
        self.on_session(now, path, id, length, |c, cx| c.handle_open(cx, open, bytes))
    }

    /// Whether the cookie is good and unused; a client whose cookie is not good gets a new challenge.
    fn check_cookie(
        &mut self,
        now: Time,
        path: Path,
        open: &Open<'_>,
        claim: &Claim<'_>,
        length: usize,
    ) -> Result<(), DropReason> {
        let is_good = self.secrets.cookie_key.is_good(now, claim, open.cookie);
        if is_good && self.directory.spent.holds(open.cookie) {
            return Err(DropReason::BadCookie);
        }
        if is_good && CookieKey::is_after(open.cookie, self.directory.spent.known_since()) {
            return Ok(());
        }
        // WHY: the choice follows only from the offer. An OPEN may repeat a choice that this server made for an offer
        // that was changed on its way.
        if let Some(suite) = best_of(open.offer.suites & self.suites_on(&path)) {
            self.challenge(now, path, length, &Claim { suite, ..*claim });
        }
        Err(DropReason::BadCookie)
    }

    /// Checks that the server has room for another client, and refuses the client if there is none.
    fn check_admission(&mut self, path: Path, open: &Open<'_>, length: usize) -> Result<(), DropReason> {
        match self.admission(&path.remote) {
            ClientAdmission::Now => Ok(()),
            ClientAdmission::Soon => Err(DropReason::TooManyHandshakes),
            ClientAdmission::Refused(NotAdmitted { why, counted }) => {
                self.refuse_stranger(path, length, open.source, open.nonce, code::FULL, why);
                Err(counted)
            }
        }
    }

    /// Whether an encrypted handshake may begin, if necessary in place of another.
    fn may_begin(&mut self, now: Time, path: &Path) -> bool {
        loop {
            match self.pending_handshakes.admit(now, &path.remote) {
                HandshakeAdmission::Welcome => return true,
                HandshakeAdmission::InPlaceOf(peer) => self.forget_pending_handshake(peer),
                HandshakeAdmission::Refused => return false,
            }
        }
    }

    /// Removes a pending handshake. The application does not know the connection, and the client learns that its id is
    /// unknown.
    fn forget_pending_handshake(&mut self, peer: PeerId) {
        self.totals.past.drops.count(DropReason::TooManyHandshakes);
        self.pending_handshakes.update(peer, None);
        self.remove(peer.index);
    }

    /// Creates the connection of a client whose address is validated. If its first packet is invalid, nothing remains
    /// of the connection.
    fn let_in(&mut self, now: Time, path: Path, open: &Open<'_>, bytes: &mut [u8]) -> Result<(), DropReason> {
        let transcript = datagram::transcript(&bytes[..open.header_bytes()]);
        let security = match (&self.config.suites, open.suite) {
            (_, SUITE_PLAIN) => Security::Plain(Plain::new(open.cookie)),
            (Some(suites), suite) => {
                Security::Session(suites.server(now, suite, transcript).ok_or(DropReason::WrongSuite)?)
            }
            (None, _) => return Err(DropReason::WrongSuite),
        };
        let peer = self.slots.reserve();
        let local = self.directory.ids.assign(&mut self.secrets.rng, peer.index);
        let ids = ConnectionIds { local, remote: open.source };
        let timeout = self.config.handshake_timeout;
        let mut connection = Connection::new_server(now, peer, path, ids, security, self.settings.clone(), timeout);
        connection.set_congestion(self.config.congestion.clone());
        connection.set_packet_log(self.config.shard.index, self.config.packet_log.as_ref());
        connection.set_inbound(&self.config.inbound);
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        let opened = connection.handle_open(cx, open, bytes);
        if opened.is_err() || !connection.is_opened() {
            connection.log_removed();
            self.totals.past.add(connection.stats_mut());
            self.directory.ids.release(local);
            self.slots.unreserve(peer);
            if let Some(why) = connection.refusal().map(shorten) {
                self.refuse_stranger(path, bytes.len(), open.source, open.nonce, code::SECURITY, &why);
            }
            return opened;
        }
        let pending_bytes = connection.pending_bytes();
        let (nonce, cookie) = (open.nonce, *open.cookie);
        self.directory.opened.insert((path.remote, open.source), Opened { index: peer.index, nonce, cookie });
        self.directory.spent.insert(now, &cookie);
        self.insert(connection);
        if let Some(bytes) = pending_bytes {
            self.pending_handshakes.push(now, peer, &path.remote, bytes);
            self.slots.set_pending(peer);
        }
        Ok(())
    }
}

/// Greatest size of a datagram that is not a PACKET, in bytes: an OPEN with the longest token, and some room.
const HANDSHAKE_BYTES_MAX: usize = 1_500;

/// As much of a reason as a reply has room for.
fn shorten(why: &str) -> String {
    let room = REPLY_BYTES_MAX - datagram::refuse_len(code::SECURITY, "") - 1;
    why[..why.floor_char_boundary(room)].to_owned()
}

/// The best of these suites.
fn best_of(suites: u8) -> Option<u8> {
    [SUITE_TLS_1_3, SUITE_PLAIN].into_iter().find(|suite| suites & suite != 0)
}
