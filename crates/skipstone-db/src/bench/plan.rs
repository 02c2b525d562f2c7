//! The plan of a bench: for each durability of an engine, cells of one kind of work, one way of querying and a number
//! of connections.

use super::durability::{Durability, Extent};
use serde::Serialize;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Work {
    /// New accounts.
    Add,
    /// An account by its number.
    Seek,
    /// New points and money for an account.
    Update,
    /// The best by the number without an index.
    RankUnindexed,
    /// The best by the number with an index.
    RankIndexed,
    /// Accounts that were added before go away.
    Delete,
}

/// A way of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asking {
    /// One statement at a time, as text.
    Single,
    /// One statement at a time, prepared.
    Prepared,
    /// One prepared statement for a hundred accounts.
    Batched,
    /// A hundred prepared statements in a transaction.
    Transaction,
}

/// Accounts of a batch and statements of a transaction.
pub(crate) const GROUP: usize = 100;

/// Accounts of a ranking.
pub(crate) const RANKED: i64 = 1_000;

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cell {
    pub(crate) work: Work,
    pub(crate) asking: Asking,
    pub(crate) connections: usize,
}

const ALL_WORK: [Work; 6] = [Work::Add, Work::Seek, Work::Update, Work::RankUnindexed, Work::RankIndexed, Work::Delete];
const ALL_ASKING: [Asking; 4] = [Asking::Single, Asking::Prepared, Asking::Batched, Asking::Transaction];
const ALL_CONNECTIONS: [usize; 3] = [1, 4, 16];

/// The cells for a durability.
pub(crate) fn cells(durability: &Durability, is_safest: bool, extent: Extent) -> Vec<Cell> {
    let all = ALL_CONNECTIONS.into_iter().flat_map(|connections| {
        let asked = ALL_ASKING.into_iter();
        asked.flat_map(move |asking| ALL_WORK.into_iter().map(move |work| Cell { work, asking, connections }))
    });
    let is_wanted = |cell: &Cell| {
        let makes_sense = !cell.work.is_ranking() || !matches!(cell.asking, Asking::Batched | Asking::Transaction);
        let usual = match (cell.connections, cell.asking) {
            (1, Asking::Prepared) => true,
            (1, _) => is_safest && matches!(cell.work, Work::Add | Work::Seek | Work::Update),
            (_, Asking::Prepared) => is_safest && matches!(cell.work, Work::Add | Work::Seek | Work::Update),
            _ => false,
        };
        makes_sense && (extent == Extent::Full || usual) && (cell.connections == 1 || !durability.has_one_connection())
    };
    all.filter(is_wanted).collect()
}

impl Work {
    pub(crate) fn is_ranking(self) -> bool {
        matches!(self, Work::RankUnindexed | Work::RankIndexed)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Work::Add => "add",
            Work::Seek => "seek",
            Work::Update => "update",
            Work::RankUnindexed => "rank, no index",
            Work::RankIndexed => "rank, index",
            Work::Delete => "delete",
        }
    }
}

impl Asking {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Asking::Single => "single",
            Asking::Prepared => "prepared",
            Asking::Batched => "batched",
            Asking::Transaction => "transaction",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::durability;
    use crate::dialect::Dialect;

    #[test]
    fn the_usual_matrix_has_each_way_and_the_full_one_every_combination() {
        let all = durability::of(Dialect::Sqlite, true, Extent::Full);
        let (safest, memory) = (&all[0], all.last().expect("there are some"));
        let usual = cells(safest, true, Extent::Usual);
        for asking in ALL_ASKING {
            assert!(usual.iter().any(|cell| cell.asking == asking), "{asking:?}");
        }
        for connections in ALL_CONNECTIONS {
            assert!(usual.iter().any(|cell| cell.connections == connections), "{connections}");
        }
        // Six kinds of work, two of which are asked in two ways alone.
        assert_eq!(cells(safest, false, Extent::Full).len(), 3 * (4 * 4 + 2 * 2));
        assert!(cells(memory, false, Extent::Full).iter().all(|cell| cell.connections == 1));
    }
}
