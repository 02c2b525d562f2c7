//! Flags of how a server and its clients answer loss and share a link: the same for `serve` and for the server that
//! `stress` starts.

use crate::units::{Budget, Mode};
use serde::{Deserialize, Serialize};
use skipstone::Redundancy;

/// How lost packets are recovered, and how the link is shared.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
pub struct ResilienceFlags {
    /// How lost packets are recovered, on the server and its clients: `off` retransmits them, `lean` in several copies,
    /// `adaptive` adds repair packets where the path loses packets, `fixed:10+3` sends 3 repairs for each 10 packets,
    /// `repeat:2` repeats the messages of the last 2 packets in the next one [default: adaptive]
    #[arg(long, value_name = "MODE")]
    pub redundancy: Option<Mode>,
    /// Limit on the bytes of repairs and copies, in percent of the bytes that they protect [default: 125%, or more if a
    /// fixed mode needs more]
    #[arg(long, value_name = "PERCENT")]
    pub redundancy_budget: Option<Budget>,
    /// Congestion control: `default` keeps queues short and shares the link, `aggressive` is for a link of your own,
    /// `off` sends everything at once
    #[arg(long, value_enum, value_name = "NAME", hide_possible_values = true)]
    pub congestion: Option<Congestion>,
}

/// The congestion controller: how much may be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Congestion {
    /// Short queues, fair to others
    Default,
    /// As much as several TCP flows
    Aggressive,
    /// No limit and no pacing
    Off,
}

impl ResilienceFlags {
    /// The server's settings.
    pub fn redundancy(&self) -> Redundancy {
        let of_mode = self.redundancy.map_or(Redundancy::default(), |mode| mode.with_budget());
        Redundancy {
            budget_percent: self.redundancy_budget.map_or(of_mode.budget_percent, |budget| budget.0),
            ..of_mode
        }
    }

    /// The controller of the side that it is asked of.
    pub fn congestion(&self) -> skipstone::Congestion {
        match self.congestion {
            None | Some(Congestion::Default) => skipstone::Congestion::DelayAware,
            Some(Congestion::Aggressive) => skipstone::Congestion::Aggressive,
            Some(Congestion::Off) => skipstone::Congestion::Off,
        }
    }

    /// The flags for a server that is started with them.
    pub fn words(&self) -> Vec<String> {
        let mode = self.redundancy.map(|mode| format!("--redundancy={mode}"));
        let budget = self.redundancy_budget.map(|budget| format!("--redundancy-budget={budget}"));
        let congestion = self.congestion.map(|congestion| format!("--congestion={congestion}"));
        [mode, budget, congestion].into_iter().flatten().collect()
    }
}
