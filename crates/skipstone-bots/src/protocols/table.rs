//! The table of protocols. A new protocol is a file (or folder) beside this one and a line in `TABLE`.

use super::row::ProtocolRow;
use super::{enet, kcp, kcp2k, litenetlib, renet, secured, skipstone, tcp, udp, websocket, webtransport};
use crate::target::{BotTarget, TargetError};

/// All protocols.
pub const TABLE: &[&ProtocolRow] = &[
    &udp::ROW,
    &tcp::ROW,
    &secured::STREAM,
    &websocket::ROW,
    &secured::WEBSOCKET,
    &webtransport::ROW,
    &enet::ROW,
    &kcp::ROW,
    &kcp2k::ROW,
    &litenetlib::ROW,
    &renet::ROW,
    &skipstone::ENCRYPTED,
    &skipstone::PLAIN,
    &skipstone::DTLS,
    &skipstone::STREAM,
    &skipstone::WEBSOCKET,
    &skipstone::SECURE_WEBSOCKET,
    #[cfg(test)]
    &super::knock::ROW,
];

/// Reads a target, and finds its protocol.
pub fn find(url: &str) -> Result<(&'static ProtocolRow, BotTarget), TargetError> {
    let split = BotTarget::split(url).ok_or_else(|| TargetError::NoScheme(url.into(), schemes()))?;
    let scheme = url.split("://").next().unwrap_or_default();
    let Some(row) = TABLE.iter().find(|row| row.scheme == scheme) else {
        return Err(TargetError::UnknownScheme(url.into(), schemes()));
    };
    let target = split?;
    if let Some(name) = target.options.keys().find(|name| !row.has_option(name)) {
        return Err(TargetError::UnknownOption(url.into(), name.clone(), row.option_names()));
    }
    if !row.has_part('/') && !["", "/"].contains(&target.path.as_str()) {
        return Err(TargetError::BadTarget(url.into(), format!("{scheme} has no path: leave {} out", target.path)));
    }
    if !row.has_part('#') && !target.fragment.is_empty() {
        let why = format!("{scheme} has nothing after #: leave #{} out", target.fragment);
        return Err(TargetError::BadTarget(url.into(), why));
    }
    Ok((row, target))
}

/// The names of all schemes, for help and errors.
pub fn schemes() -> String {
    let names: Vec<&str> = TABLE.iter().map(|row| row.scheme).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_is_in_the_table_once() {
        for row in TABLE {
            assert_eq!(TABLE.iter().filter(|other| other.scheme == row.scheme).count(), 1, "{}", row.scheme);
            assert!(!row.about.is_empty());
        }
    }

    #[test]
    fn the_protocol_of_the_guide_is_found() {
        assert!(find("knock://host:1?timeout=900").is_ok_and(|(row, _)| row.scheme == "knock"));
    }

    #[test]
    fn an_unknown_scheme_or_option_names_those_that_exist() {
        let why = find("carrier-pigeon://host:1").expect_err("no such protocol").to_string();
        assert!(why.contains("schemes: ") && why.contains("udp"), "{why}");
        let why = find("udp://host:1?color=red").expect_err("no such option").to_string();
        assert!(why.contains("no option \"color\""), "{why}");
        assert!(find("ws://host:1?/path=a").is_err(), "a path is no option");
    }

    #[test]
    fn a_path_or_a_fragment_that_nothing_reads_is_refused() {
        for url in ["udp://host:1/room", "enet://host:1#pin", "ws://host:1/game#pin", "tcp://host:1/a?frame=lines"] {
            let why = find(url).map(drop).expect_err(url).to_string();
            assert!(why.starts_with(url) && why.contains("leave"), "{why}");
        }
        for url in ["udp://host:1/", "ws://host:1/game", "skip://host:1#sha256=00", "skip+ws://host:1/game"] {
            assert!(find(url).is_ok(), "{url}");
        }
    }
}
