//! One small driver for each transport: a server that is stepped by its tick, and many clients in one thread, each with
//! its own socket. The modules above decide the content of lines, the schedule and the counters.

pub(crate) mod driver;
#[cfg(feature = "peers")]
mod enet;
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
use super::transport::BenchTransport::{self, Tcp, UdpBare, UdpBareAcked};

/// Starts a server.
pub(crate) fn server(setup: ServerSetup<'_>) -> Result<Box<dyn BenchServer>, String> {
    Ok(match setup.trial.transport {
        ours if ours.is_ours() => Box::new(skipstone::SkipstoneServer::start(setup)?),
        Tcp => Box::new(tcp::TcpServer::start(setup)?),
        UdpBare | UdpBareAcked => Box::new(udp_bare::BareServer::start(setup)?),
        #[cfg(feature = "peers")]
        other => peer_server(other, setup)?,
        #[cfg(not(feature = "peers"))]
        other => unreachable!("a build without {other} refuses its name"),
    })
}

#[cfg(feature = "peers")]
fn peer_server(transport: BenchTransport, setup: ServerSetup<'_>) -> Result<Box<dyn BenchServer>, String> {
    Ok(match transport {
        BenchTransport::Enet => Box::new(enet::EnetServer::start(setup)?),
        BenchTransport::Renet => Box::new(renet::RenetDriver::start(setup)?),
        BenchTransport::Quinn => Box::new(quinn::QuinnServer::start(setup)?),
        BenchTransport::WebSocket => Box::new(websocket::WebSocketServer::start(setup)?),
        own => unreachable!("{own} has a server of this tool"),
    })
}

/// How clients of one of Skipstone's transports reach the server that has this `skip://` URL.
pub(crate) fn url(transport: BenchTransport, url: &str) -> Result<String, String> {
    skipstone::url(skipstone::scheme(transport), url)
}

/// Clients of the server at this URL.
pub(crate) fn clients(url: &str, setup: ClientSetup) -> Result<Box<dyn BenchClients>, String> {
    #[cfg(feature = "peers")]
    if setup.trial.transport == BenchTransport::SkipstoneWebTransport {
        return Ok(Box::new(webtransport::WebTransportClients::new(url, setup)?));
    }
    if setup.trial.transport.is_ours() {
        return Ok(Box::new(skipstone::SkipstoneClients::new(url, setup)?));
    }
    let server: SocketAddr = url.parse().map_err(|error| format!("the server's address {url}: {error}"))?;
    Ok(match setup.trial.transport {
        Tcp => Box::new(tcp::TcpClients::new(server)?),
        UdpBare => Box::new(udp_bare::BareClients::new(server, udp_bare::Acks::None)?),
        UdpBareAcked => Box::new(udp_bare::BareClients::new(server, udp_bare::Acks::EachTick)?),
        #[cfg(feature = "peers")]
        other => peer_clients(other, server, setup)?,
        #[cfg(not(feature = "peers"))]
        other => unreachable!("a build without {other} refuses its name"),
    })
}

#[cfg(feature = "peers")]
fn peer_clients(
    transport: BenchTransport,
    server: SocketAddr,
    setup: ClientSetup,
) -> Result<Box<dyn BenchClients>, String> {
    let delivery = setup.trial.variant.delivery();
    Ok(match transport {
        BenchTransport::Enet => Box::new(enet::EnetClients::new(server, delivery)?),
        BenchTransport::Renet => Box::new(renet::RenetClients::new(server, setup)?),
        BenchTransport::Quinn => Box::new(quinn::QuinnClients::new(server)?),
        BenchTransport::WebSocket => Box::new(websocket::WebSocketClients::new(server)?),
        own => unreachable!("{own} has clients of this tool"),
    })
}
