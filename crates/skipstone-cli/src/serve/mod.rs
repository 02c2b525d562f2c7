//! `skipstone serve`: a server that forwards each line to all clients, its console, and its shutdown.
//!
//! ```text
//! console sessions, parent process ──> admin (questions) ──> the loop: game ──> skipstone::Server
//! ```
//! One loop owns everything and runs once a tick; other threads send requests to the loop and wait for the next tick.

pub(crate) mod admin;
#[cfg(feature = "fleet")]
mod agones;
mod audience;
mod commands;
#[cfg(feature = "dashboard")]
mod dashboard_flags;
#[cfg(feature = "db")]
mod database_flags;
pub(crate) mod game;
mod inherited;
mod input;
#[cfg_attr(not(feature = "fleet"), path = "node_left_out.rs")]
mod node;
mod piped;
mod protection;
mod rates;
mod recording;
mod restart;
mod succession;
mod ticks;
#[cfg_attr(not(feature = "fleet"), path = "travel_left_out.rs")]
mod travel;
mod unused_memory;
mod visit;
mod who;

use crate::console::{Console, ConsoleConfig};
use crate::door::{Secret, check_reach};
use crate::qlog_flags::{QlogFlags, QlogWatch};
use crate::sharing;
use admin::{Admin, Question};
use audience::{Audience, ServerEnd, Watcher};
use game::Game;
use inherited::{Addresses, Inherited};
use restart::{DrainPhase, Restart, RestartStep};
use skipstone::{ListenerRules, Security, Server, ServerConfig, Settings, code};
use skipstone_lab::report::Exit;
use skipstone_lab::report::format::{counted, seconds};
use skipstone_lab::report::output;
use skipstone_lab::resilience;
use skipstone_lab::signals::Signals;
use skipstone_lab::units::{Rate, Size, Span};
use skipstone_lab::workload::{self, Workload};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use succession::Succession;
use ticks::Ticks;
use unused_memory::UnusedMemory;

