//! What a client types, without I/O, in either of two modes: whole lines as they come, or keys for the line editor.
//! What is typed means nothing here.

use std::collections::VecDeque;

use crate::console::codec::{Codec, Event};
use crate::console::editor::{Display, Editor, Outcome};
use crate::console::history::History;
use crate::console::keys::{Key, KeyParser};
use crate::console::plain::{Line, LineAssembler};

/// Something typed that the session has to answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line.
    Line(String),
    /// A line longer than is allowed; nothing of it is kept.
    TooLong,
    /// Tab.
    Complete,
    /// The client ends the session.
    End,
    /// "Are you there?"
    AreYouThere,
}

/// How a client types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Whole lines come; replies alone go out.
    Line,
    /// Keys come; the editor draws.
    Character,
}

/// Received bytes on their way to being lines.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) codec: Codec,
    pub(super) editor: Editor,
    /// No more than one read gives: none is made before it is empty.
    events: VecDeque<Event>,
    ended: bool,
    mode: Mode,
    lines: LineAssembler,
    keys: KeyParser,
}

impl Input {
    /// In line mode until the client agrees to more.
    pub(super) fn new() -> Input {
        Input {
            codec: Codec::new(),
            editor: Editor::new("", Display::Shown),
            events: VecDeque::new(),
            ended: false,
            mode: Mode::Line,
            lines: LineAssembler::default(),
            keys: KeyParser::new(),
        }
    }

    /// Takes received bytes.
    pub(super) fn handle_bytes(&mut self, bytes: &[u8]) {
        self.codec.handle_bytes(bytes, &mut self.events);
    }

    /// No more bytes will come.
    pub(super) fn handle_end(&mut self) {
        self.ended = true;
    }

    /// Whether more bytes may be received.
    pub(super) fn wants_bytes(&self) -> bool {
        self.events.is_empty() && !self.ended
    }

    /// How the client types, as far as is known.
    pub(super) const fn mode(&self) -> Mode {
        self.mode
    }

    /// The next event, for [`Input::handle_event`]. A last line without an end gets one.
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        let cut_off = self.ended && self.mode == Mode::Line && !self.lines.is_empty();
        self.events.pop_front().or_else(|| cut_off.then_some(Event::LineEnd))
    }

    /// Whether all has come, after [`Input::poll_event`] has given nothing.
    pub(super) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Does what `event` does to the line, and draws into `out` what cannot wait.
    pub(super) fn handle_event(&mut self, event: Event, history: &History, out: &mut Vec<u8>) -> Option<Typed> {
        match (event, self.mode) {
            (Event::Columns(columns), _) => self.editor.resize(columns, out),
            (Event::AreYouThere, _) => return Some(Typed::AreYouThere),
            (_, Mode::Line) => return self.on_plain_event(event),
            (_, Mode::Character) => return self.on_key_event(event, history, out),
        }
        None
    }

    /// The client takes character mode. What it has typed of a line goes on there.
    pub(super) fn take_character_mode(&mut self) {
        self.codec.offer_rest();
        self.mode = Mode::Character;
        if let Line::Text(begun) = self.lines.take() {
            self.editor.insert_text(&begun);
        }
    }

    /// The client edits its lines itself.
    pub(super) fn take_line_mode(&mut self, out: &mut Vec<u8>) {
        self.editor.hide(out);
        self.mode = Mode::Line;
    }

    fn on_plain_event(&mut self, event: Event) -> Option<Typed> {
        match event {
            Event::Byte(byte) => self.lines.handle_byte(byte),
            Event::LineEnd => {
                return Some(match self.lines.take() {
                    Line::Text(line) => Typed::Line(line),
                    Line::TooLong => Typed::TooLong,
                });
            }
            Event::Interrupt | Event::EraseLine => drop(self.lines.take()),
            Event::EraseCharacter => self.lines.erase_character(),
            Event::EndOfInput => return Some(Typed::End),
            _ => {}
        }
        None
    }

    fn on_key_event(&mut self, event: Event, history: &History, out: &mut Vec<u8>) -> Option<Typed> {
        let key = match event {
            Event::Byte(byte) => self.keys.handle_byte(byte),
            other => {
                self.keys.reset();
                key_of(other)
            }
        };
        match self.editor.handle_key(key?, history, out) {
            Outcome::Edited => None,
            Outcome::Entered(line) => Some(Typed::Line(line)),
            Outcome::Complete => Some(Typed::Complete),
            Outcome::EndOfInput => Some(Typed::End),
        }
    }
}

fn key_of(event: Event) -> Option<Key> {
    match event {
        Event::LineEnd => Some(Key::Enter),
        Event::Interrupt => Some(Key::Cancel),
        Event::EndOfInput => Some(Key::EndOfInput),
        Event::EraseCharacter => Some(Key::Backspace),
        Event::EraseLine => Some(Key::KillToStart),
        _ => None,
    }
}
