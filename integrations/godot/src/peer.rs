//! The class `SkipstoneMultiplayerPeer`: what the engine asks of a multiplayer peer, answered by a `Link`.

use crate::link::{Change, IsTold, Link, Packet, Refusal, SERVER, Status};
use crate::transfer::Mode;
use godot::classes::multiplayer_peer::{ConnectionStatus, TransferMode};
use godot::classes::{IMultiplayerPeerExtension, MultiplayerPeerExtension};
use godot::global::{Error, godot_error};
use godot::prelude::*;
use skipstone::{ClientConfig, Security, SendRefusal, ServerConfig};
use std::net::SocketAddr;
use std::path::Path;

/// A `MultiplayerPeer` over Skipstone: `create_server` or `create_client`, then assign it to
/// `multiplayer.multiplayer_peer`.
#[derive(GodotClass)]
#[class(tool, base = MultiplayerPeerExtension)]
struct SkipstoneMultiplayerPeer {
    link: Option<Link>,
    /// What `get_packet` has returned, of which the engine asks afterwards.
    last: Option<Packet>,
    target: i32,
    mode: Mode,
    channel: i32,
    refuses: bool,
    base: Base<MultiplayerPeerExtension>,
}

/// Longest packet: the library's longest message.
const PACKET_BYTES_MAX: i32 = 1 << 20;

#[godot_api]
impl SkipstoneMultiplayerPeer {
    /// Why a peer disconnected, after `peer_disconnected`, or why the server, 1, has not let this client in: the reason
    /// that the other side gave, or the library's.
    #[signal]
    fn peer_left(id: i64, reason: GString);

    /// Serves at an address and port (`0.0.0.0:7777`, `[::]:7777`), for up to `max_clients` clients. The certificate is
    /// generated: clients need the URL with its fingerprint, which `get_url` returns.
    #[func]
    fn create_server(&mut self, listen: GString, max_clients: u32) -> Error {
        self.serve(&listen, max_clients, None)
    }

    /// The same, with a certificate and its key in PEM files: clients need no fingerprint if they trust its authority.
    #[func]
    fn create_server_with_certificate(
        &mut self,
        listen: GString,
        max_clients: u32,
        certificate: GString,
        key: GString,
    ) -> Error {
        match Security::from_files(certificate.to_string(), Some(Path::new(&key.to_string()))) {
            Ok(security) => self.serve(&listen, max_clients, Some(security)),
            Err(error) => refuse(&format!("the certificate cannot be used: {error}"), Error::ERR_CANT_OPEN),
        }
    }

    /// Begins to connect to a URL of a server: `skip://example.org:7777`, with `#` and the fingerprint if no authority
    /// has signed its certificate.
    #[func]
    fn create_client(&mut self, url: GString) -> Error {
        if self.link.is_some() {
            return Error::ERR_ALREADY_IN_USE;
        }
        let number = self.base().generate_unique_id() as i32;
        let config = ClientConfig { merging: Some(crate::transfer::merging()), ..ClientConfig::default() };
        match Link::connect(&url.to_string(), number, b"", config) {
            Ok(link) => self.begin(link),
            Err(error) => refuse(&format!("cannot connect to {url}: {error}"), Error::ERR_CANT_CREATE),
        }
    }

    /// The URL by which clients reach the server on this machine, fingerprint included; empty at a client.
    #[func]
    fn get_url(&self) -> GString {
        self.link.as_ref().map(|link| GString::from(&link.url())).unwrap_or_default()
    }
}

impl SkipstoneMultiplayerPeer {
    fn serve(&mut self, listen: &GString, max_clients: u32, security: Option<Security>) -> Error {
        if self.link.is_some() {
            return Error::ERR_ALREADY_IN_USE;
        }
        let Ok(address) = listen.to_string().parse::<SocketAddr>() else {
            let text = format!("{listen} is no address with a port, such as 0.0.0.0:7777 or [::]:7777");
            return refuse(&text, Error::ERR_INVALID_PARAMETER);
        };
        let config = ServerConfig { connections_max: max_clients, security, ..ServerConfig::new(address) };
        match Link::serve(config) {
            Ok(link) => self.begin(link),
            Err(error) => refuse(&format!("cannot serve at {address}: {error}"), Error::ERR_CANT_CREATE),
        }
    }

    fn begin(&mut self, mut link: Link) -> Error {
        link.refuses = self.refuses;
        self.link = Some(link);
        Error::OK
    }
}

/// An error that says why in the engine's log.
fn refuse(why: &str, error: Error) -> Error {
    godot_error!("Skipstone: {why}");
    error
}

impl Mode {
    fn of(mode: TransferMode) -> Mode {
        match mode {
            TransferMode::UNRELIABLE => Mode::Unreliable,
            TransferMode::UNRELIABLE_ORDERED => Mode::UnreliableOrdered,
            _ => Mode::Reliable,
        }
    }

    fn engine(self) -> TransferMode {
        match self {
            Mode::Unreliable => TransferMode::UNRELIABLE,
            Mode::UnreliableOrdered => TransferMode::UNRELIABLE_ORDERED,
            Mode::Reliable => TransferMode::RELIABLE,
        }
    }
}