/// Flags of `serve`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ServeArguments {
    /// Address of UDP and of TCP (WebSocket, TLS, HTTP); [::]:7777 serves IPv6 and IPv4, port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:7777")]
    pub(crate) listen: SocketAddr,
    /// Recipients of a line: all clients, or only its sender. Stress runs verify that lines reach all clients, so a
    /// server that echoes turns their clients away
    #[arg(long, value_enum, default_value_t = Workload::Broadcast)]
    pub(crate) workload: Workload,
    /// Ticks a second; 0 runs unthrottled, as fast as one core can
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) tick: u32,
    /// Address of the telnet console, or `off`; any other than loopback needs --console-token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7778")]
    pub(crate) console: String,
    /// The token that a console session must send first, and that the dashboard requires: 16 bytes or more, such as the
    /// output of `openssl rand -hex 16`
    #[arg(long, value_name = "TOKEN", env = "SKIPSTONE_CONSOLE_TOKEN", hide_env_values = true)]
    pub(crate) console_token: Option<String>,
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    pub(crate) dashboard: dashboard_flags::DashboardFlags,
    #[cfg(feature = "db")]
    #[command(flatten)]
    pub(crate) database: database_flags::DatabaseFlags,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    pub(crate) agones: agones::AgonesFlags,
    /// Bytes that may wait for one client before it is disconnected as too slow
    #[arg(long, value_name = "BYTES", default_value = "4MiB")]
    pub(crate) queue: Size,
    #[command(flatten)]
    pub(crate) recording: recording::RecordingFlags,
    #[command(flatten)]
    pub(crate) qlog: QlogFlags,
    /// Maximum number of clients; further clients are told that the server is full
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    pub(crate) clients_max: u32,
    /// Maximum number of clients of one network (IPv4 /24, IPv6 /56); by default three times the number of free places,
    /// at least 8, and no limit for loopback and private addresses
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) clients_of_network_max: Option<u32>,
    #[command(flatten)]
    pub(crate) sharing: sharing::SharingFlags,
    #[command(flatten)]
    pub(crate) resilience: resilience::ResilienceFlags,
    /// Disable WebSocket
    #[arg(long)]
    pub(crate) no_websocket: bool,
    /// Disable WebTransport
    #[arg(long)]
    pub(crate) no_webtransport: bool,
    /// Require TLS over TCP: wss://, not ws:// or tcp://; requests for pages are redirected to https://
    #[arg(long, conflicts_with = "no_websocket")]
    pub(crate) require_tls: bool,
    /// A proxy, by address or network, that may name the client of a connection (PROXY protocol, X-Forwarded-For); may
    /// be given several times
    #[arg(long, value_name = "ADDRESS[/BITS]", conflicts_with = "no_websocket")]
    pub(crate) trusted_proxy: Vec<String>,
    /// Serve browsers only under this host name; may be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "no_websocket")]
    pub(crate) host: Vec<String>,
    /// Accept browsers only from pages of this origin, such as https://game.example; may be given several times. Others
    /// get HTTP 403; programs other than browsers send no origin and are accepted
    #[arg(long, alias = "allow-origin", value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,
    #[command(flatten)]
    pub(crate) node: node::NodeFlags,
    #[command(flatten)]
    pub(crate) protection: protection::ProtectionFlags,
    /// Stop after this time
    #[arg(short, long, value_name = "TIME")]
    pub(crate) duration: Option<Span>,
    /// Run server and N stress clients in one process
    #[arg(long, value_name = "N")]
    pub(crate) stress: Option<u32>,
    /// With --stress: lines of each client
    #[arg(short, long, value_name = "RATE", default_value = "1/s", requires = "stress")]
    pub(crate) rate: Rate,
    /// Check whether a server with these flags would start, without listening, and report it by the exit code and a
    /// message: reads the certificates, and tests the database and the directories of logs
    #[arg(long)]
    pub(crate) check: bool,
    /// Read flags from a TOML file: `listen = "0.0.0.0:7777"`, `tick = 30`, `allow-plain = true`, `cert = ["a.pem"]`. A
    /// flag of the command line counts before the file's; a restart (SIGUSR2) reads the file again
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<std::path::PathBuf>,
    /// Communicate with a parent process over standard input and output
    #[arg(long, hide = true)]
    pub(crate) piped: bool,
}

/// Its name and version.
const PROGRAM: &str = concat!("skipstone ", env!("CARGO_PKG_VERSION"));
/// Time limit for queued reliable lines to leave when the server ends.
const LINGER: Duration = Duration::from_secs(1);

/// Runs a server until it receives the order to stop.
pub(crate) fn run(arguments: &ServeArguments) -> Exit {
    if arguments.check {
        let checked = check(arguments, None).and_then(|_| check_surroundings(arguments));
        return Exit::of("serve", checked.map(|()| Exit::Pass));
    }
    Exit::of("serve", start(arguments).map(|serving| serving.run(arguments)))
}

impl ServeArguments {
    /// Whether what is printed at the end is the result of a run.
    pub(crate) fn has_result(&self) -> bool {
        self.stress.is_some()
    }
}

/// Everything that runs while the server does.
struct Serving {
    game: Game,
    audience: Audience,
    questions: mpsc::Receiver<Question>,
    signals: Signals,
    admin: Admin,
    recording: Option<recording::Watch>,
    qlog: Option<QlogWatch>,
    security: Security,
    /// Present once no new handshake begins.
    succession: Option<Succession>,
}

/// The settings of a server that would start.
struct Checked {
    queue_bytes_max: u32,
    security: Security,
    addresses: Addresses,
    /// The token of the console and of the dashboard.
    secret: Option<Secret>,
}

