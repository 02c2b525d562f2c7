//! SIGTERM and SIGINT as a flag that the loops look at.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process was told to stop.
#[derive(Clone, Debug)]
pub struct Signals(Arc<AtomicBool>);

impl Signals {
    /// Watches from now on. The second signal ends the process at once.
    pub fn watch() -> io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            signal_hook::flag::register_conditional_shutdown(signal, 105, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Signals(flag))
    }

    /// For a child process: the terminal's Ctrl-C goes to its parent too, which ends it in good order.
    pub fn watch_as_child() -> io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGTERM, Arc::clone(&flag))?;
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
        Ok(Signals(flag))
    }

    /// Set when it is time to stop, for other threads.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Whether to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
