//! The progress of a command, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

/// The watcher of a command, who may stop it.
#[derive(Clone, Copy)]
pub(crate) struct Watcher<'a> {
    is_shown: bool,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Watcher<'a> {
    /// A person at a terminal, who stops it by Ctrl-C.
    pub(crate) fn terminal(stop: &'a AtomicBool) -> Watcher<'a> {
        Watcher { is_shown: std::io::stderr().is_terminal(), stop: Some(stop) }
    }

    /// No watcher.
    pub(crate) fn none() -> Watcher<'static> {
        Watcher { is_shown: false, stop: None }
    }

    /// Whether to stop.
    pub(crate) fn must_stop(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// A bar with a number of steps.
    pub(crate) fn bar(&self, steps: u64, name: &str) -> ProgressBar {
        let target = if self.is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let style = ProgressStyle::with_template("{msg} [{wide_bar}] {human_pos}/{human_len} {per_sec} {eta}");
        bar.set_style(style.expect("a good template").progress_chars("=> "));
        bar.set_message(name.to_owned());
        bar
    }
}
