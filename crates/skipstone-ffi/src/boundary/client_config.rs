//! A client's configuration, from the caller's structure.

use super::raw;
use crate::convert::{self, congestion, flag, merging, some, threading};
use crate::failure::Failure;
use crate::types::*;
use library::{ClientConfig, DtlsVersion, Limits, Reconnect, Trust};
use std::time::Duration;

/// # Safety
/// `config` is NULL for the defaults, or points to a structure as declared in the header.
pub(super) unsafe fn read(config: *const SkipstoneClientConfig) -> Result<ClientConfig, Failure> {
    let mut read = ClientConfig::default();
    if config.is_null() {
        return Ok(read);
    }
    // SAFETY: the caller's promise.
    let given = unsafe { raw::read("config", config, convert::client_defaults()) }?;
    read.threading = threading(given.threading)?;
    // SAFETY: the caller's promise.
    read.trust = unsafe { trust(&given) }?;
    read.congestion = congestion(given.congestion)?;
    read.dtls_version = match given.dtls_version {
        0 => DtlsVersion::default(),
        12 => DtlsVersion::V1_2,
        13 => DtlsVersion::V1_3,
        value => return Err(Failure::value("dtls_version", value, "12, 13, or 0 for the default")),
    };
    read.follows_server_time = flag("follows_server_time", given.follows_server_time)?;
    read.merging = (given.merging_us != SKIPSTONE_MERGE_AS_SERVER).then(|| merging(given.merging_us));
    read.handshake_timeout = Duration::from_micros(given.handshake_timeout_us);
    read.queue_bytes_max = given.queue_bytes_max;
    read.bandwidth_max = some(given.bandwidth_max);
    read.limits = Limits {
        message_bytes_max: given.message_bytes_max,
        window_bytes: given.window_bytes,
        datagram_bytes_max: u16::try_from(given.datagram_bytes_max)
            .map_err(|_| Failure::value("datagram_bytes_max", given.datagram_bytes_max, "256 to 65,507"))?,
    };
    read.transfer_bytes_min = some(given.transfer_bytes_min);
    if flag("impaired", given.impaired)? {
        read.impairment = Some(crate::impairment::of(&given.up, &given.down, given.impairment_seed)?);
    }
    read.reconnect = flag("reconnects", given.reconnects)?.then(|| Reconnect {
        pause_min: Duration::from_micros(given.reconnect_pause_min_us),
        pause_max: Duration::from_micros(given.reconnect_pause_max_us),
        attempts_max: given.reconnect_attempts_max,
    });
    Ok(read)
}

/// # Safety
/// As [`read`].
unsafe fn trust(given: &SkipstoneClientConfig) -> Result<Trust, Failure> {
    Ok(match given.trust {
        0 => Trust::System,
        // SAFETY: the caller's promise.
        1 => Trust::Ca(unsafe { raw::text("authorities", given.authorities) }?.to_owned()),
        2 => Trust::Pinned(given.fingerprint.into()),
        3 => Trust::DangerouslyAnything,
        value => return Err(Failure::value("trust", value, "a SkipstoneTrust, 0 to 3")),
    })
}
