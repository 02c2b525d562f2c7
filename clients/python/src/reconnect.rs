//! How a client comes back by itself.

use crate::arguments::Seconds;
use pyo3::prelude::*;

/// Has a client connect again by itself, in `poll`: after a connection that was lost, and to a server that restarts, or is full.
/// The pause doubles with each attempt that fails, and half of it is random.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Reconnect(pub(crate) skipstone::Reconnect);

#[pymethods]
impl Reconnect {
    /// The first pause after a lost connection (0.001 s or more; by default 0.25), the longest (by default 30), and how many
    /// attempts in a row may fail.
    #[new]
    #[pyo3(signature = (*, pause_min = None, pause_max = None, attempts_max = 20))]
    fn new(pause_min: Option<Seconds>, pause_max: Option<Seconds>, attempts_max: u32) -> Self {
        let default = skipstone::Reconnect::default();
        Reconnect(skipstone::Reconnect {
            pause_min: pause_min.map_or(default.pause_min, |pause| pause.0),
            pause_max: pause_max.map_or(default.pause_max, |pause| pause.0),
            attempts_max,
        })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