/// Checks everything that needs no socket and no database.
fn check(arguments: &ServeArguments, handed: Option<&str>) -> Result<Checked, String> {
    let Size::Bytes(queue_bytes_max) = arguments.queue else {
        return Err("--queue is a number of bytes, such as 4MiB".into());
    };
    if arguments.workload == Workload::Echo && arguments.stress.is_some() {
        return Err("--stress proves that lines reach all clients: leave out --workload echo".into());
    }
    let queue_bytes_max = u32::try_from(queue_bytes_max).map_err(|_| "--queue is at most 4 GiB".to_string())?;
    let console = match arguments.console.as_str() {
        "off" => None,
        text => Some(
            text.parse()
                .map_err(|_| format!("--console '{text}' is not an address (example: 127.0.0.1:7778, or off)"))?,
        ),
    };
    #[cfg(feature = "dashboard")]
    let dashboard = arguments.dashboard.address();
    #[cfg(not(feature = "dashboard"))]
    let dashboard = None;
    let addresses = Addresses { game: arguments.listen, console, dashboard };
    let secret = arguments.console_token.as_deref().map(Secret::new).transpose()?;
    for (what, listen) in [("console", console), ("dashboard", dashboard)] {
        listen.map_or(Ok(()), |listen| check_reach(what, listen, secret.as_ref()))?;
    }
    Ok(Checked { queue_bytes_max, security: arguments.protection.security(handed)?, addresses, secret })
}

/// Checks the other requirements of a start, without which the next process would fail after a restart.
fn check_surroundings(arguments: &ServeArguments) -> Result<(), String> {
    #[cfg(feature = "db")]
    arguments.database.check()?;
    arguments.node.check()?;
    arguments.recording.check()?;
    arguments.qlog.begin().map(drop)
}

fn start(arguments: &ServeArguments) -> Result<Serving, String> {
    let signals = if arguments.piped { Signals::watch_as_child()? } else { Signals::watch()? };
    let restart = Restart::new(!arguments.piped && arguments.stress.is_none())?;
    skipstone::net::wait::raise_open_files_limit();
    let handed = succession::handed_identity()?;
    let Checked { queue_bytes_max, security, addresses, secret } = check(arguments, handed.as_deref())?;
    let inherited = Inherited::take(addresses)?;
    #[cfg(feature = "db")]
    let database = arguments.database.open()?;
    let listener_rules = ListenerRules {
        origins: arguments.origin.clone(),
        hosts: arguments.host.clone(),
        requires_tls: arguments.require_tls,
        ..ListenerRules::default()
    };
    let qlog = arguments.qlog.begin()?;
    let server = Server::start(ServerConfig {
        security: Some(security.clone()),
        packet_log: qlog.as_ref().map(|qlog| qlog.endpoint("server")),
        websocket: !arguments.no_websocket,
        webtransport: cfg!(feature = "carriers") && !arguments.no_webtransport,
        listener_rules,
        trusted_proxies: arguments.trusted_proxy.clone(),
        connections_max: arguments.clients_max,
        players_of_network_max: arguments.clients_of_network_max,
        shards: arguments.sharing.shards(),
        settings: settings(arguments, queue_bytes_max),
        congestion: arguments.resilience.congestion(),
        sockets: inherited.game,
        ..ServerConfig::new(arguments.listen)
    });
    let mut server = server.map_err(|error| error.to_string())?;
    let recording = arguments.recording.begin(&mut server)?;
    let (asks, questions) = mpsc::channel();
    let admin = Admin::new(asks);
    #[cfg(feature = "db")]
    let admin = admin.with_database(database.as_ref().map(|database| database.url()));
    let console = addresses.console.map(|listen| {
        let config = ConsoleConfig {
            listen,
            handed: inherited.console,
            secret: secret.clone(),
            banner: format!("{PROGRAM} on {}; `help` lists the commands", server.local_addr()),
            ..ConsoleConfig::default()
        };
        let console = Console::listen(config, Arc::new(admin.clone()));
        console.map_err(|error| format!("{error} (--console off goes without)"))
    });
    let watchers: Vec<Option<Box<dyn Watcher>>> = vec![
        #[cfg(feature = "dashboard")]
        dashboard(arguments, queue_bytes_max, secret, &admin, &server, inherited.dashboard)?,
        #[cfg(feature = "db")]
        database.map(|database| Box::new(database) as Box<dyn Watcher>),
        #[cfg(feature = "fleet")]
        arguments.agones.begin()?.map(|agones| Box::new(agones) as Box<dyn Watcher>),
    ];
    let audience = Audience { console: console.transpose()?, watchers: watchers.into_iter().flatten().collect() };
    let dashboard = audience.dashboard_address();
    let facts = node::NodeFacts {
        dashboard,
        places: arguments.clients_max,
        workload: arguments.workload,
        is_pinned: arguments.protection.cert.is_empty(),
    };
    let node = arguments.node.join(&server, &facts)?;
    let game = Game::new(server, arguments.workload, restart, node);
    let qlog = qlog.map(|qlog| QlogWatch::new("serve", qlog));
    Ok(Serving { game, audience, questions, signals, admin, recording, qlog, security, succession: None })
}

