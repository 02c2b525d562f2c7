//! A server's configuration, from the caller's structure.

use super::raw;
use crate::convert::{self, congestion, flag, merging, some, threading};
use crate::failure::Failure;
use crate::identity::{self, Protection};
use crate::types::*;
use library::{Bytes, Redundancy, Security, ServerConfig, Settings};
use std::net::SocketAddr;
use std::time::Duration;

/// # Safety
/// `config` is NULL, or points to a structure as declared in the header, whose pointers have as many items as its
/// counts state.
pub(super) unsafe fn read(config: *const SkipstoneServerConfig) -> Result<ServerConfig, Failure> {
    // SAFETY: the caller's promise.
    let given = unsafe { raw::read("config", config, convert::server_defaults()) }?;
    // SAFETY: the caller's promise.
    let listen = unsafe { raw::text_or_none("listen", given.listen) }?;
    let mut config = match listen {
        None => ServerConfig::offline(),
        Some(text) => {
            let address: SocketAddr = text.parse().map_err(|_| {
                Failure::value("listen", text, "an address and a port, as in 0.0.0.0:7777 or [::]:7777")
            })?;
            let mut config = ServerConfig::new(address);
            // SAFETY: the caller's promise.
            config.security = unsafe { security(&given) }?;
            config.websocket = flag("websocket", given.websocket.into())?;
            config
        }
    };
    config.webtransport = flag("webtransport", given.webtransport.into())?;
    config.threading = threading(given.threading)?;
    // SAFETY: the caller's promise.
    config.settings = unsafe { settings(&given) }?;
    // SAFETY: the caller's promise.
    unsafe { inbound(&given, &mut config) }?;
    config.merging = merging(given.merging_us);
    config.congestion = congestion(given.congestion)?;
    // catalogue: server settings
    // SAFETY: the caller's promise.
    config.trusted_proxies =
        unsafe { raw::texts("trusted_proxies", given.trusted_proxies, given.trusted_proxy_count) }?;
    // SAFETY: the caller's promise.
    config.denied = unsafe { raw::texts("denied", given.denied, given.denied_count) }?;
    config.handshake_timeout = Duration::from_micros(given.handshake_timeout_us);
    config.connections_max = given.connections_max;
    config.players_of_network_max = some(given.players_of_network_max);
    config.shards = given.shards;
    config.queue_bytes_max = given.queue_bytes_max;
    config.bandwidth_max_per_peer = some(given.bandwidth_max_per_peer);
    config.bandwidth_max = some(given.bandwidth_max);
    if !given.query_answer.is_null() {
        // SAFETY: the caller's promise.
        let bytes = unsafe { raw::bytes("query_answer", given.query_answer, given.query_answer_length as usize) }?;
        config.query_answer = Some(Bytes::copy_from_slice(bytes));
    }
    config.transfer_bytes_min = some(given.transfer_bytes_min);
    config.memory.connection = given.memory_per_connection;
    config.memory.network = given.memory_per_network;
    config.memory.endpoint = given.memory_max;
    // SAFETY: the caller's promise.
    config.listener_rules.origins = unsafe { raw::texts("origins", given.origins, given.origin_count) }?;
    // SAFETY: the caller's promise.
    config.listener_rules.hosts = unsafe { raw::texts("hosts", given.hosts, given.host_count) }?;
    config.listener_rules.requires_tls = flag("requires_tls", given.requires_tls.into())?;
    // catalogue: end
    if flag("impaired", given.impaired)? {
        config.impairment = Some(crate::impairment::of(&given.up, &given.down, given.impairment_seed)?);
    }
    Ok(config)
}

/// # Safety
/// As [`read`].
unsafe fn security(given: &SkipstoneServerConfig) -> Result<Option<Security>, Failure> {
    // SAFETY: the caller's promise.
    let certificate = || unsafe { raw::text("certificate", given.certificate) };
    // SAFETY: the caller's promise.
    let key = unsafe { raw::text_or_none("key", given.key) }?;
    let protection = match given.security {
        0 => Protection::SelfSigned,
        1 => Protection::SelfSignedKept(certificate()?),
        2 => Protection::Files(certificate()?, key),
        3 => Protection::Pem(certificate()?, key),
        4 => Protection::Plain,
        value => return Err(Failure::value("security", value, "a SkipstoneSecurity, 0 to 4")),
    };
    let security = identity::security(&protection)?;
    Ok(Some(match flag("allows_plain", given.allows_plain.into())? {
        true => security.allowing_plain(),
        false => security,
    }))
}

/// # Safety
/// As [`read`].
unsafe fn settings(given: &SkipstoneServerConfig) -> Result<Settings, Failure> {
    let defaults = Settings::default();
    let initial = convert::channel_of(&defaults.channels[0]);
    // SAFETY: the caller's promise.
    let channels = unsafe { raw::read_all("channels", given.channels, given.channel_count, initial) }?;
    let rules = channels.iter().map(convert::rule_of).collect::<Result<Vec<_>, _>>()?;
    // The library refuses an empty table; without a table the default applies.
    let rules = if given.channels.is_null() { defaults.channels } else { rules };
    let mode = convert::redundancy(given.redundancy, given.redundancy_first, given.redundancy_second)?;
    Ok(Settings {
        // catalogue: settings
        idle_timeout: Duration::from_micros(given.idle_timeout_us),
        keepalive: Duration::from_micros(given.keepalive_us),
        ack_delay: Duration::from_micros(given.ack_delay_us),
        ack_delay_max: Duration::from_micros(given.ack_delay_max_us),
        message_bytes_max: given.message_bytes_max,
        window_bytes: given.window_bytes,
        datagram_bytes_max: datagram_bytes("datagram_bytes_max", given.datagram_bytes_max)?,
        moves_channel: given.moves_channel,
        // catalogue: end
        merging: merging(given.client_merging_us),
        channels: rules,
        redundancy: Redundancy { mode, budget_percent: given.redundancy_budget_percent },
    })
}

fn datagram_bytes(name: &str, given: u32) -> Result<u16, Failure> {
    u16::try_from(given).map_err(|_| Failure::value(name, given, "256 to 65,507"))
}

/// # Safety
/// As [`read`].
unsafe fn inbound(given: &SkipstoneServerConfig, config: &mut ServerConfig) -> Result<(), Failure> {
    let initial = convert::inbound_of(&library::InboundRule::new(0..=0));
    // SAFETY: the caller's promise.
    let rules = unsafe { raw::read_all("inbound", given.inbound, given.inbound_count, initial) }?;
    config.inbound = rules.iter().map(convert::inbound_rule).collect::<Result<_, _>>()?;
    Ok(())
}
