//! Simulated loss and delay around a real socket, for tests.

use crate::arguments::Seconds;
use crate::errors::start_error;
use pyo3::prelude::*;
use skipstone::netsim::{LinkConfig, Loss};

/// Loss and delay around the UDP socket, the same in both directions, from a seed.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Impairment(pub(crate) skipstone::Impairment);

#[pymethods]
impl Impairment {
    /// `loss` and `reorder` from 0 to 1, `delay` and `jitter` in seconds.
    #[new]
    #[pyo3(signature = (
        *, loss = 0.0, delay = Seconds::default(), jitter = Seconds::default(), reorder = 0.0, seed = 1
    ))]
    fn new(loss: f64, delay: Seconds, jitter: Seconds, reorder: f64, seed: u64) -> PyResult<Self> {
        let link = LinkConfig {
            delay: delay.0,
            jitter: jitter.0,
            loss: if loss == 0.0 { Loss::None } else { Loss::Random(loss) },
            reorder,
            ..LinkConfig::default()
        };
        let impairment = skipstone::Impairment { up: link.clone(), down: link, seed };
        impairment.check().map_err(start_error)?;
        Ok(Impairment(impairment))
    }
}
