//! The actions of keys and the mouse.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use tui_input::InputRequest;
use tui_input::backend::crossterm::to_input_request;

/// A wish of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To change the line being entered.
    Edit(InputRequest),
    /// To bring back the line entered before.
    Older,
    /// To bring back the line entered after.
    Newer,
    /// To insert this text.
    Paste(String),
    /// Scroll up by this many rows.
    ScrollUp(u16),
    /// Scroll down by this many rows.
    ScrollDown(u16),
    /// To see the page before.
    PageUp,
    /// To see the page after.
    PageDown,
    /// To see the first line.
    Oldest,
    /// To follow the newest line.
    Newest,
    /// A screen of another size.
    Resize,
    /// A clean screen.
    Redraw,
    /// The line to be used.
    Enter,
    /// To leave.
    Quit,
    /// To leave, as by a signal.
    Interrupt,
}

/// The action that an event requests. Some keys scroll or leave only while the input line is empty.
pub(super) fn wish(event: &Event, is_line_empty: bool) -> Option<Wish> {
    match event {
        // Some systems also report when a key is released.
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            of_key(key, is_line_empty).or_else(|| to_input_request(event).map(Wish::Edit))
        }
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollUp => Some(Wish::ScrollUp(WHEEL_ROWS)),
            MouseEventKind::ScrollDown => Some(Wish::ScrollDown(WHEEL_ROWS)),
            _ => None,
        },
        Event::Paste(text) => Some(Wish::Paste(text.clone())),
        Event::Resize(..) => Some(Wish::Resize),
        _ => None,
    }
}

/// The actions of this screen; the widget edits the line itself.
fn of_key(key: &KeyEvent, is_line_empty: bool) -> Option<Wish> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL) && !key.modifiers.contains(KeyModifiers::ALT);
    let is_shift = key.modifiers.contains(KeyModifiers::SHIFT);
    Some(match key.code {
        KeyCode::Char('u') if is_control => Wish::Edit(InputRequest::DeleteFromStart),
        KeyCode::Char('d') if is_control && is_line_empty => Wish::Quit,
        KeyCode::Char('d') if is_control => Wish::Edit(InputRequest::DeleteNextChar),
        KeyCode::Char('c') if is_control => Wish::Interrupt,
        KeyCode::Char('l') if is_control => Wish::Redraw,
        KeyCode::Char(letter) if !is_control => Wish::Edit(InputRequest::InsertChar(letter)),
        KeyCode::Enter => Wish::Enter,
        KeyCode::PageUp => Wish::PageUp,
        KeyCode::PageDown => Wish::PageDown,
        KeyCode::Home if is_control || is_line_empty => Wish::Oldest,
        KeyCode::End if is_control || is_line_empty => Wish::Newest,
        KeyCode::Up if is_shift => Wish::ScrollUp(1),
        KeyCode::Down if is_shift => Wish::ScrollDown(1),
        KeyCode::Up => Wish::Older,
        KeyCode::Down => Wish::Newer,
        _ => return None,
    })
}

/// Rows for each click of the wheel.
const WHEEL_ROWS: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: KeyCode, modifiers: KeyModifiers, is_line_empty: bool) -> Option<Wish> {
        wish(&Event::Key(KeyEvent::new(code, modifiers)), is_line_empty)
    }

    #[test]
    fn home_and_end_scroll_while_the_line_is_empty() {
        let none = KeyModifiers::NONE;
        assert_eq!(of(KeyCode::Home, none, true), Some(Wish::Oldest));
        assert_eq!(of(KeyCode::Home, none, false), Some(Wish::Edit(InputRequest::GoToStart)));
        assert_eq!(of(KeyCode::End, none, false), Some(Wish::Edit(InputRequest::GoToEnd)));
        assert_eq!(of(KeyCode::End, KeyModifiers::CONTROL, false), Some(Wish::Newest));
    }

    #[test]
    fn lines_are_edited_as_in_a_shell() {
        let control = |letter| of(KeyCode::Char(letter), KeyModifiers::CONTROL, false);
        let edits = ['a', 'e', 'u', 'k', 'w', 'h'].map(control);
        let expected = [
            InputRequest::GoToStart,
            InputRequest::GoToEnd,
            InputRequest::DeleteFromStart,
            InputRequest::DeleteTillEnd,
            InputRequest::DeletePrevWord,
            InputRequest::DeletePrevChar,
        ];
        assert_eq!(edits, expected.map(|edit| Some(Wish::Edit(edit))));
    }

    #[test]
    fn control_d_ends_the_session_only_on_an_empty_line() {
        assert_eq!(of(KeyCode::Char('d'), KeyModifiers::CONTROL, true), Some(Wish::Quit));
        assert_eq!(
            of(KeyCode::Char('d'), KeyModifiers::CONTROL, false),
            Some(Wish::Edit(InputRequest::DeleteNextChar))
        );
        assert_eq!(of(KeyCode::Char('c'), KeyModifiers::CONTROL, false), Some(Wish::Interrupt));
    }

    #[test]
    fn letters_of_every_script_are_text() {
        let right_alt = KeyModifiers::CONTROL | KeyModifiers::ALT;
        assert_eq!(of(KeyCode::Char('@'), right_alt, true), Some(Wish::Edit(InputRequest::InsertChar('@'))));
        assert_eq!(of(KeyCode::Char('É'), KeyModifiers::SHIFT, true), Some(Wish::Edit(InputRequest::InsertChar('É'))));
        assert_eq!(of(KeyCode::F(1), KeyModifiers::NONE, true), None);
    }

    #[test]
    fn a_key_release_is_ignored() {
        let mut key = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        key.kind = KeyEventKind::Release;
        assert_eq!(wish(&Event::Key(key), true), None);
    }
}
