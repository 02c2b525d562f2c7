//! One session, without I/O: bytes, log lines and time in; bytes to send out. It interprets bytes;
//! `driver` moves them. With a token a session begins at [`Phase::Login`], without one at [`Phase::Open`].

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crate::door::{Place, Secret};

use super::codec::{Codec, Event, NO_OPERATION};
use super::engine_command::{self, EngineCommand, LogSwitch};
use super::handler::{Handler, Reply, SessionId};
use super::limits::{Limits, TRANSMIT_BYTES_HIGH};
use super::line::LineAssembler;
use super::log_queue::LogQueue;
use super::text::push_lines;

/// The settings that all sessions of a console share.
pub(super) struct Settings {
    pub(super) secret: Option<Secret>,
    pub(super) banner: String,
    pub(super) limits: Limits,
    pub(super) handler: Arc<dyn Handler>,
}

/// The conversation with one client.
pub(super) struct ConsoleSession {
    id: SessionId,
    settings: Arc<Settings>,
    place: Place,
    log: Arc<LogQueue>,
    began: Instant,
    phase: Phase,
    codec: Codec,
    /// Events that were received and are not yet handled; at most one read's.
    events: VecDeque<Event>,
    has_ended: bool,
    line: LineAssembler,
    transmit: Vec<u8>,
    last_sent: Instant,
}

enum Phase {
    /// The deadline for the token. There is one attempt: a client with a wrong token must connect again.
    Login(Instant),
    /// The token was wrong. Until this time nothing is sent and nothing is read.
    Refused(Instant),
    Open,
    Over,
}

impl ConsoleSession {
    /// A session that begins `now`, unauthenticated; its log queue is off.
    pub(super) fn new(id: SessionId, settings: Arc<Settings>, place: Place, log: Arc<LogQueue>, now: Instant) -> Self {
        let mut session = Self {
            id,
            settings,
            place,
            log,
            began: now,
            phase: Phase::Open,
            codec: Codec::new(),
            events: VecDeque::new(),
            has_ended: false,
            line: LineAssembler::default(),
            transmit: Vec::new(),
            last_sent: now,
        };
        if session.settings.secret.is_some() {
            session.phase = Phase::Login(now + session.settings.limits.login);
            session.say("token: ");
        } else {
            session.open();
        }
        session
    }

    /// Takes received bytes.
    pub(super) fn handle_bytes(&mut self, bytes: &[u8]) {
        self.codec.handle_bytes(bytes, &mut self.events);
    }

    /// Ends the input. Bytes received before are still answered; a last line without an end gets one.
    pub(super) fn handle_end_of_input(&mut self) {
        self.has_ended = true;
        self.events.push_back(Event::LineEnd);
    }

    /// The server ends: the session sends its last message.
    pub(super) fn handle_server_end(&mut self, reason: &str) {
        self.end(&format!("server ends: {reason}"));
    }

    /// Continues as far as the input and `now` allow. WHY in this order: bytes that have arrived are executed even if
    /// the session was displaced meanwhile, so that an operator who begins with the token gets in however many others
    /// connect.
    pub(super) fn process(&mut self, now: Instant) {
        while matches!(self.phase, Phase::Login(_) | Phase::Open) && self.transmit.len() < TRANSMIT_BYTES_HIGH {
            match self.events.pop_front() {
                Some(event) => self.on_event(event, now),
                None if self.has_ended => self.over(),
                None => break,
            }
        }
        self.on_time(now);
        while self.transmit.len() < TRANSMIT_BYTES_HIGH && matches!(self.phase, Phase::Open) {
            let Some(line) = self.log.pop() else { break };
            self.say(&line);
        }
        self.codec.poll_transmit(&mut self.transmit);
    }

    /// Whether more bytes may be received.
    pub(super) fn wants_bytes(&self) -> bool {
        self.events.is_empty() && !self.has_ended && matches!(self.phase, Phase::Login(_) | Phase::Open)
    }

    /// The bytes to be sent.
    pub(super) fn transmit(&self) -> &[u8] {
        &self.transmit
    }

    /// The first `count` bytes were sent.
    pub(super) fn on_sent(&mut self, now: Instant, count: usize) {
        self.transmit.drain(..count);
        self.last_sent = now;
    }

    /// Whether everything is sent.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Whether it ends because others came.
    pub(super) fn is_displaced(&self) -> bool {
        self.place.is_displaced()
    }

