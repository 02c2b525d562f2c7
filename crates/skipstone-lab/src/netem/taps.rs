//! What writes down the packets that pass a relay.

use std::sync::Arc;

use super::capture::Capture;
use crate::flow_recording::FlowRecorder;

/// A capture for tools of networks, and a recording for bots.
#[derive(Default)]
pub(crate) struct Taps {
    pub(crate) capture: Option<Capture>,
    pub(crate) recorder: Option<Arc<FlowRecorder>>,
}
