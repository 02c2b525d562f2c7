//! The game that programs in all languages play together; `interop/README.md` states its rules.
//!
//! `interop --server URL --name NAME --lines K [--seconds S]` is a client,
//! `interop --listen HOST:PORT --clients C [--seconds S]` a server.

use skipstone::{Client, ClientConfig, Event, Group, PeerId, Reconnect, Server, ServerConfig, code};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Each call of the library has its own error, with cause and remedy.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The channel of control and chat messages.
pub const CONTROL: u16 = 0;
/// The channel of the stress lines.
pub const STRESS: u16 = 1;
/// Interval between lines.
const EVERY: Duration = Duration::from_millis(10);
/// Time for clients to leave.
const GOODBYE: Duration = Duration::from_secs(2);
const LINGER: Duration = Duration::from_millis(500);

/// The parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A client: the server's URL, its own name, and the number of lines that it sends.
    Client(String, String, u32),
    /// A server: its address, and the number of clients.
    Server(String, u32),
}

/// Plays one role, and exits with 1 if something was lost, 2 if the command line is invalid.
pub fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (role, patience) = parse(&arguments).unwrap_or_else(|why| {
        eprintln!("{why}");
        std::process::exit(2)
    });
    let result = match role {
        Role::Client(url, name, lines) => play(&url, &name, lines, patience),
        Role::Server(address, clients) => serve(&address, clients, patience),
    };
    println!("{}", result.json);
    std::process::exit(if result.is_ok { 0 } else { 1 })
}

/// Reads a command line: the role, and the time limit.
pub fn parse(arguments: &[String]) -> Result<(Role, Duration), String> {
    let mut values = BTreeMap::new();
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(format!("{} has no value", pair[0])) };
        let known = ["--server", "--name", "--lines", "--seconds", "--listen", "--clients"];
        if !known.contains(&name.as_str()) {
            return Err(format!("{name} is none of {}", known.join(", ")));
        }
        values.insert(name.as_str(), value.as_str());
    }
    let number = |name: &str, default: u32| {
        values
            .get(name)
            .map_or(Ok(default), |value| value.parse().map_err(|_| format!("{name} {value} is not a number")))
    };
    let patience = Duration::from_secs(number("--seconds", 30)?.into());
    match (values.get("--server"), values.get("--listen")) {
        (Some(url), None) => {
            let name = values.get("--name").copied().unwrap_or("rust");
            Ok((Role::Client((*url).into(), name.into(), number("--lines", 100)?), patience))
        }
        (None, Some(address)) => Ok((Role::Server((*address).into(), number("--clients", 1)?), patience)),
        _ => Err("either --server URL or --listen HOST:PORT".into()),
    }
}

/// A program's result.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether every line arrived once, in order and unchanged.
    pub is_ok: bool,
    /// The result as a line of JSON.
    pub json: String,
}

/// A stress line, whose content every program can compute.
pub fn line(name: &str, number: u32) -> String {
    let filler = (0..number * 37 % 1_500).map(|i| char::from(b'a' + ((number + i) % 26) as u8));
    format!("{name} {number} {}", filler.collect::<String>())
}

/// The lines received from each name.
#[derive(Debug, Default)]
struct Ledger {
    lines: u32,
    next_line: BTreeMap<String, u32>,
    next_chat: BTreeMap<String, u32>,
    received: u32,
    chats: u32,
    duplicated: u32,
    out_of_order: u32,
    changed: u32,
}

impl Ledger {
    fn new(names: &str, lines: u32) -> Self {
        let all = |first| names.split(' ').map(|name| (name.to_owned(), first)).collect();
        Ledger { lines, next_line: all(1), next_chat: all(10), ..Ledger::default() }
    }

    fn on_line(&mut self, text: &str) {
        let mut words = text.splitn(3, ' ');
        let (name, number) = (words.next().unwrap_or_default(), words.next().and_then(|word| word.parse().ok()));
        match (self.next_line.get_mut(name), number) {
            (Some(next), Some(number)) if text == line(name, number) => {
                self.received += 1;
                self.duplicated += u32::from(number < *next);
                self.out_of_order += u32::from(number > *next);
                *next = (*next).max(number + 1);
            }
            _ => self.changed += 1,
        }
    }

