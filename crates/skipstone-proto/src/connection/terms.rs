//! What a connection keeps to: the server's settings, and how long its own messages wait for company.

use crate::wire::settings::{Merging, Settings};
use std::sync::Arc;

/// The settings and the merging in force.
#[derive(Debug)]
pub(super) struct Terms {
    /// The server's settings; the defaults until a client has heard them.
    pub(super) settings: Arc<Settings>,
    pub(super) merging: Merging,
    /// The merging is this side's choice, not that of the settings.
    pub(super) is_merging_own: bool,
}

impl Terms {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Terms { merging: settings.merging, is_merging_own: false, settings }
    }
}
