//! One session, without I/O: bytes, log lines and time in; bytes to send out. Knows what is being talked about; how
//! the bytes travel is in `driver`.
//!
//! ```text
//! Detecting ──> Login ──> Open ──> Over
//!     └───(no token)───────^
//! ```
//!
//! A client that speaks first without telnet commands, as `printf … | nc` does, stays in line mode and never sees a
//! byte of negotiation. A silent one is offered echo: three bytes and a carriage return, which the banner overwrites on
//! the screen of a waiting `nc`. Only a client that takes the offer, then or at any later time, gets character mode.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crate::console::auth::{Gate, Verdict};
use crate::console::codec::{Event, NO_OPERATION};
use crate::console::commands::{self, Command, Switch};
use crate::console::completion;
use crate::console::editor::Display;
use crate::console::history::History;
use crate::console::input::{Input, Mode, Typed};
use crate::console::limits::{Limits, TRANSMIT_BYTES_HIGH};
use crate::console::log_queue::LogQueue;
use crate::console::row::CARRIAGE_RETURN;
use crate::console::{Handler, Reply, SessionId};

/// What all sessions of a console share.
pub(super) struct Settings {
    pub(super) token: Option<String>,
    pub(super) banner: String,
    pub(super) prompt: String,
    pub(super) limits: Limits,
    pub(super) handler: Arc<dyn Handler>,
}

/// The conversation with one client.
pub(super) struct Session {
    id: SessionId,
    settings: Arc<Settings>,
    log: Arc<LogQueue>,
    opened: Instant,
    phase: Phase,
    input: Input,
    history: History,
    transmit: Vec<u8>,
    last_sent: Instant,
}

enum Phase {
    Detecting(Detecting),
    Login(Gate),
    Open,
    Over,
}

enum Detecting {
    Listening { until: Instant },
    Offered { until: Instant },
}

impl Session {
    /// A session that begins `now`; its log queue is off.
    pub(super) fn new(id: SessionId, settings: Arc<Settings>, log: Arc<LogQueue>, now: Instant) -> Session {
        let until = now + settings.limits.silence;
        Session {
            id,
            settings,
            log,
            opened: now,
            phase: Phase::Detecting(Detecting::Listening { until }),
            input: Input::new(),
            history: History::default(),
            transmit: Vec::new(),
            last_sent: now,
        }
    }

    /// Takes received bytes.
    pub(super) fn handle_bytes(&mut self, bytes: &[u8]) {
        self.input.handle_bytes(bytes);
    }

    /// Nothing more will be received. What has been is still answered.
    pub(super) fn handle_end_of_input(&mut self) {
        self.input.handle_end();
    }

    /// The server ends: the last thing a session hears.
    pub(super) fn handle_server_end(&mut self, reason: &str) {
        self.end(&format!("server ends: {reason}"));
    }

    /// Goes on with whatever `now` and the input allow.
    pub(super) fn process(&mut self, now: Instant) {
        self.on_time(now);
        while self.takes_input(now) {
            match self.input.poll_event() {
                Some(event) => self.on_event(now, event),
                None if self.input.has_ended() => self.over(),
                None => break,
            }
        }
        while self.transmit.len() < TRANSMIT_BYTES_HIGH && self.is_open() {
            let Some(line) = self.log.pop() else { break };
            self.say(&line);
        }
        self.input.codec.poll_transmit(&mut self.transmit);
        let drawn = matches!(self.phase, Phase::Login(_) | Phase::Open);
        if drawn && self.input.mode() == Mode::Character {
            self.input.editor.refresh(&mut self.transmit);
        }
    }

    /// Whether more bytes may be received.
    pub(super) fn wants_bytes(&self) -> bool {
        self.input.wants_bytes() && !self.is_over()
    }

    /// What is to be sent.
    pub(super) fn transmit(&self) -> &[u8] {
        &self.transmit
    }

    /// The first `count` bytes were sent.
    pub(super) fn on_sent(&mut self, now: Instant, count: usize) {
        self.transmit.drain(..count);
        self.last_sent = now;
    }