/// A node's clients can be moved to other nodes, which have the same channels.
fn settings(arguments: &ServeArguments, queue_bytes_max: u32) -> Settings {
    let settings = workload::settings(queue_bytes_max, arguments.resilience.redundancy());
    if arguments.node.name().is_some() { workload::with_moves(settings) } else { settings }
}

#[cfg(feature = "dashboard")]
fn dashboard(
    arguments: &ServeArguments,
    queue_bytes_max: u32,
    secret: Option<Secret>,
    admin: &Admin,
    server: &Server,
    handed: Option<std::net::TcpListener>,
) -> Result<Option<Box<dyn Watcher>>, String> {
    let facts = dashboard_flags::GameFacts {
        workload: arguments.workload,
        ticks_per_second: arguments.tick,
        websocket: !arguments.no_websocket,
        queue_bytes_max,
        node: arguments.node.name(),
        #[cfg(feature = "fleet")]
        login: arguments.node.nats.words(),
        secret,
    };
    let dashboard = arguments.dashboard.listen(&facts, admin, server, handed)?;
    Ok(dashboard.map(|dashboard| Box::new(dashboard) as Box<dyn Watcher>))
}

/// Why the loop ended.
enum Ending {
    /// Permanently, for this reason.
    Stop(&'static str),
    /// The driver gave up.
    Failure(String),
    /// The next server is at this address, or here.
    Restart(Option<String>),
}

impl Serving {
    fn run(mut self, arguments: &ServeArguments) -> Exit {
        self.announce(arguments);
        if arguments.piped {
            piped::listen(&self.admin);
        }
        let clients = arguments
            .stress
            .map(|clients| crate::stress::beside(&self.game.server.url(), clients, arguments.rate, arguments.duration));
        skipstone::net::wait::sharpen_timers();
        let began = Instant::now();
        let mut ticks = Ticks::new(arguments.tick);
        let mut unused_memory = UnusedMemory::new(began);
        let reason = loop {
            ticks.wait();
            self.answer(&mut ticks);
            self.game.tick(&self.audience);
            unused_memory.tick(Instant::now(), self.game.guests.len());
            self.tell_of_certificates();
            self.recording.iter_mut().for_each(|recording| recording.tell(&self.game.server));
            self.qlog.iter_mut().for_each(QlogWatch::tell);
            let took = ticks.done();
            self.audience.all().for_each(|watcher| watcher.tick(self.game.lines, took));
            if let Some(failure) = self.game.server.failure() {
                break Ending::Failure(failure);
            }
            let arriving = if self.game.restart.is_under_way() { self.game.arriving() } else { 0 };
            match self.game.restart.step(Instant::now(), arriving, self.game.drain_phase()) {
                RestartStep::GoOn => {}
                RestartStep::Drain => self.game.begin_drain(&self.audience),
                RestartStep::MakeReady => match self.make_ready() {
                    Ok(succession) => self.succession = Some(succession),
                    Err(why) => {
                        self.game.restart.stay();
                        self.game.end_drain();
                        self.tell_of_no_restart(&why);
                    }
                },
                RestartStep::Stay(why) => self.tell_of_no_restart(&why),
                RestartStep::Leave(to) => break Ending::Restart(to),
            }
            if self.signals.is_set() && self.is_given_away() {
                break Ending::Stop("the server shuts down");
            }
            if self.game.must_stop || clients.as_ref().is_some_and(|clients| clients.is_finished()) {
                break Ending::Stop("the server shuts down");
            }
            if arguments.duration.is_some_and(|duration| arguments.stress.is_none() && began.elapsed() >= duration.0) {
                break Ending::Stop("the server's time is over");
            }
        };
        let exit = self.end(arguments, reason, began);
        match clients.map(|clients| clients.join()) {
            // The server that was away was this process's own.
            Some(Ok(Exit::Unavailable)) => Exit::Fail,
            // A server that failed was not unreachable.
            Some(Ok(verdict)) if exit == Exit::Pass => verdict,
            // The clients' thread panicked, and has printed the panic.
            Some(Err(_)) => Exit::Fail,
            _ => exit,
        }
    }

