//! One small driver for each transport: a server that is stepped by its tick, and many clients in one thread, each with
//! a socket of its own. The modules above decide the content of lines, the schedule and the counters.

pub(crate) mod driver;
#[cfg(feature = "peers")]
mod enet;
mod error;
mod listeners;
#[cfg(feature = "peers")]
mod quinn;
#[cfg(feature = "peers")]
mod renet;
mod skipstone;
mod tcp;
mod udp_bare;
mod watch;
#[cfg(feature = "peers")]
mod websocket;
#[cfg(feature = "peers")]
mod webtransport;

use std::net::SocketAddr;

use self::driver::{BenchClients, BenchServer, ClientSetup, ServerSetup};
use super::transport::BenchTransport;

/// Starts a server.
pub(crate) fn server(setup: ServerSetup<'_>) -> Result<Box<dyn BenchServer>, String> {
    Ok(match setup.trial.transport {
        BenchTransport::Skipstone
        | BenchTransport::SkipstonePlain
        | BenchTransport::SkipstoneWebSocket
        | BenchTransport::SkipstoneSecureWebSocket
        | BenchTransport::SkipstoneWebTransport
        | BenchTransport::SkipstoneMixed => Box::new(skipstone::SkipstoneServer::start(setup)?),
        BenchTransport::Tcp => Box::new(tcp::TcpServer::start(setup)?),
        BenchTransport::UdpBare | BenchTransport::UdpBareAcked => Box::new(udp_bare::BareServer::start(setup)?),
        #[cfg(feature = "peers")]
        BenchTransport::Enet => Box::new(enet::EnetServer::start(setup)?),
        #[cfg(feature = "peers")]
        BenchTransport::Renet => Box::new(renet::RenetDriver::start(setup)?),
        #[cfg(feature = "peers")]
        BenchTransport::Quinn => Box::new(quinn::QuinnServer::start(setup)?),
        #[cfg(feature = "peers")]
        BenchTransport::WebSocket => Box::new(websocket::WebSocketServer::start(setup)?),
        #[cfg(not(feature = "peers"))]
        other => unreachable!("{other} is refused by its name in a build without it"),
    })
}

/// How clients of one of Skipstone's transports reach the server that has this `skip://` URL.
pub(crate) fn url(transport: BenchTransport, url: &str) -> Result<String, String> {
    skipstone::url(skipstone::scheme(transport), url)
}

/// Clients of the server at this URL.
pub(crate) fn clients(url: &str, setup: ClientSetup) -> Result<Box<dyn BenchClients>, String> {
    let address = || url.parse::<SocketAddr>().map_err(|error| format!("the server's address {url}: {error}"));
    Ok(match setup.trial.transport {
        BenchTransport::Skipstone
        | BenchTransport::SkipstonePlain
        | BenchTransport::SkipstoneWebSocket
        | BenchTransport::SkipstoneSecureWebSocket
        | BenchTransport::SkipstoneMixed => Box::new(skipstone::SkipstoneClients::new(url, setup)?),
        #[cfg(feature = "peers")]
        BenchTransport::SkipstoneWebTransport => Box::new(webtransport::WebTransportClients::new(url, setup)?),
        BenchTransport::Tcp => Box::new(tcp::TcpClients::new(address()?)?),
        BenchTransport::UdpBare => Box::new(udp_bare::BareClients::new(address()?, udp_bare::Acks::None)?),
        BenchTransport::UdpBareAcked => Box::new(udp_bare::BareClients::new(address()?, udp_bare::Acks::EachTick)?),
        #[cfg(feature = "peers")]
        BenchTransport::Enet => Box::new(enet::EnetClients::new(address()?, setup.trial.variant.delivery())?),
        #[cfg(feature = "peers")]
        BenchTransport::Renet => Box::new(renet::RenetClients::new(address()?, setup)?),
        #[cfg(feature = "peers")]
        BenchTransport::Quinn => Box::new(quinn::QuinnClients::new(address()?)?),
        #[cfg(feature = "peers")]
        BenchTransport::WebSocket => Box::new(websocket::WebSocketClients::new(address()?)?),
        #[cfg(not(feature = "peers"))]
        other => unreachable!("{other} is refused by its name in a build without it"),
    })
}