    /// Whether all was said.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    fn takes_input(&self, now: Instant) -> bool {
        let paused = matches!(&self.phase, Phase::Login(gate) if gate.is_paused(now));
        !self.is_over() && !paused && self.transmit.len() < TRANSMIT_BYTES_HIGH
    }

    fn on_time(&mut self, now: Instant) {
        match &self.phase {
            Phase::Detecting(Detecting::Listening { until }) if now >= *until => {
                self.input.codec.offer_echo();
                self.input.codec.poll_transmit(&mut self.transmit);
                self.transmit.extend_from_slice(CARRIAGE_RETURN);
                let until = now + self.settings.limits.answer;
                self.phase = Phase::Detecting(Detecting::Offered { until });
            }
            Phase::Detecting(Detecting::Offered { until }) if now >= *until => self.begin(),
            Phase::Login(gate) if gate.is_late(now) => {
                self.end("the token took too long: connect again");
            }
            Phase::Open if self.input.codec.spoke_telnet() => self.keep_alive(now),
            _ => {}
        }
    }

    fn keep_alive(&mut self, now: Instant) {
        if self.transmit.is_empty() && now >= self.last_sent + self.settings.limits.keep_alive {
            self.transmit.extend_from_slice(&NO_OPERATION);
        }
    }

    /// Ends detection: the client's kind is known, or taken to be plain.
    fn begin(&mut self) {
        if self.settings.token.is_none() {
            return self.open();
        }
        self.phase = Phase::Login(Gate::new(self.opened + self.settings.limits.login));
        self.input.editor.set_prompt(TOKEN_PROMPT, Display::Hidden);
        if self.input.mode() == Mode::Line {
            self.say(TOKEN_PROMPT);
        }
    }

    fn open(&mut self) {
        self.phase = Phase::Open;
        let settings = Arc::clone(&self.settings);
        self.input.editor.set_prompt(&settings.prompt, Display::Shown);
        self.say(&settings.banner);
    }

    fn on_event(&mut self, now: Instant, event: Event) {
        match event {
            Event::EchoAgreed => self.input.take_character_mode(),
            Event::EchoRefused => self.input.take_line_mode(&mut self.transmit),
            _ => {}
        }
        let settled = !matches!(event, Event::Columns(_) | Event::AreYouThere);
        if settled && matches!(self.phase, Phase::Detecting(_)) {
            self.begin();
        }
        match self.input.handle_event(event, &self.history, &mut self.transmit) {
            None => {}
            Some(Typed::Line(line)) => self.on_line(now, &line),
            Some(Typed::TooLong) => self.say("error: the line is longer than 4096 bytes, and was ignored"),
            Some(Typed::Complete) => self.complete(),
            Some(Typed::End) => self.end(FAREWELL),
            Some(Typed::AreYouThere) => self.say("[yes]"),
        }
    }

    fn on_line(&mut self, now: Instant, line: &str) {
        match &mut self.phase {
            Phase::Login(gate) => {
                let token = self.settings.token.as_deref().unwrap_or_default();
                match gate.try_token(now, token, line) {
                    Verdict::Welcome => self.open(),
                    Verdict::Again => self.say("wrong token, try again"),
                    Verdict::Closed => self.end("wrong token: no tries left"),
                }
            }
            Phase::Open => self.run(line.trim()),
            Phase::Detecting(_) | Phase::Over => {}
        }
    }

    fn run(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if is_http_request(line) {
            return self.end("error: this is a console, not a web server");
        }
        self.history.push(line);
        match commands::parse(line) {
            Some(Command::Quit) => self.end(FAREWELL),
            Some(Command::History) => self.say(&self.history.listing()),
            Some(Command::Log(switch)) => self.switch_log(switch),
            Some(Command::LogMisused) => self.say("error: log takes on, off, or nothing to toggle"),
            None => self.ask_handler(line),
        }
    }

    fn switch_log(&mut self, switch: Switch) {
        let on = match switch {
            Switch::On => true,
            Switch::Off => false,
            Switch::Toggle => !self.log.is_on(),
        };
        self.log.switch(on);
        self.say(if on { "log is on" } else { "log is off" });
    }

    fn ask_handler(&mut self, line: &str) {
        let handler = Arc::clone(&self.settings.handler);
        match catch_unwind(AssertUnwindSafe(|| handler.run(self.id, line))) {
            Ok(Reply::Text(text)) => self.say(&text),
            Ok(Reply::Error(text)) => self.say(&format!("error: {text}")),
            Ok(Reply::Quit) => self.end(FAREWELL),
            Err(_) => self.say("error: internal error; the server goes on"),
        }
    }

    fn complete(&mut self) {
        let before = self.input.editor.before_cursor();
        let handler = &self.settings.handler;
        let mut candidates = catch_unwind(AssertUnwindSafe(|| handler.complete(&before))).unwrap_or_default();
        candidates.extend(commands::candidates(&before).iter().map(|&word| word.to_owned()));
        let completion = completion::complete(&before, candidates);
        if !completion.choices.is_empty() {
            return self.say(&completion.choices.join("  "));
        }
        if completion.insert.is_empty() {
            self.input.editor.ring();
        }
        self.input.editor.insert_text(&completion.insert);
    }

    /// Says whole lines, above the line being edited if there is one.
    fn say(&mut self, text: &str) {
        self.input.editor.print_above(text, &mut self.transmit);
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

/// A web page can make a browser on this machine connect here, and put commands into what it posts. Its first line
/// gives it away, and ends the session before any command is read.
fn is_http_request(line: &str) -> bool {
    line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0")
}

const TOKEN_PROMPT: &str = "token: ";
const FAREWELL: &str = "bye";
