//! Reads a server's statistics from any thread: the snapshots of its drivers, combined over its shards.

use crate::driver_stats::DriverStats;
use crate::statistics::{Board, Overview, ShardOverview};
use skipstone_proto::{PeerId, Stats, Transfers};
use std::sync::Arc;

/// Reads a server's statistics in any thread, without the server: for dashboards and metrics in parallel to a game
/// loop. [`Server::statistics`](crate::Server::statistics) returns one. All figures are snapshots, up to 50 ms old;
/// readers and drivers never block each other. After the server's end the last snapshots remain.
#[derive(Clone, Debug)]
pub struct StatisticsReader {
    /// One board for each shard.
    boards: Arc<[Arc<Board>]>,
}

impl StatisticsReader {
    pub(crate) fn new(boards: impl IntoIterator<Item = Arc<Board>>) -> Self {
        StatisticsReader { boards: boards.into_iter().collect() }
    }

    /// Like [`Server::stats`](crate::Server::stats).
    pub fn stats(&self) -> Stats {
        let mut totals = Stats::default();
        self.shard_overviews().for_each(|shard| totals.add(&shard.stats));
        totals
    }

    /// Like [`Server::driver_stats`](crate::Server::driver_stats).
    pub fn driver_stats(&self) -> DriverStats {
        let all = self.shard_overviews().map(|shard| shard.driver);
        let sum = all.reduce(|mut sum, shard| {
            sum.add(&shard);
            sum
        });
        sum.unwrap_or_default()
    }

    /// Like [`Server::shards`](crate::Server::shards).
    pub fn shards(&self) -> Vec<ShardOverview> {
        self.shard_overviews().collect()
    }

    /// Like [`Server::overview`](crate::Server::overview).
    pub fn overview(&self, peer: PeerId) -> Option<Overview> {
        let (board, peer) = self.shard_of(peer);
        board.overview(peer)
    }

    /// Like [`Server::overviews`](crate::Server::overviews).
    pub fn overviews(&self) -> Vec<(PeerId, Overview)> {
        let mut all = Vec::new();
        for (shard, board) in self.boards.iter().enumerate() {
            let overviews = board.overviews();
            all.extend(overviews.into_iter().map(|(peer, overview)| (self.outside(shard, peer), overview)));
        }
        all
    }

    /// The long messages of one connection.
    pub(crate) fn transfers(&self, peer: PeerId) -> Option<Transfers> {
        let (board, peer) = self.shard_of(peer);
        board.transfers(peer)
    }

    fn shard_overviews(&self) -> impl Iterator<Item = ShardOverview> + '_ {
        self.boards.iter().map(|board| board.shard())
    }

    /// Converts a shard's peer id to the id that the application sees.
    pub(crate) fn outside(&self, shard: usize, peer: PeerId) -> PeerId {
        PeerId { index: peer.index * self.boards.len() as u32 + shard as u32, ..peer }
    }

    /// Converts the id that the application sees to the board of the peer's shard, and the peer's id within that shard.
    fn shard_of(&self, peer: PeerId) -> (&Board, PeerId) {
        let count = self.boards.len() as u32;
        (&self.boards[(peer.index % count) as usize], PeerId { index: peer.index / count, ..peer })
    }
}
