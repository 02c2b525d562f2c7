//! How crates are built where they run only for a second.

/// The settings for cargo with which crates that must be compiled again for unusual features take half the time: our
/// own, and those of TLS and QUIC. Other crates are built as in the workspace.
pub(super) fn quickly_built() -> impl Iterator<Item = String> {
    let ours = ["skipstone", "skipstone-cli", "skipstone-lab", "skipstone-netsim", "skipstone-proto"];
    ours.into_iter()
        .chain(["quinn", "quinn-proto", "rustls"])
        .flat_map(|name| ["--config".into(), format!("profile.dev.package.{name}.opt-level=0")])
}
