//! The terminal: switched to full screen, and restored on every exit, panics included.

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use ratatui::crossterm::execute;
use std::io;

/// The full screen, until it is dropped.
#[derive(Debug)]
pub(super) struct FullScreen(pub(super) DefaultTerminal);

impl FullScreen {
    /// Takes the terminal.
    pub(super) fn open() -> io::Result<Self> {
        let say_panic = std::panic::take_hook();
        // Ratatui's own hook comes first: it leaves the full screen.
        std::panic::set_hook(Box::new(move |panic| {
            leave_modes();
            say_panic(panic);
        }));
        let screen = Self(ratatui::try_init()?);
        execute!(io::stdout(), EnableMouseCapture, EnableBracketedPaste)?;
        Ok(screen)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        leave_modes();
        ratatui::restore();
    }
}

fn leave_modes() {
    // A closed terminal needs no restoring.
    let _ = execute!(io::stdout(), DisableMouseCapture, DisableBracketedPaste);
}
