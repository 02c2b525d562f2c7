//! A relay of UDP and TCP on one port number: clients use the relay's address in place of the server's.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use mio::{Poll, Token};
use skipstone::net::wait::raise_open_files_limit;

use super::engine::Ports;
use super::live_path::{Direction, LivePath};
use super::outages::Outages;
use super::path_settings::PathConfig;
use super::snapshot::LinkSnapshot;
use super::taps::Taps;
use super::tcp_relay::{FIRST_TOKEN, TcpRelay};
use super::udp_relay::UdpRelay;

/// The relayed protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Relayed {
    /// Both
    Both,
    /// UDP alone
    Udp,
    /// TCP alone
    Tcp,
}

/// The relay's ports.
pub(crate) struct Relay {
    udp: Option<UdpRelay>,
    tcp: Option<TcpRelay>,
}

impl Relay {
    /// Listens. A port of 0 is one that is free.
    pub(crate) fn open(
        relayed: Relayed,
        [listen, to]: [&str; 2],
        (config, seed): (&PathConfig, u64),
        poll: &Poll,
        taps: Taps,
    ) -> Result<Relay, String> {
        // A client is one open file, or two.
        raise_open_files_limit();
        let (mut listen, server) = (resolve("--listen", listen)?, resolve("--to", to)?);
        let registry = poll.registry();
        let mut relay = Relay { udp: None, tcp: None };
        if relayed != Relayed::Udp {
            let links = LivePath::new(&config.of_streams(), seed, Instant::now());
            let tcp = TcpRelay::open(listen, server, registry, (links, Outages::of(config)), taps.recorder.clone())?;
            // Both on one number, also on one that the system chose.
            listen = tcp.local();
            relay.tcp = Some(tcp);
        }
        if relayed != Relayed::Tcp {
            relay.udp = Some(UdpRelay::open(listen, server, registry, taps)?);
        }
        Ok(relay)
    }

    pub(crate) fn local(&self) -> SocketAddr {
        let udp = self.udp.as_ref().map(UdpRelay::local);
        udp.or(self.tcp.as_ref().map(TcpRelay::local)).expect("a relay relays something")
    }
}

impl Ports for Relay {
    fn on_ready(&mut self, token: Token, readable: bool, writable: bool) {
        match (&mut self.udp, &mut self.tcp) {
            (_, Some(tcp)) if token.0 >= FIRST_TOKEN => tcp.on_ready(token.0, readable, writable),
            (Some(udp), _) => udp.on_ready(token.0 as u64),
            _ => {}
        }
    }

    fn receive(&mut self, path: &mut LivePath) -> io::Result<bool> {
        let udp = self.udp.as_mut().is_some_and(|udp| udp.receive(path));
        let tcp = self.tcp.as_mut().is_some_and(TcpRelay::receive);
        Ok(udp || tcp)
    }

    fn transmit(&mut self, path: &mut LivePath) -> io::Result<()> {
        self.udp.iter_mut().for_each(|udp| udp.transmit(path));
        self.tcp.iter_mut().for_each(TcpRelay::transmit);
        Ok(())
    }

    fn next_time(&mut self, path: &LivePath) -> Option<Duration> {
        let tcp = self.tcp.as_ref()?;
        // TCP's links have their own epoch.
        Some(path.now() + tcp.next_time()?.saturating_sub(tcp.now()))
    }

    fn configure(&mut self, config: &PathConfig) {
        self.tcp.iter_mut().for_each(|tcp| tcp.configure(config));
    }

    fn take_down(&mut self, direction: Direction, length: Duration) {
        self.tcp.iter_mut().for_each(|tcp| tcp.take_down(direction, length));
    }

    fn describe(&self, snapshot: &mut LinkSnapshot) {
        snapshot.streams = self.tcp.as_ref().map(TcpRelay::counts);
        snapshot.sessions = self.udp.as_ref().map(UdpRelay::counts);
        snapshot.refused = self.udp.as_ref().map_or(0, UdpRelay::refused);
    }
}

fn resolve(flag: &str, text: &str) -> Result<SocketAddr, String> {
    let wrong = |error: io::Error| format!("{flag} {text}: {error} (for example 127.0.0.1:7777)");
    let mut found = text.to_socket_addrs().map_err(wrong)?;
    found.next().ok_or_else(|| format!("{flag} {text}: the name has no address"))
}