#[godot_api]
impl IMultiplayerPeerExtension for SkipstoneMultiplayerPeer {
    fn init(base: Base<MultiplayerPeerExtension>) -> Self {
        Self { link: None, last: None, target: 0, mode: Mode::default(), channel: 0, refuses: false, base }
    }

    fn get_available_packet_count(&self) -> i32 {
        self.link.as_ref().map_or(0, |link| i32::try_from(link.waiting()).unwrap_or(i32::MAX))
    }

    fn get_max_packet_size(&self) -> i32 {
        PACKET_BYTES_MAX
    }

    fn get_packet_script(&mut self) -> PackedByteArray {
        self.last = self.link.as_mut().and_then(Link::take);
        self.last.as_ref().map(|packet| PackedByteArray::from(&packet.payload[..])).unwrap_or_default()
    }

    fn put_packet_script(&mut self, buffer: PackedByteArray) -> Error {
        let Some(link) = &mut self.link else { return Error::ERR_UNCONFIGURED };
        let payload = buffer.to_vec().into();
        match link.send(self.target, self.mode, self.channel, payload) {
            Ok(()) => Error::OK,
            Err(Refusal::NoSuchChannel) => {
                refuse("a transfer channel is 0 to 255 in each mode", Error::ERR_INVALID_PARAMETER)
            }
            Err(Refusal::NoSuchPeer) => refuse("the target peer is not connected", Error::ERR_INVALID_PARAMETER),
            Err(Refusal::Send(reason @ (SendRefusal::QueueFull | SendRefusal::DriverBusy))) => {
                refuse(&reason.to_string(), Error::ERR_BUSY)
            }
            Err(Refusal::Send(reason @ SendRefusal::TooLong { .. })) => {
                refuse(&reason.to_string(), Error::ERR_OUT_OF_MEMORY)
            }
            Err(Refusal::Send(reason)) => refuse(&reason.to_string(), Error::ERR_CONNECTION_ERROR),
        }
    }

    fn get_packet_channel(&self) -> i32 {
        self.next_or_last().map_or(0, |packet| packet.transfer_channel)
    }

    fn get_packet_mode(&self) -> TransferMode {
        self.next_or_last().map_or(TransferMode::RELIABLE, |packet| packet.mode.engine())
    }

    fn get_packet_peer(&self) -> i32 {
        self.next_or_last().map_or(0, |packet| packet.from)
    }

    fn set_transfer_channel(&mut self, channel: i32) {
        self.channel = channel;
    }

    fn get_transfer_channel(&self) -> i32 {
        self.channel
    }

    fn set_transfer_mode(&mut self, mode: TransferMode) {
        self.mode = Mode::of(mode);
    }

    fn get_transfer_mode(&self) -> TransferMode {
        self.mode.engine()
    }

    fn set_target_peer(&mut self, peer: i32) {
        self.target = peer;
    }

    fn is_server(&self) -> bool {
        self.link.as_ref().is_some_and(Link::is_server)
    }

    fn poll(&mut self) {
        self.link.iter_mut().for_each(Link::poll);
        // One by one, because a signal's receiver may call this object.
        while let Some(change) = self.link.as_mut().and_then(Link::take_change) {
            match change {
                Change::Connected(number) => self.emit("peer_connected", &[number.to_variant()]),
                Change::Refused(reason) => self.emit("peer_left", &[SERVER.to_variant(), reason.to_variant()]),
                Change::Disconnected(number, reason) => {
                    self.emit("peer_disconnected", &[number.to_variant()]);
                    self.emit("peer_left", &[number.to_variant(), reason.to_variant()]);
                }
            }
        }
    }

    fn close(&mut self) {
        self.link.take().into_iter().for_each(Link::close);
        self.last = None;
    }

    fn disconnect_peer(&mut self, peer: i32, force: bool) {
        // The engine has forgotten a peer that it disconnects by force.
        self.link.iter_mut().for_each(|link| link.disconnect(peer, IsTold(!force)));
    }

    fn get_unique_id(&self) -> i32 {
        self.link.as_ref().map_or(0, Link::number)
    }

    fn set_refuse_new_connections(&mut self, enable: bool) {
        self.refuses = enable;
        self.link.iter_mut().for_each(|link| link.refuses = enable);
    }

    fn is_refusing_new_connections(&self) -> bool {
        self.refuses
    }

    fn is_server_relay_supported(&self) -> bool {
        true
    }

    fn get_connection_status(&self) -> ConnectionStatus {
        match self.link.as_ref().map_or(Status::Disconnected, Link::status) {
            Status::Disconnected => ConnectionStatus::DISCONNECTED,
            Status::Connecting => ConnectionStatus::CONNECTING,
            Status::Connected => ConnectionStatus::CONNECTED,
        }
    }
}

impl SkipstoneMultiplayerPeer {
    /// The engine asks about the next packet before it takes it.
    fn next_or_last(&self) -> Option<&Packet> {
        self.link.as_ref().and_then(Link::next).or(self.last.as_ref())
    }

    fn emit(&mut self, signal: &str, arguments: &[Variant]) {
        self.base_mut().emit_signal(signal, arguments);
    }
}
