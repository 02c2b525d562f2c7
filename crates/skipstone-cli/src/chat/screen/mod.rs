//! Chat on a terminal: messages, a status bar, an input line. [`terminal`] opens and restores the terminal,
//! [`keys`] says what keys mean, [`draw`] draws.

mod draw;
mod keys;
mod terminal;

use super::editor::Editor;
use super::ending::Ending;
use super::session::{Entered, Line, Session};
use super::status::Status;
use super::view::ScrollView;
use keys::Wish;
use ratatui::crossterm::event::{self, Event};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use terminal::FullScreen;
use tui_input::InputRequest;

/// Chats until the user quits, the connection ends or `stop` is set. The terminal is then as it was before.
pub(super) fn run(mut session: Session, stop: &AtomicBool) -> Ending {
    let ending = match FullScreen::open() {
        Ok(mut terminal) => Screen::new(&session.url).chat(&mut session, &mut terminal, stop),
        Err(error) => Ending::Broken(error),
    };
    session.part(ending)
}

/// The state of the screen.
#[derive(Debug)]
struct Screen {
    view: ScrollView,
    editor: Editor,
    status: Status,
    /// The server, and the state of the connection to it.
    server: String,
    state: &'static str,
    /// Lines on their way into the view.
    heard: Vec<Line>,
    is_changed: bool,
    drawn: Option<Instant>,
}

impl Screen {
    fn new(server: &str) -> Self {
        Self {
            view: ScrollView::new(),
            editor: Editor::default(),
            status: Status::new(),
            server: skipstone_lab::clean::line(server),
            state: "connecting",
            heard: Vec::new(),
            is_changed: true,
            drawn: None,
        }
    }

    fn chat(&mut self, session: &mut Session, terminal: &mut FullScreen, stop: &AtomicBool) -> Ending {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ending::Interrupted;
            }
            match self.round(session, terminal) {
                Ok(None) => {}
                Ok(Some(ending)) => return ending,
                Err(error) => return Ending::Broken(error),
            }
        }
    }

    /// The network, the keys, the screen, each for a bounded time; then a wait, if nothing happened.
    fn round(&mut self, session: &mut Session, terminal: &mut FullScreen) -> io::Result<Option<Ending>> {
        let ending = session.hear(&mut self.heard);
        let is_quiet = self.heard.is_empty();
        self.show_heard();
        if ending.is_some() {
            return Ok(ending);
        }
        for _ in 0..KEYS_MAX {
            if !event::poll(Duration::ZERO)? {
                break;
            }
            match self.handle_event(&event::read()?) {
                Some(Wish::Redraw) => terminal.0.clear()?,
                Some(wish) => {
                    if let Some(ending) = self.grant(wish, session) {
                        return Ok(Some(ending));
                    }
                }
                None => {}
            }
        }
        self.refresh_status(session);
        if self.is_changed && self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME) {
            terminal.0.draw(|frame| self.draw(frame))?;
            (self.drawn, self.is_changed) = (Some(Instant::now()), false);
        }
        if is_quiet {
            session.wait(WAIT);
        }
        Ok(None)
    }

    fn show_heard(&mut self) {
        self.is_changed |= !self.heard.is_empty();
        self.heard.drain(..).for_each(|line| self.view.push(line));
    }

    /// Applies an event of the terminal to the screen; an action that concerns the connection is returned.
    fn handle_event(&mut self, event: &Event) -> Option<Wish> {
        let wish = keys::wish(event, self.editor.is_empty())?;
        self.is_changed = true;
        match wish {
            Wish::Edit(edit) => self.editor.apply(edit),
            Wish::Paste(text) => {
                let letters = skipstone_lab::clean::line(&text);
                letters.chars().for_each(|letter| self.editor.apply(InputRequest::InsertChar(letter)));
            }
            Wish::Older => self.editor.browse_older(),
            Wish::Newer => self.editor.browse_newer(),
            Wish::ScrollUp(rows) => self.view.scroll_up(rows),
            Wish::ScrollDown(rows) => self.view.scroll_down(rows),
            Wish::PageUp => self.view.scroll_up(self.view.page()),
            Wish::PageDown => self.view.scroll_down(self.view.page()),
            Wish::Oldest => self.view.scroll_to_oldest(),
            Wish::Newest => self.view.follow(),
            Wish::Resize => {}
            Wish::Redraw | Wish::Enter | Wish::Quit | Wish::Interrupt => return Some(wish),
        }
        None
    }

    fn grant(&mut self, wish: Wish, session: &mut Session) -> Option<Ending> {
        match wish {
            Wish::Interrupt => return Some(Ending::Interrupted),
            Wish::Quit => return Some(Ending::Quit),
            Wish::Enter => {
                let line = self.editor.enter();
                match session.enter(&line, &mut self.heard) {
                    // Entering a line scrolls to it.
                    Entered::Done => self.view.follow(),
                    Entered::NotNow => self.editor.restore(&line),
                    Entered::Quit => return Some(Ending::Quit),
                }
                self.show_heard();
            }
            _ => {}
        }
        None
    }

    fn refresh_status(&mut self, session: &mut Session) {
        let now = Instant::now();
        if self.status.is_due(now) {
            self.state = if session.is_connected { "connected" } else { "connecting" };
            let overview = session.overview();
            self.status.take(now, session.lines, overview.as_ref());
            self.is_changed = true;
        }
    }
}

/// The minimum time between two drawings, which limits the cost of a flood.
const FRAME: Duration = Duration::from_millis(33);
/// How long a key waits for a quiet network, at most.
const WAIT: Duration = Duration::from_millis(15);
/// Keys between two looks at the network.
const KEYS_MAX: usize = 512;

#[cfg(test)]
mod tests;
