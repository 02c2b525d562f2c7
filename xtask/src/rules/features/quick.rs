//! How our own crates are built where they run only for a second.

/// The settings for cargo with which our own crates, which must be compiled again for unusual features, take half the
/// time. Other crates are built as in the workspace.
pub(super) fn quickly_built() -> impl Iterator<Item = String> {
    let crates = ["skipstone", "skipstone-cli", "skipstone-lab", "skipstone-netsim", "skipstone-proto"];
    crates.into_iter().flat_map(|name| ["--config".into(), format!("profile.dev.package.{name}.opt-level=0")])
}
