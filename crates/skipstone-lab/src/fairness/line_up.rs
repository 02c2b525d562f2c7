//! Who shares a bottleneck, and when each begins.

use std::time::Duration;

/// What a flow sends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowKind {
    /// Skipstone with its defaults.
    Ours,
    /// A TCP-like transfer by CUBIC (RFC 9438).
    Cubic,
    /// quinn with BBR.
    #[cfg(feature = "peers")]
    Bbr,
}

/// Flows in the order in which they begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineUp {
    pub(super) name: &'static str,
    pub(super) flows: &'static [FlowKind],
    /// From the start of one to that of the next.
    pub(super) apart: Duration,
    /// Ours is in it: it is judged. Others show what these do to each other on the same links.
    pub(super) is_judged: bool,
}

const APART: Duration = Duration::from_secs(10);

const fn line_up(name: &'static str, flows: &'static [FlowKind], is_judged: bool) -> LineUp {
    LineUp { name, flows, apart: APART, is_judged }
}

/// All of them.
pub(super) const LINE_UPS: &[LineUp] = &[
    line_up("CUBIC later", &[FlowKind::Ours, FlowKind::Cubic], true),
    line_up("CUBIC first", &[FlowKind::Cubic, FlowKind::Ours], true),
    #[cfg(feature = "peers")]
    line_up("BBR later", &[FlowKind::Ours, FlowKind::Bbr], true),
    #[cfg(feature = "peers")]
    line_up("BBR first", &[FlowKind::Bbr, FlowKind::Ours], true),
    line_up("2 of ours", &[FlowKind::Ours, FlowKind::Ours], true),
    line_up("4 of ours", &[FlowKind::Ours, FlowKind::Ours, FlowKind::Ours, FlowKind::Ours], true),
    line_up("2 of CUBIC", &[FlowKind::Cubic, FlowKind::Cubic], false),
    #[cfg(feature = "peers")]
    line_up("CUBIC, BBR", &[FlowKind::Cubic, FlowKind::Bbr], false),
];

impl LineUp {
    /// When a flow begins, from the start of the first.
    pub(super) fn begins(&self, flow: usize) -> Duration {
        self.apart * flow as u32
    }

    /// When all of them have begun.
    pub(super) fn all_begun(&self) -> Duration {
        self.begins(self.flows.len() - 1)
    }

    /// Whether it has flows of ours alone, several of them.
    pub(super) fn is_of_ours(&self) -> bool {
        self.flows.iter().all(|kind| *kind == FlowKind::Ours)
    }
}