    fn on_time(&mut self, now: Instant) {
        if self.is_displaced() {
            return self.end("displaced by new connections: connect again and send the first line at once");
        }
        let is_quiet = self.transmit.is_empty() && now >= self.last_sent + self.settings.limits.keep_alive;
        match &self.phase {
            Phase::Login(deadline) if now >= *deadline => self.end("the token took too long: connect again"),
            Phase::Refused(until) if now >= *until => self.end("wrong token: connect again"),
            Phase::Open if self.is_stranger() && now >= self.began + self.settings.limits.first_command => {
                self.end("no command came: connect again");
            }
            Phase::Open if is_quiet && self.codec.spoke_telnet() => self.transmit.extend_from_slice(&NO_OPERATION),
            _ => {}
        }
    }

    fn open(&mut self) {
        self.phase = Phase::Open;
        let settings = Arc::clone(&self.settings);
        self.say(&settings.banner);
    }

    /// The first line of an unauthenticated session must be plain text, or the session ends. WHY: another protocol may
    /// carry an attacker's line after bytes that an erase would discard, as a TLS ClientHello does in its session id.
    fn on_event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Byte(byte) => {
                self.line.handle_byte(byte);
                if let Some(fault) = self.line.fault().filter(|_| self.is_stranger()) {
                    self.end(&format!("error: {fault}"));
                }
            }
            Event::LineEnd => match self.line.take() {
                Ok(line) => self.on_line(&line, now),
                Err(fault) if self.is_stranger() => self.end(&format!("error: {fault}")),
                Err(fault) => self.say(&format!("error: {fault}")),
            },
            Event::EraseLine | Event::EraseCharacter | Event::AreYouThere if self.is_stranger() => {
                self.end("error: the first line comes before any telnet command");
            }
            Event::EraseLine => drop(self.line.take()),
            Event::EraseCharacter => self.line.erase_character(),
            Event::EndOfInput => self.end(FAREWELL),
            Event::AreYouThere => self.say("[yes]"),
        }
    }

    fn on_line(&mut self, line: &str, now: Instant) {
        match self.phase {
            // The end of the input is no try.
            Phase::Login(_) if line.is_empty() && self.has_ended => {}
            Phase::Login(_) => {
                if !self.settings.secret.as_ref().is_some_and(|secret| secret.is(line.as_bytes())) {
                    self.phase = Phase::Refused(now + self.settings.limits.wrong_told_after);
                } else if self.is_seated() {
                    self.open();
                }
            }
            Phase::Open => self.run(line.trim()),
            Phase::Refused(_) | Phase::Over => {}
        }
    }

    fn run(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if is_http_request(line) {
            return self.end("error: this is a console, not a web server");
        }
        match engine_command::parse(line) {
            Some(EngineCommand::Quit) => self.end(FAREWELL),
            Some(_) if !self.is_seated() => {}
            Some(EngineCommand::Log(switch)) => self.switch_log(switch),
            Some(EngineCommand::LogMisused) => self.say("error: log takes on or off; without an argument it toggles"),
            None => self.ask_handler(line),
        }
    }

    fn switch_log(&mut self, switch: Option<LogSwitch>) {
        let on = switch.map_or(!self.log.is_on(), |switch| switch == LogSwitch::On);
        self.log.switch(on);
        self.say(if on { "log is on" } else { "log is off" });
    }

    fn ask_handler(&mut self, line: &str) {
        let handler = Arc::clone(&self.settings.handler);
        let was_stranger = self.is_stranger();
        if !self.is_seated() {
            return;
        }
        let reply = catch_unwind(AssertUnwindSafe(|| handler.run(self.id, line)));
        match reply {
            Ok(Reply::Unknown(text)) if was_stranger => self.end(&format!("error: {text}")),
            Ok(Reply::Unknown(text)) => self.say(&format!("error: {text}")),
            Ok(Reply::Text(text)) => self.say(&text),
            Ok(Reply::Error(text)) => self.say(&format!("error: {text}")),
            Ok(Reply::Quit) => self.end(FAREWELL),
            Err(_) => self.say("error: internal error; the server continues"),
        }
    }

    fn is_stranger(&self) -> bool {
        self.place.is_strangers()
    }

    /// Whether the session has a seat, or gets one now. Without a seat the session ends.
    fn is_seated(&mut self) -> bool {
        if self.place.take_seat() {
            return true;
        }
        let seats = self.place.max().seats;
        self.end(&format!("the console is full ({seats} sessions): end one of them, then connect again"));
        false
    }

    /// Writes whole lines.
    fn say(&mut self, text: &str) {
        push_lines(text, &mut self.transmit);
    }

    fn end(&mut self, last_words: &str) {
        if !self.is_over() {
            self.say(last_words);
            self.over();
        }
    }

    fn over(&mut self) {
        self.phase = Phase::Over;
        self.log.switch(false);
    }
}

/// A web page can make a browser on this machine connect here, and put commands into the body of a POST. The request's
/// first line reveals it, and ends the session before any command is read.
fn is_http_request(line: &str) -> bool {
    line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0")
}

const FAREWELL: &str = "bye";