    fn announce(&self, arguments: &ServeArguments) {
        sharing::warn_of(self.game.server.warnings());
        let address = self.game.server.local_addr();
        if arguments.piped {
            let console = self.audience.console.as_ref().map(|console| console.local_addr().to_string());
            let (webtransport, hashes) = self.game.webtransport().unzip();
            output::say(serde_json::json!({
                "listening": address.to_string(),
                "url": self.game.server.url(),
                "webtransport": webtransport,
                "certificate_hashes": hashes,
                "console": console,
            }));
            return;
        }
        let host = if address.ip().is_unspecified() { "127.0.0.1".into() } else { address.ip().to_string() };
        let host = if address.is_ipv6() && host.contains(':') { format!("[{host}]") } else { host };
        let mut text = format!("{PROGRAM} serves on {address}\n");
        text += &format!("  native     {}\n", self.game.server.url());
        if let Some(url) = self.game.dtls_url(host.trim_matches(['[', ']'])) {
            text += &format!("  by DTLS    {url}\n");
        }
        if arguments.protection.allow_plain {
            text += &format!("  in clear   skip+plain://{host}:{}\n", address.port());
        }
        if !arguments.no_websocket {
            if !arguments.require_tls {
                text += &format!("  browsers   ws://{host}:{}\n", address.port());
            }
            text += &format!("  by TLS     {}\n", self.game.server.url().replacen("skip://", "wss://", 1));
            if !arguments.require_tls {
                text += &format!("  by TCP     tcp://{host}:{}\n", address.port());
            }
        }
        if let Some((url, hashes)) = self.game.webtransport() {
            // Together with the hash, this is the argument of a page's `connect`.
            let pin = hashes.first().map_or(String::new(), |hash| format!("#sha256={hash}"));
            text += &format!("  pages      {url}{pin} by WebTransport\n");
            if let Some(next) = hashes.get(1) {
                text += &format!("             the next certificate: sha256={next}; give pages both hashes\n");
            }
        }
        if address.ip().is_unspecified() {
            text += "             from other machines: with this machine's address in place of the one above\n";
        }
        if let Some(console) = &self.audience.console {
            let local = console.local_addr();
            text += &format!("  console    telnet {} {}\n", local.ip(), local.port());
        }
        if let Some(url) = self.audience.dashboard_url() {
            text += &format!("  dashboard  {url}\n");
        }
        output::say(text + "  stop with Ctrl-C");
        #[cfg(feature = "dashboard")]
        arguments.dashboard.open(self.audience.dashboard_url().as_deref());
    }

    /// Whether a server that was told to end has no players any more that another node takes. The first call begins to
    /// move them there.
    fn is_given_away(&mut self) -> bool {
        match self.game.drain_phase() {
            DrainPhase::Possible => self.game.begin_drain(&self.audience),
            DrainPhase::UnderWay => {}
            DrainPhase::Nothing => return true,
        }
        false
    }

