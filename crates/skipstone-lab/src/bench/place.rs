//! The place of a process: its CPU, its network, and its command channel.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::messages::{ChildMessage, Order, orders, send};
use super::network::{self, CableEnd};
use super::system;
use super::workers::ChildError;
use crate::measure::pinning::pin;
use crate::signals::Signals;

/// Where a child runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Its CPU; anywhere without one.
    pub(crate) cpu: Option<usize>,
    /// In its own network.
    pub(crate) apart: bool,
    /// In the network of this process.
    pub(crate) beside: Option<u32>,
}

/// How long the parent may take for the next order before the run.
const ORDER_MAX: Duration = Duration::from_secs(30);

impl Place {
    /// Goes there, says so to the parent, and settles as soon as the parent has laid the cable. Before the first
    /// thread.
    pub(crate) fn settle(&self, end: CableEnd) -> Result<Receiver<Order>, ChildError> {
        self.go()?;
        let orders = orders();
        send(&ChildMessage::Ready);
        next(&orders)?;
        if self.apart {
            network::settle(end)?;
        }
        Ok(orders)
    }

    fn go(&self) -> Result<(), String> {
        if self.apart {
            system::leave_network()?;
        }
        self.beside.map_or(Ok(()), system::join_network)?;
        self.cpu.map_or(Ok(()), pin)?;
        skipstone::net::wait::raise_open_files_limit();
        skipstone::net::wait::sharpen_timers();
        Signals::watch_as_child().map(drop)
    }
}

/// The task of a process, from its JSON.
pub(crate) fn task<T: DeserializeOwned>(json: &str) -> Result<T, ChildError> {
    serde_json::from_str(json).map_err(|error| format!("no task: {error}").into())
}

/// The next order before the run. If the parent has ended, this is an interruption.
pub(crate) fn next(orders: &Receiver<Order>) -> Result<Order, ChildError> {
    orders.recv_timeout(ORDER_MAX).map_err(|error| match error {
        RecvTimeoutError::Timeout => ChildError::Failed("its parent sent nothing".into()),
        RecvTimeoutError::Disconnected => ChildError::Interrupted,
    })
}
