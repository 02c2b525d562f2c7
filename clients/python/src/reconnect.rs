//! How a client reconnects by itself.

use crate::arguments::Seconds;
use pyo3::prelude::*;

/// Makes a client connect again by itself, in `poll`, after it lost its connection or if the server restarts or is
/// full. The pause doubles with each failed attempt, and half of it is random.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Reconnect(pub(crate) skipstone::Reconnect);

#[pymethods]
impl Reconnect {
    /// The first pause after a lost connection (at least 0.001 s, 0.25 by default), the longest (30 by default), and
    /// the maximum number of consecutive failed attempts.
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
