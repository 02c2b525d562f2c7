//! Where a process of the run is: its CPU, its network; and how it hears its parent from there.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::network::{self, End};
use super::system;
use super::words::{Told, orders, tell};
use crate::stress::signals::Signals;

/// Where a child runs.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Place {
    /// Its CPU; anywhere without one
    #[arg(long)]
    pub(crate) cpu: Option<usize>,
    /// In a network of its own
    #[arg(long)]
    pub(crate) apart: bool,
    /// In the network of this process
    #[arg(long, conflicts_with = "apart")]
    pub(crate) beside: Option<u32>,
}

/// How long the parent may take for the next word before the run.
const ORDER_MAX: Duration = Duration::from_secs(30);

impl Place {
    /// Goes there, tells the parent, and settles as soon as the parent has laid the cable. Before the first thread. `None`
    /// if the parent is gone.
    pub(crate) fn settle(&self, end: End) -> Result<Option<Receiver<String>>, String> {
        self.go()?;
        let orders = orders();
        tell(&Told::Ready);
        if next(&orders)?.is_none() {
            return Ok(None);
        }
        if self.apart {
            network::settle(end)?;
        }
        Ok(Some(orders))
    }

    fn go(&self) -> Result<(), String> {
        if self.apart {
            system::leave_network()?;
        }
        self.beside.map_or(Ok(()), system::join_network)?;
        self.cpu.map_or(Ok(()), system::pin)?;
        skipstone::net::wait::raise_open_files_limit();
        skipstone::net::wait::sharpen_timers();
        Signals::watch_as_child().map(drop).map_err(|error| format!("cannot watch for signals: {error}"))
    }
}

/// The next word before the run; `None` if the parent is gone.
pub(crate) fn next(orders: &Receiver<String>) -> Result<Option<String>, String> {
    match orders.recv_timeout(ORDER_MAX) {
        Ok(word) => Ok(Some(word)),
        Err(RecvTimeoutError::Timeout) => Err("its parent said nothing".into()),
        Err(RecvTimeoutError::Disconnected) => Ok(None),
    }
}
