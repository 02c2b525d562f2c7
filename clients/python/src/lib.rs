//! The Python module `skipstone`: the library's servers, clients and events as typed Python classes.
//!
//! `server` and `client` are the objects of a program, each a `handle` that one thread uses at a time; `events` is what
//! they return; `settings`, `security`, `reconnect` and `impairment` are their parameters; `statistics` and
//! `driver_stats` are snapshots; `errors` are the exceptions, with the library's texts. `__init__.pyi` states the
//! types, and the tests compare it with this module.

mod arguments;
mod client;
mod driver_stats;
mod errors;
mod events;
mod handle;
mod impairment;
mod modes;
mod reconnect;
mod security;
mod server;
mod settings;
mod statistics;

use pyo3::prelude::*;

/// A low-level transport for multiplayer games.
#[pymodule]
mod skipstone {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::client::Client;
    #[pymodule_export]
    use crate::driver_stats::{DriverStats, DtlsStats, MisroutedStats, StreamStats, WebTransportStats};
    #[pymodule_export]
    use crate::errors::{BusyError, ClosedError, PeerError, SendError, SkipstoneError, StartError};
    #[pymodule_export]
    use crate::events::{Acknowledged, Close, Closed, Connected, GivenUp, Message, PathChanged, PeerId, Requested};
    #[pymodule_export]
    use crate::impairment::Impairment;
    #[pymodule_export]
    use crate::modes::{ClosedBy, Congestion, DeliveryMode, Overflow, Threading, Why};
    #[pymodule_export]
    use crate::reconnect::Reconnect;
    #[pymodule_export]
    use crate::security::{Security, Trust};
    #[pymodule_export]
    use crate::server::{BroadcastReceipt, Server};
    #[pymodule_export]
    use crate::settings::{ChannelRule, Merging, Redundancy, Settings};
    #[pymodule_export]
    use crate::statistics::{Flow, Overview, ServerTime, Stats, Traffic};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        for code in skipstone::code::ALL {
            module.add(format!("CODE_{}", code.name), code.value)?;
        }
        let builtins = module.py().import("builtins")?;
        module.add("Payload", union(&builtins, &["bytes", "bytearray", "memoryview"])?)?;
        let events = ["Requested", "Connected", "Message", "Acknowledged", "GivenUp", "PathChanged", "Closed"];
        module.add("Event", union(module, &events)?)
    }

    /// The union of a module's classes, as `A | B`.
    fn union<'py>(module: &Bound<'py, PyModule>, names: &[&str]) -> PyResult<Bound<'py, PyAny>> {
        let mut classes = names.iter().map(|name| module.getattr(*name));
        let first = classes.next().expect("a union has classes")?;
        classes.try_fold(first, |union, class| union.bitor(class?))
    }
}
