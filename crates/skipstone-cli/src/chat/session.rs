//! The connection: the lines received on it, and the effect of an entered line. Independent of screen and pipe.

use super::command::{self, HELP, Input};
use super::ending::Ending;
use skipstone::{Client, ClientConfig, Event, Overview, Reconnect, StartError, Trust};
use skipstone_lab::clean;
use skipstone_lab::report::format::milliseconds;
use skipstone_lab::workload::{CONTROL, LINES, WHO, Word};
use std::time::{Duration, Instant};

/// A line to be shown, harmless already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Where it comes from.
    pub(super) source: Source,
    /// The text.
    pub(super) text: String,
}

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A client sent it to all clients.
    Everybody,
    /// The server says it to us.
    Server,
    /// This program says it.
    Here,
}

/// The outcome of an entered line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// Done.
    Done,
    /// The line cannot be sent now: the user may enter it again.
    NotNow,
    /// The user leaves.
    Quit,
}

/// A client that chats.
#[derive(Debug)]
pub(super) struct Session {
    client: Client,
    /// The server as the user wrote it.
    pub(super) url: String,
    /// Whether lines can be sent.
    pub(super) is_connected: bool,
    /// Lines received from all clients.
    pub(super) lines: u64,
    /// Lines sent since the queue was last looked at.
    unchecked: u32,
    /// When the last line was sent.
    sent_at: Option<Instant>,
}

impl Session {
    /// Begins to connect.
    pub(super) fn connect(url: &str, token: &[u8], trust: Trust) -> Result<Self, StartError> {
        // A client that reconnects follows moves from node to node. This session ends with its connection all the same.
        let reconnect = Some(Reconnect::default());
        let client = Client::connect(url, token, ClientConfig { trust, reconnect, ..ClientConfig::default() })?;
        Ok(Self { client, url: url.into(), is_connected: false, lines: 0, unchecked: 0, sent_at: None })
    }

    /// Waits until there is an event, for at most `span`.
    pub(super) fn wait(&mut self, span: Duration) {
        self.client.wait(span);
    }

    /// Adds the lines that arrived, [`EVENTS_MAX`] events at most, so that a flood leaves time for the user. Returns
    /// the ending, if the chat ended.
    pub(super) fn hear(&mut self, heard: &mut Vec<Line>) -> Option<Ending> {
        for _ in 0..EVENTS_MAX {
            match self.client.poll_event() {
                Some(event) => {
                    if let Some(ending) = self.on_event(event, heard) {
                        return Some(ending);
                    }
                }
                None => return self.client.failure().map(|_| Ending::DriverGone),
            }
        }
        None
    }

    fn on_event(&mut self, event: Event, heard: &mut Vec<Line>) -> Option<Ending> {
        match event {
            Event::Connected { .. } => {
                self.is_connected = true;
                heard.push(here(format!("connected to {}; /help lists the commands", clean::line(&self.url))));
            }
            Event::Message { channel: LINES, payload, .. } => {
                self.lines += 1;
                heard.push(Line { source: Source::Everybody, text: clean::bytes(&payload) });
            }
            Event::Message { channel: CONTROL, payload, .. } => hear_word(&payload, heard),
            Event::Closed { close, .. } => return Some(Ending::Closed { was_connected: self.is_connected, close }),
            _ => {}
        }
        None
    }

    /// Executes an entered line. `heard` receives the answer, unless the server sends it.
    pub(super) fn enter(&mut self, line: &str, heard: &mut Vec<Line>) -> Entered {
        match command::parse(line) {
            Input::Nothing => {}
            Input::Text(said) => return self.send(LINES, clean::line(said), heard),
            Input::Who => return self.send(CONTROL, WHO.into(), heard),
            Input::Quit => return Entered::Quit,
            Input::Ping => {
                let answer = self.ping();
                heard.push(here(answer));
            }
            Input::Help => heard.extend(HELP.lines().map(|line| here(line.into()))),
            Input::Unknown(word) => {
                heard.push(here(format!("there is no command /{}; /help lists them", clean::line(word))));
            }
        }
        Entered::Done
    }

    fn send(&mut self, channel: u16, message: String, heard: &mut Vec<Line>) -> Entered {
        if !self.is_connected {
            heard.push(here("not connected yet: wait a moment".into()));
            return Entered::NotNow;
        }
        self.unchecked += 1;
        self.sent_at = Some(Instant::now());
        if let Err(error) = self.client.send(channel, message) {
            heard.push(here(format!("not sent: {error}")));
            return Entered::NotNow;
        }
        // The server's settings may make clients send only when they flush.
        let _ = self.client.flush();
        Entered::Done
    }

    fn ping(&mut self) -> String {
        let in_ms = |span: Duration| milliseconds(span.as_secs_f64() * 1000.0);
        match self.overview().map(|overview| overview.rtt) {
            Some(rtt) if rtt.is_measured() => format!(
                "a round trip takes {} (the last one {}, the best one {})",
                in_ms(rtt.smoothed()),
                in_ms(rtt.latest()),
                in_ms(rtt.min())
            ),
            _ => "no round trip measured yet".into(),
        }
    }

    /// The state of the connection.
    pub(super) fn overview(&self) -> Option<Overview> {
        self.client.overview()
    }

    /// Whether the session can send more without letting the queue grow: a message beyond a channel's queue ends the
    /// connection.
    pub(super) fn has_room(&mut self) -> bool {
        if self.unchecked >= UNCHECKED_MAX && self.overview().is_some_and(|it| it.depth.bytes < QUEUE_BYTES_GOAL) {
            self.unchecked = 0;
        }
        self.is_connected && self.unchecked < UNCHECKED_MAX
    }

    /// Whether the server has received every line that was sent.
    pub(super) fn is_all_sent(&self) -> bool {
        let is_seen = self.sent_at.is_none_or(|at| at.elapsed() > SNAPSHOT_AGE_MAX);
        is_seen && self.overview().is_none_or(|overview| overview.depth.messages == 0)
    }

    /// Leaves, if connected, and gives the server a moment to receive the close.
    pub(super) fn part(self, ending: Ending) -> Ending {
        if !matches!(ending, Ending::Closed { .. } | Ending::DriverGone) {
            self.client.close(0, "bye", LINGER);
        }
        ending
    }
}

/// The maximum age of statistics, which do not include lines sent since.
const SNAPSHOT_AGE_MAX: Duration = Duration::from_millis(100);

/// A line of this program's own.
pub(super) fn here(text: String) -> Line {
    Line { source: Source::Here, text }
}

fn hear_word(payload: &[u8], heard: &mut Vec<Line>) {
    let said = match Word::decode(payload) {
        Some(Word::Say(said)) => said,
        Some(Word::Who(names)) => format!("here: {names}"),
        // These are commands for stress clients.
        Some(Word::StressOn(_) | Word::StressOff) | None => return,
    };
    heard.extend(said.lines().map(|line| Line { source: Source::Server, text: clean::line(line) }));
}

/// Events between two looks at the user.
const EVENTS_MAX: usize = 2_048;
/// The number of lines that are sent without checking the queue.
const UNCHECKED_MAX: u32 = 64;
/// Far below every server's queue limit, but enough to keep a fast link busy.
const QUEUE_BYTES_GOAL: u64 = 256 << 10;
/// How long a goodbye may take.
const LINGER: Duration = Duration::from_millis(500);
