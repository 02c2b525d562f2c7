//! In place of `node` in a build without fleets: a server is never a node.

use skipstone::Server;
use skipstone_lab::workload::{Guest, Workload};
use std::convert::Infallible;
use std::net::SocketAddr;

/// WHY: under the names of `node`, so that the loop has no two forms.
pub(crate) use self::{NoFlags as NodeFlags, NoNode as FleetNode, UntoldFacts as NodeFacts};

/// No flags.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct NoFlags {}

/// What a node would tell its fleet.
#[expect(dead_code, reason = "there is no fleet")]
pub(crate) struct UntoldFacts {
    pub(crate) dashboard: Option<SocketAddr>,
    pub(crate) places: u32,
    pub(crate) workload: Workload,
    pub(crate) is_pinned: bool,
}

/// There is none.
pub(crate) struct NoNode(Infallible);

impl NoFlags {
    pub(crate) fn name(&self) -> Option<String> {
        None
    }

    pub(crate) fn join(&self, _: &Server, _: &UntoldFacts) -> Result<Option<NoNode>, String> {
        Ok(None)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl NoNode {
    pub(super) fn admit(&mut self, _: &[u8]) -> Option<Result<Guest, String>> {
        match self.0 {}
    }

    pub(super) fn leave(self) {
        match self.0 {}
    }

    pub(super) fn lines(&self) -> Vec<String> {
        match self.0 {}
    }
}
