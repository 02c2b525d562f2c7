//! A connection's counters as the languages with a flat structure have them: in the order of the C structure, which
//! grows at its end.

use skipstone_proto::{Figure, Flow, Stats};

/// A member of the structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its name: `redundancy_bytes_sent`.
    pub name: &'static str,
    /// The field of the library: `redundancy.bytes_sent`.
    pub path: String,
    /// Its documentation, in one line.
    pub about: String,
    /// The version of the C interface that has it first.
    pub since: (u32, u32),
    /// What it is.
    pub kind: Kind,
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A structure with the counters of one direction.
    Flow,
    /// A number.
    Number,
    /// The sum over all reasons.
    Drops,
}

impl Counter {
    /// The documentation, with the version of the C interface if that is not the first.
    pub(crate) fn about_in_c(&self) -> String {
        match self.since {
            (1, 0) => self.about.clone(),
            (major, minor) => format!("{} Since version {major}.{minor}.", self.about),
        }
    }

    pub(crate) fn is_of_1_0(&self) -> bool {
        self.since == (1, 0)
    }
}

/// The members of version 1.0 of the C interface, in an order that never changes.
pub const C_1_0: [&str; 14] = [
    "sent",
    "received",
    "packets_lost",
    "packets_spurious",
    "resent",
    "probes",
    "repairs_sent",
    "copies_sent",
    "redundancy_bytes_sent",
    "packets_recovered",
    "packets_recovered_by_peer",
    "paths_changed",
    "queue_overflows",
    "drops",
];

/// The counters of one direction. The C structure is nested in others, so it can gain no further member.
pub fn flow() -> Vec<Counter> {
    Flow::FIGURES.iter().map(number).collect()
}

/// All counters of a connection.
pub fn stats() -> Vec<Counter> {
    let numbers = Stats::FIGURES.iter().filter(|figure| !matches!(figure.group, "sent" | "received" | "drops"));
    let mut all: Vec<Counter> = [
        whole("sent", "What was sent.", Kind::Flow),
        whole("received", "What was received and authenticated.", Kind::Flow),
        whole("drops", "Datagrams, packets and messages that were dropped on arrival, for any reason.", Kind::Drops),
    ]
    .into_iter()
    .chain(numbers.map(number))
    .collect();
    let place = |counter: &Counter| C_1_0.iter().position(|name| *name == counter.name).unwrap_or(C_1_0.len());
    all.sort_by_key(|counter| (counter.since, place(counter)));
    all
}

fn number(figure: &Figure) -> Counter {
    Counter {
        name: figure.flat_name,
        path: figure.path(),
        about: figure.summary(),
        since: figure.since,
        kind: Kind::Number,
    }
}

fn whole(name: &'static str, about: &str, kind: Kind) -> Counter {
    Counter { name, path: name.into(), about: about.into(), since: (1, 0), kind }
}
