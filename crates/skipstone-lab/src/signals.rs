//! SIGTERM and SIGINT as a flag that the loops look at.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process was told to stop.
#[derive(Clone, Debug)]
pub struct Signals(Arc<AtomicBool>);

impl Signals {
    /// Watches from now on. The second signal ends the process at once.
    pub fn watch() -> Result<Self, String> {
        let told = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            flag::register_conditional_shutdown(signal, 105, Arc::clone(&told)).map_err(text)?;
            flag::register(signal, Arc::clone(&told)).map_err(text)?;
        }
        Ok(Signals(told))
    }

    /// For a child process: the terminal's Ctrl-C goes to its parent too, which ends it in good order.
    pub fn watch_as_child() -> Result<Self, String> {
        let told = Arc::new(AtomicBool::new(false));
        flag::register(SIGTERM, Arc::clone(&told)).map_err(text)?;
        flag::register(SIGINT, Arc::new(AtomicBool::new(false))).map_err(text)?;
        Ok(Signals(told))
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

fn text(error: io::Error) -> String {
    format!("cannot watch for signals: {error}")
}
