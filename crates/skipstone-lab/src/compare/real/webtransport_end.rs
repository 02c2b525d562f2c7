//! Skipstone's client as a web page runs it: the protocol in WebTransport datagrams.

use std::collections::VecDeque;
use std::time::Duration;

use skipstone::{Event, Target};
use skipstone_proto::Config;

use super::end::RealEnd;
use super::skipstone_end::{ended, telemetry};
use crate::compare::packet_logs::PacketLogs;
use crate::compare::peers::peer::{Telemetry, Update};
use crate::measure::splitmix::splitmix;
use crate::quic::pages::Pages;

/// The client.
pub(super) struct WebTransportEnd {
    /// There is one.
    pages: Pages,
    is_connected: bool,
    ended: Option<String>,
    arrived: VecDeque<Update>,
}

impl WebTransportEnd {
    pub(super) fn connect(url: &str, mut seed: u64, logs: &PacketLogs) -> Result<Self, String> {
        let target: Target = url.parse().map_err(|error: skipstone::UrlError| error.to_string())?;
        let server = target.resolve().map_err(|error| error.to_string())?;
        let config = Config { packet_log: logs.client.clone(), ..Config::client() };
        let words: Vec<u8> = (0..4).flat_map(|_| splitmix(&mut seed).to_be_bytes()).collect();
        let mut pages = Pages::new(server, config, words.try_into().expect("32 bytes"), b"")?;
        pages.connect();
        Ok(WebTransportEnd { pages, is_connected: false, ended: None, arrived: VecDeque::new() })
    }
}

impl RealEnd for WebTransportEnd {
    fn drive(&mut self, wait_max: Duration) -> Result<(), String> {
        if let Some(ended) = &self.ended {
            return Err(ended.clone());
        }
        self.pages.flush();
        self.pages.receive(wait_max)?;
        while let Some((_, event)) = self.pages.poll_event() {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Message { channel, payload, age, .. } => {
                    self.arrived.push_back(Update { entity: channel, payload, age });
                }
                Event::Closed { close, .. } => self.ended = Some(ended(&close)),
                _ => {}
            }
        }
        self.pages.transmit();
        Ok(())
    }

    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn send(&mut self, update: Update) -> bool {
        self.pages.send(0, update.entity, update.payload)
    }

    fn poll_message(&mut self) -> Option<Update> {
        self.arrived.pop_front()
    }

    fn address(&self) -> String {
        String::new()
    }

    fn telemetry(&mut self) -> Telemetry {
        telemetry(&self.pages.totals())
    }
}
