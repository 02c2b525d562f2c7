//! Skipstone's clients over WebTransport, as web pages use it.

use std::time::Duration;

use bytes::Bytes;
use skipstone::{Event, Target};
use skipstone_proto::Config;

use super::driver::{BenchClients, ClientEvent, ClientSetup, OnEvent};
use super::skipstone::channel;
use crate::quic::pages::Pages;

/// The clients.
pub(super) struct WebTransportClients {
    pages: Pages,
    channel: u16,
}

impl WebTransportClients {
    pub(super) fn new(url: &str, setup: ClientSetup) -> Result<Self, String> {
        let own: Target = url.parse().map_err(|error: skipstone::UrlError| error.to_string())?;
        let server = own.resolve().map_err(|error| error.to_string())?;
        let config = Config { congestion: setup.congestion, ..Config::client() };
        let seed = [setup.first.to_le_bytes(); 8].concat().try_into().expect("32 bytes");
        let pages = Pages::new(server, config, seed, b"bench")?;
        Ok(WebTransportClients { pages, channel: channel(setup.trial.variant.delivery()) })
    }

    fn take_events(&mut self, on_event: &mut OnEvent<'_>) {
        while let Some((client, event)) = self.pages.poll_event() {
            match event {
                Event::Message { payload, .. } => on_event(ClientEvent::Line { client, line: &payload, at_ns: None }),
                Event::Connected { .. } => on_event(ClientEvent::Connected(client)),
                Event::Closed { close, .. } => {
                    let reason = format!("{} (code {})", close.reason_text(), close.code);
                    on_event(ClientEvent::Gone { client, reason });
                }
                _ => {}
            }
        }
    }
}

impl BenchClients for WebTransportClients {
    fn connect(&mut self) -> Result<(), String> {
        self.pages.connect();
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        self.pages.send(client, self.channel, Bytes::copy_from_slice(line))
    }

    fn flush(&mut self) {
        self.pages.flush();
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        self.pages.receive(wait_max)?;
        self.take_events(on_event);
        self.pages.transmit();
        Ok(())
    }

    fn close(&mut self) {
        self.pages.close("the bench is over");
    }
}
