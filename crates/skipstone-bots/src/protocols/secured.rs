//! A protocol over a stream, within TLS: `wss` and `tls`. The protocol below knows nothing of it, and begins once the
//! handshake of TLS is complete.

use super::row::{Carrier, Opening, ProtocolRow};
use super::{tcp, websocket};
use crate::protocol::{Cause, Ending, Event, Outgoing, Protocol, ProtocolFigures, SendRefused, SocketEnd};
use crate::target::TargetError;
use crate::tls::{TLS_OPTIONS, TlsSettings, TlsStream};
use skipstone_proto::Time;

pub(super) const WEBSOCKET: ProtocolRow = ProtocolRow {
    scheme: "wss",
    carrier: Carrier::Stream,
    about: "WebSocket over TLS 1.2 or 1.3",
    options: &joined::<{ websocket::OPTIONS.len() + TLS_OPTIONS.len() }>(websocket::OPTIONS, TLS_OPTIONS),
    new: |opening| Secured::create(opening, websocket::ROW.new),
};

pub(super) const STREAM: ProtocolRow = ProtocolRow {
    scheme: "tls",
    carrier: Carrier::Stream,
    about: "TCP within TLS 1.2 or 1.3: lines, messages after their length, or any bytes",
    options: &joined::<{ tcp::ROW.options.len() + TLS_OPTIONS.len() }>(tcp::ROW.options, TLS_OPTIONS),
    new: |opening| Secured::create(opening, tcp::ROW.new),
};

type RowOption = (&'static str, &'static str);