    fn on_chat(&mut self, text: &str) {
        let mut words = text.split(' ');
        let (name, number) = (words.next().unwrap_or_default(), words.next().and_then(|word| word.parse::<u32>().ok()));
        match (self.next_chat.get_mut(name), number) {
            (Some(next), Some(number)) if words.next().is_none() => {
                self.chats += 1;
                self.duplicated += u32::from(number < *next);
                self.out_of_order += u32::from(number > *next);
                *next = (*next).max(number + 10);
            }
            _ => self.changed += 1,
        }
    }

    fn is_complete(&self) -> bool {
        self.next_line.values().chain(self.next_chat.values()).all(|next| *next > self.lines)
    }

    fn is_clean(&self) -> bool {
        let names = self.next_line.len() as u32;
        let counted = (self.received, self.chats) == (self.lines * names, self.lines / 10 * names);
        counted && self.is_complete() && (self.duplicated, self.out_of_order, self.changed) == (0, 0, 0)
    }
}

/// One client.
pub fn play(url: &str, name: &str, lines: u32, patience: Duration) -> Outcome {
    let mut player = Player { name, lines, ledger: Ledger::default(), sent: 0, next: None, is_done: false };
    let ended = player.run(url, Instant::now() + patience);
    let is_ok = ended.is_ok() && player.ledger.is_clean();
    let reason = ended.err().map(|why| quoted(&why.to_string())).unwrap_or_else(|| "\"\"".into());
    let Ledger { received, chats, duplicated, out_of_order, changed, .. } = player.ledger;
    let json = format!(
        "{{\"event\":\"result\",\"role\":\"client\",\"language\":\"rust\",\"name\":{},\"sent\":{},\
         \"received\":{received},\
         \"chats\":{chats},\"duplicated\":{duplicated},\"out_of_order\":{out_of_order},\"changed\":{changed},\
         \"ok\":{is_ok},\
         \"reason\":{reason}}}",
        quoted(name),
        player.sent,
    );
    Outcome { is_ok, json }
}

struct Player<'a> {
    name: &'a str,
    lines: u32,
    ledger: Ledger,
    sent: u32,
    /// The time of the next line; `None` before the server says `go`.
    next: Option<Instant>,
    is_done: bool,
}

impl Player<'_> {
    /// Plays until the server ends the game.
    fn run(&mut self, url: &str, end: Instant) -> Result<(), Failure> {
        // With it the client follows when its server moves it to another one.
        let config = ClientConfig { reconnect: Some(Reconnect::default()), ..ClientConfig::default() };
        let mut client = Client::connect(url, self.name.as_bytes(), config)?;
        loop {
            if Instant::now() >= end {
                return Err("it is not over within the time limit".into());
            }
            client.wait(EVERY / 2);
            let mut is_over = false;
            while let Some(event) = client.poll_event() {
                match event {
                    Event::Connected { .. } => println!("{{\"event\":\"connected\"}}"),
                    Event::Closed { close, .. } => {
                        return Err(format!("closed: {} {}", close.code, close.reason_text()).into());
                    }
                    Event::Message { channel, payload, .. } => {
                        is_over |= self.on_message(&mut client, channel, &String::from_utf8_lossy(&payload))?;
                    }
                    _ => {}
                }
            }
            if is_over {
                client.close(code::NONE, "thank you", LINGER);
                return Ok(());
            }
            self.say(&mut client)?;
        }
    }

    /// True if the game has ended.
    fn on_message(&mut self, client: &mut Client, channel: u16, text: &str) -> Result<bool, Failure> {
        if channel == STRESS {
            self.ledger.on_line(text);
        } else if let Some(names) = text.strip_prefix("start ") {
            self.ledger = Ledger::new(names, self.lines);
            client.send(CONTROL, "ready")?;
        } else if text == "go" {
            self.next = Some(Instant::now());
        } else if let Some(chat) = text.strip_prefix("chat ") {
            self.ledger.on_chat(chat);
        }
        Ok(channel == CONTROL && text == "over")
    }

    /// Sends the lines that are due.
    fn say(&mut self, client: &mut Client) -> Result<(), Failure> {
        let Some(next) = &mut self.next else { return Ok(()) };
        while self.sent < self.lines && *next <= Instant::now() {
            *next += EVERY;
            self.sent += 1;
            client.send(STRESS, line(self.name, self.sent))?;
            if self.sent.is_multiple_of(10) {
                client.send(CONTROL, format!("chat {} {}", self.name, self.sent))?;
            }
        }
        if !self.is_done && self.sent == self.lines && self.ledger.is_complete() {
            self.is_done = true;
            client.send(CONTROL, "done")?;
        }
        Ok(())
    }
}

