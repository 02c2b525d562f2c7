//! SIGTERM, SIGINT and, for a closed terminal, SIGHUP as a flag that the loops check.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process was asked to stop.
#[derive(Clone, Debug)]
pub struct Signals(Arc<AtomicBool>);

impl Signals {
    /// Watches from now on. The second SIGTERM or SIGINT ends the process at once.
    pub fn watch() -> Result<Self, String> {
        let (told, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        for signal in [SIGTERM, SIGINT] {
            flag::register_conditional_shutdown(signal, 105, Arc::clone(&asked)).map_err(text)?;
            flag::register(signal, Arc::clone(&asked)).map_err(text)?;
            flag::register(signal, Arc::clone(&told)).map_err(text)?;
        }
        // Both the shell and the kernel may send it, and a supervisor SIGTERM besides: that is no second wish.
        if let Some(signal) = hangup() {
            flag::register(signal, Arc::clone(&told)).map_err(text)?;
        }
        Ok(Self(told))
    }

    /// For a child process: the terminal's Ctrl-C and its end go to its parent too, which ends it in good order.
    pub fn watch_as_child() -> Result<Self, String> {
        let told = Arc::new(AtomicBool::new(false));
        flag::register(SIGTERM, Arc::clone(&told)).map_err(text)?;
        for signal in std::iter::once(SIGINT).chain(hangup()) {
            flag::register(signal, Arc::new(AtomicBool::new(false))).map_err(text)?;
        }
        Ok(Self(told))
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

/// SIGUSR2: the wish that this server makes way for the one that follows.
#[derive(Clone, Debug)]
pub struct RestartSignal(Arc<AtomicBool>);

impl RestartSignal {
    /// Watches from now on, including signals that [`RestartSignal::hold`] has held; `None` if the system has no such
    /// signal.
    pub fn watch() -> Result<Option<Self>, String> {
        let asked = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        {
            flag::register(signal_hook::consts::SIGUSR2, Arc::clone(&asked)).map_err(text)?;
            restart_signals().thread_unblock().map_err(|error| text(error.into()))?;
        }
        Ok(cfg!(unix).then_some(Self(asked)))
    }

    /// Called before this thread becomes the next program, which starts to watch later: a signal in between would end
    /// it.
    #[cfg(unix)]
    pub fn hold() -> Result<(), String> {
        restart_signals().thread_block().map_err(|error| text(error.into()))
    }

    /// The same as the signal.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it came since the last call.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

#[cfg(unix)]
fn restart_signals() -> nix::sys::signal::SigSet {
    nix::sys::signal::SigSet::from(nix::sys::signal::Signal::SIGUSR2)
}

/// SIGHUP, unless the parent process ignores it, as `nohup` does, or that cannot be determined.
#[cfg(unix)]
pub fn hangup() -> Option<i32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    (!is_hangup_ignored(&status)?).then_some(signal_hook::consts::SIGHUP)
}

/// No other system has it.
#[cfg(not(unix))]
pub fn hangup() -> Option<i32> {
    None
}

/// Signal 1 is the last bit of the mask.
#[cfg(unix)]
fn is_hangup_ignored(status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? & 1 == 1)
}

fn text(error: io::Error) -> String {
    format!("cannot watch for signals: {error}")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_restart_signal_between_two_programs_reaches_the_second() {
        RestartSignal::hold().expect("it holds");
        nix::sys::signal::raise(nix::sys::signal::Signal::SIGUSR2).expect("it is sent to this thread");
        let second = RestartSignal::watch().expect("it watches").expect("this is Unix");
        assert!(second.take());
        assert!(!second.take());
    }

    #[test]
    fn sighup_stays_ignored_under_nohup() {
        let status = |mask| format!("Name:\tskipstone\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\n");
        assert_eq!(is_hangup_ignored(&status("0000000000001001")), Some(true));
        assert_eq!(is_hangup_ignored(&status("0000000000001000")), Some(false));
        assert_eq!(is_hangup_ignored("Name:\tskipstone"), None);
    }
}