/// Both lists, in one.
const fn joined<const LENGTH: usize>(first: &[RowOption], second: &[RowOption]) -> [RowOption; LENGTH] {
    let mut all = [("", ""); LENGTH];
    let mut at = 0;
    while at < LENGTH {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

/// A client within TLS.
struct Secured {
    tls: TlsStream,
    inner: Box<dyn Protocol>,
    stage: Stage,
    /// Of TLS itself; given after all events of the protocol within.
    failure: Option<Ending>,
    plain: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    New,
    Handshake,
    /// The protocol within has begun.
    Open,
    /// The protocol within has told the end, or TLS has failed.
    Ended,
}

impl Secured {
    fn create(
        opening: &Opening<'_>,
        inner: fn(&Opening<'_>) -> Result<Box<dyn Protocol>, TargetError>,
    ) -> Result<Box<dyn Protocol>, TargetError> {
        let settings = TlsSettings::of(opening.target)?;
        let tls = TlsStream::new(&settings);
        Ok(Box::new(Secured {
            tls: tls.map_err(|why| TargetError::BadTarget(opening.target.url.clone(), why))?,
            inner: inner(opening)?,
            stage: Stage::New,
            failure: None,
            plain: Vec::new(),
        }))
    }

    fn fail(&mut self, ending: Ending) {
        if self.stage != Stage::Ended {
            self.stage = Stage::Ended;
            self.failure = Some(ending);
        }
    }
}

impl Protocol for Secured {
    fn handle_open(&mut self, _now: Time) {
        if self.stage == Stage::New {
            self.stage = Stage::Handshake;
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        if self.stage == Stage::Ended {
            return;
        }
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let received = self.tls.receive(bytes, &mut plain);
        if self.stage == Stage::Handshake && !self.tls.is_handshaking() {
            self.stage = Stage::Open;
            self.inner.handle_open(now);
        }
        if !plain.is_empty() {
            self.inner.handle_receive(now, &plain);
        }
        // Of thousands of bots, none keeps the room of its longest message.
        self.plain = if plain.capacity() > PLAIN_KEPT { Vec::new() } else { plain };
        if let Err(ending) = received {
            self.fail(ending);
        }
    }

    fn handle_end(&mut self, now: Time, end: SocketEnd) {
        match (self.stage, end) {
            (Stage::Ended, _) => {}
            (Stage::Handshake, SocketEnd::Finished) => {
                self.fail(Ending::new(Cause::ByServer, "the server ended the stream during the handshake of TLS"));
            }
            (Stage::Handshake, SocketEnd::TimedOut) => {
                self.fail(Ending::new(Cause::TimedOut, "no handshake of TLS in time"));
            }
            (_, end) => self.inner.handle_end(now, end),
        }
    }

    fn handle_deadline(&mut self, now: Time) {
        self.inner.handle_deadline(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.tls.transmit(out) {
            return true;
        }
        let mut chunk = Vec::new();
        if self.tls.is_handshaking() || !self.inner.poll_transmit(now, &mut chunk) {
            return false;
        }
        self.tls.seal(&chunk);
        self.tls.transmit(out)
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.inner.poll_event();
        if let Some(Event::Closed(_)) = event {
            self.stage = Stage::Ended;
            self.failure = None;
        }
        event.or_else(|| self.failure.take().map(Event::Closed))
    }

    fn deadline(&self) -> Option<Time> {
        self.inner.deadline()
    }

    fn is_connecting(&self) -> bool {
        match self.stage {
            Stage::New | Stage::Handshake => true,
            Stage::Open => self.inner.is_connecting(),
            Stage::Ended => false,
        }
    }

    fn send(&mut self, now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        if self.stage == Stage::Open { self.inner.send(now, message) } else { Err(SendRefused::NotConnected) }
    }

    fn close(&mut self, now: Time) {
        if self.stage == Stage::Ended {
            return;
        }
        self.inner.close(now);
        let mut goodbye = Vec::new();
        while !self.tls.is_handshaking() && self.inner.poll_transmit(now, &mut goodbye) {}
        self.tls.seal(&goodbye);
        self.tls.close();
    }

    fn figures(&self) -> ProtocolFigures {
        self.inner.figures()
    }
}

/// Bytes of the buffer for plaintext that a bot keeps.
const PLAIN_KEPT: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::super::simulated;
    use super::*;
    use crate::target::BotTarget;

    #[test]
    fn a_server_that_never_answers_is_timed_out_by_the_socket() {
        let mut client = simulated::client(&WEBSOCKET, "wss://127.0.0.1:1/game?trust=anyone&name=game.example", 1);
        client.handle_open(Time::ZERO);
        let mut out = Vec::new();
        assert!(client.poll_transmit(Time::ZERO, &mut out) && client.is_connecting());
        assert_eq!(out[0], 22, "a handshake's record");
        assert!(out.windows(12).any(|part| part == b"game.example"), "the name is asked for");
        client.handle_end(Time::ZERO, SocketEnd::TimedOut);
        let Some(Event::Closed(ending)) = client.poll_event() else { panic!("no end") };
        assert_eq!((ending.cause, client.poll_event()), (Cause::TimedOut, None), "{}", ending.text);
        assert!(!client.is_connecting());
    }

    #[test]
    fn garbage_ends_the_connection_once() {
        for garbage in [&b"SSH-2.0-OpenSSH\r\n"[..], &[22, 3, 3, 0, 4, 9, 9, 9, 9], &[0xFF; 100]] {
            let mut client = simulated::client(&STREAM, "tls://127.0.0.1:1?trust=anyone", 1);
            client.handle_open(Time::ZERO);
            while client.poll_transmit(Time::ZERO, &mut Vec::new()) {}
            for byte in garbage {
                client.handle_receive(Time::ZERO, &[*byte]);
            }
            let Some(Event::Closed(ending)) = client.poll_event() else { panic!("no end") };
            assert_eq!(ending.cause, Cause::Malformed, "{}", ending.text);
            client.handle_end(Time::ZERO, SocketEnd::Finished);
            assert_eq!(client.poll_event(), None);
        }
    }

    #[test]
    fn what_is_wrong_with_trust_or_name_is_wrong_with_the_target() {
        for (url, part) in [
            ("wss://h:1?trust=me", "system or anyone"),
            ("wss://h:1#sha256=00", "64 hexadecimal"),
            ("wss://h:1?trust=anyone&name=no%20name", "'no name'"),
        ] {
            let target = BotTarget::split(url).expect("a target").expect("a valid one");
            let why = TlsSettings::of(&target).expect_err(url).to_string();
            assert!(why.contains(part), "{url}: {why}");
        }
    }
}