    /// Collects the data that the next program needs, and makes new clients wait for it. No client is disconnected
    /// before this has succeeded.
    fn make_ready(&mut self) -> Result<Succession, String> {
        let sockets = self.game.server.listen_sockets().map_err(|error| error.to_string())?;
        let others = self.audience.listeners().map_err(|error| error.to_string())?;
        let sockets = sockets.ok_or("the server has no sockets")?;
        let succession = Succession::new(&sockets, others, self.security.handover())?;
        self.game.server.stop_inviting().map_err(|error| error.to_string())?;
        Ok(succession)
    }

    fn tell_of_no_restart(&self, why: &str) {
        output::complain(format_args!("skipstone serve: no restart: {why}"));
        self.audience.all().for_each(|watcher| watcher.log(&format!("no restart: {why}")));
    }

    /// Writes certificate events into the log.
    fn tell_of_certificates(&self) {
        while let Some(event) = self.game.server.poll_certificate_event() {
            output::complain(format_args!("skipstone serve: {event}"));
        }
    }

    /// Answers the requests since the last tick.
    fn answer(&mut self, ticks: &mut Ticks) {
        while let Ok(question) = self.questions.try_recv() {
            let reply = self.game.answer(&question, ticks, &self.audience);
            question.answer(reply);
        }
    }

    fn end(mut self, arguments: &ServeArguments, ending: Ending, began: Instant) -> Exit {
        let (text, exit) = match ending {
            Ending::Stop(text) => (text, Exit::Pass),
            Ending::Failure(failure) => {
                output::complain(format_args!("skipstone serve: the driver gave up: {failure}"));
                ("the server failed", Exit::Fail)
            }
            Ending::Restart(to) => return self.make_way(to.as_deref(), began),
        };
        let count = self.game.guests.len();
        if let Some(why) = self.game.why_no_drain() {
            output::complain(format_args!("skipstone serve: {why}"));
        }
        // Whom a drain has left here goes to another node all the same.
        let elsewhere = self.game.elsewhere().filter(|_| count > 0);
        let (code, reason) = match elsewhere {
            Some(to) => (code::RESTART, restart::notice(count, Some(&to)).to_string()),
            None => (code::SHUTDOWN, text.to_owned()),
        };
        self.game.leave_fleet();
        self.game.part(&self.audience, code);
        self.audience.close(text);
        self.game.server.shutdown(code, &reason, LINGER);
        self.audience.finish(ServerEnd::Final);
        if !arguments.piped {
            let told = counted(count as u64, "client");
            output::say(format_args!("{text} after {} s; told {told} why", seconds(began.elapsed())));
        }
        exit
    }

    /// Tells the players when and where to reconnect. Unless they go to another server, this process becomes the next
    /// program.
    fn make_way(mut self, to: Option<&str>, began: Instant) -> Exit {
        let count = self.game.guests.len();
        let notice = restart::notice(count, to);
        // Its name is free before the successor takes it.
        self.game.leave_fleet();
        // Players come first, so that nothing delays their lines from now on.
        self.game.part(&self.audience, code::RESTART);
        self.game.server.shutdown(code::RESTART, &notice.to_string(), LINGER);
        self.audience.close("the server restarts");
        let is_followed = self.succession.is_some() && !self.signals.is_set();
        self.audience.finish(if is_followed { ServerEnd::Inherited } else { ServerEnd::Final });
        let told = counted(count as u64, "client");
        output::say(format_args!("the server restarts after {} s; told {told} ({notice})", seconds(began.elapsed())));
        // The thread that writes the log of packets ends with this process: it completes the files first.
        drop(self.qlog.take());
        // A signal that arrived meanwhile is meant for the successor too, which would not see it.
        if self.signals.is_set() {
            return Exit::Pass;
        }
        let Some(succession) = self.succession else { return Exit::Pass };
        output::complain(format_args!("skipstone serve: no successor could be started: {}", succession.follow()));
        Exit::Fail
    }
}