/// The server.
pub fn serve(address: &str, clients: u32, patience: Duration) -> Outcome {
    let mut host = Host::default();
    let ended = host.run(address, clients, Instant::now() + patience);
    let is_ok = ended.is_ok();
    let reason = ended.err().map(|why| quoted(&why.to_string())).unwrap_or_else(|| "\"\"".into());
    let json = format!(
        "{{\"event\":\"result\",\"role\":\"server\",\"language\":\"rust\",\"clients\":{clients},\"lines\":{},\
         \"chats\":{},\
         \"ok\":{is_ok},\"reason\":{reason}}}",
        host.lines, host.chats,
    );
    Outcome { is_ok, json }
}

#[derive(Default)]
struct Host {
    names: BTreeMap<PeerId, String>,
    connected: BTreeSet<PeerId>,
    lines: u32,
    chats: u32,
    ready: u32,
    done: u32,
    has_started: bool,
    is_going: bool,
    is_over: bool,
}

impl Host {
    fn run(&mut self, address: &str, clients: u32, mut end: Instant) -> Result<(), Failure> {
        let mut server = Server::start(ServerConfig::new(address.parse()?))?;
        let (url, port) = (server.url(), server.local_addr().port());
        // Browsers accept only a certificate that is valid for a few days, so they get another one.
        let has_pages = server.webtransport_url().is_some();
        let pin = server.web_fingerprints().first().copied().filter(|_| has_pages);
        let pages = pin.map(|pin| format!(",\"pages\":\"https://127.0.0.1:{port}#sha256={pin}\"")).unwrap_or_default();
        println!("{{\"event\":\"listening\",\"url\":{},\"port\":{port}{pages}}}", quoted(&url));
        while !self.is_over || !self.connected.is_empty() {
            if Instant::now() >= end {
                let open = format!("{} clients, {} done", self.connected.len(), self.done);
                let late = format!("it is not over within the time limit: {open}");
                return if self.is_over { Ok(()) } else { Err(late.into()) };
            }
            server.wait(EVERY / 2);
            while let Some(event) = server.poll_event() {
                self.on_event(&mut server, event)?;
            }
            if !self.has_started && self.connected.len() as u32 == clients {
                self.has_started = true;
                let names: Vec<&str> = self.connected.iter().map(|peer| self.names[peer].as_str()).collect();
                server.broadcast(Group::EVERYONE, CONTROL, format!("start {}", names.join(" ")))?;
            }
            if !self.is_going && self.ready == clients {
                self.is_going = true;
                server.broadcast(Group::EVERYONE, CONTROL, "go")?;
            }
            if !self.is_over && self.done == clients {
                (self.is_over, end) = (true, Instant::now() + GOODBYE);
                server.broadcast(Group::EVERYONE, CONTROL, "over")?;
            }
            server.flush()?;
        }
        server.shutdown(code::SHUTDOWN, "the game is over", LINGER);
        Ok(())
    }

    fn on_event(&mut self, server: &mut Server, event: Event) -> Result<(), Failure> {
        match event {
            Event::Requested { peer, token, .. } => {
                self.names.insert(peer, String::from_utf8_lossy(&token).into_owned());
                server.accept(peer)?;
            }
            Event::Connected { peer, .. } => drop(self.connected.insert(peer)),
            Event::Message { channel: STRESS, payload, .. } => {
                self.lines += 1;
                server.broadcast(Group::EVERYONE, STRESS, payload)?;
            }
            Event::Message { channel: CONTROL, payload, .. } if payload.starts_with(b"chat ") => {
                self.chats += 1;
                server.broadcast(Group::EVERYONE, CONTROL, payload)?;
            }
            Event::Message { channel: CONTROL, payload, .. } if payload == "ready" => self.ready += 1,
            Event::Message { channel: CONTROL, payload, .. } if payload == "done" => self.done += 1,
            Event::Closed { peer, close } => {
                self.connected.remove(&peer);
                if !self.is_over {
                    let name = self.names.get(&peer).map_or("nobody", String::as_str);
                    let why = format!("{} {}", close.code, close.reason_text());
                    return Err(format!("{name} left before the end: {why}").into());
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|letter| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if letter.is_control() => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
