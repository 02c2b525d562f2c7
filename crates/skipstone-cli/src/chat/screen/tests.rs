//! The content of the screen, through ratatui's own test terminal.

use super::*;
use crate::chat::session::{Source, here};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent, MouseEventKind};

/// A screen on a terminal that the test can read.
struct Shown {
    screen: Screen,
    terminal: Terminal<TestBackend>,
}

impl Shown {
    fn new(width: u16, height: u16) -> Shown {
        let terminal = Terminal::new(TestBackend::new(width, height)).expect("memory does not fail");
        Shown { screen: Screen::new("ws://a:1"), terminal }
    }

    fn say(&mut self, source: Source, text: &str) {
        self.screen.heard.push(Line { source, text: text.into() });
        self.screen.show_heard();
    }

    fn press(&mut self, code: KeyCode) -> Option<Wish> {
        self.screen.handle_event(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn type_text(&mut self, text: &str) {
        text.chars().for_each(|letter| assert_eq!(self.press(KeyCode::Char(letter)), None));
    }

    fn rows(&mut self) -> Vec<String> {
        self.terminal.draw(|frame| self.screen.draw(frame)).expect("memory does not fail");
        let buffer = self.terminal.backend().buffer();
        let symbols: Vec<&str> = buffer.content.iter().map(|cell| cell.symbol()).collect();
        symbols.chunks(buffer.area.width.into()).map(|row| row.concat().trim_end().into()).collect()
    }

    fn cursor(&self) -> (u16, u16) {
        let position = self.terminal.backend().cursor_position();
        (position.x, position.y)
    }
}

#[test]
fn messages_status_and_input_are_stacked() {
    let mut shown = Shown::new(40, 6);
    shown.say(Source::Here, "connected");
    shown.say(Source::Everybody, "zoe: hello");
    shown.type_text("hi there");
    assert_eq!(shown.rows(), ["connected", "zoe: hello", "", "", " connecting │ 0 lines/s │ ws://a:1", "> hi there"]);
    assert_eq!(shown.cursor(), (10, 5));
}

#[test]
fn a_screen_scrolled_up_stays_in_place_and_counts_unread_lines() {
    let mut shown = Shown::new(60, 5);
    (0..10).for_each(|number| shown.say(Source::Everybody, &format!("line {number}")));
    assert_eq!(shown.rows()[..3], ["line 7", "line 8", "line 9"]);
    shown.press(KeyCode::PageUp);
    shown.say(Source::Everybody, "new");
    let rows = shown.rows();
    assert_eq!(rows[..3], ["line 5", "line 6", "line 7"]);
    assert!(rows[3].contains("1 line unread"), "{rows:?}");
    shown.press(KeyCode::End);
    assert_eq!(shown.rows()[2], "new");
    let wheel = MouseEvent { kind: MouseEventKind::ScrollUp, column: 0, row: 0, modifiers: KeyModifiers::NONE };
    shown.screen.handle_event(&Event::Mouse(wheel));
    assert_eq!(shown.rows()[0], "line 5");
}

#[test]
fn long_lines_and_wide_letters_wrap() {
    let mut shown = Shown::new(10, 6);
    shown.say(Source::Everybody, "the old king 世界世界世界");
    assert_eq!(shown.rows()[..4], ["the old", "king", "世 界 世 界 世", "界"]);
    shown.press(KeyCode::PageUp);
    shown.terminal.backend_mut().resize(30, 6);
    assert_eq!(shown.rows()[0], "the old king 世 界 世 界 世 界");
}

#[test]
fn the_input_line_scrolls_sideways() {
    let mut shown = Shown::new(10, 3);
    shown.type_text("abcdefghijkl");
    assert_eq!(shown.rows()[2], "> fghijkl");
    assert_eq!(shown.cursor(), (9, 2));
    shown.press(KeyCode::Home);
    assert_eq!((shown.rows()[2].as_str(), shown.cursor()), ("> abcdefgh", (2, 2)));
}

#[test]
fn a_paste_is_one_line_and_harmless() {
    let mut shown = Shown::new(40, 3);
    shown.screen.handle_event(&Event::Paste("two\nlines\x1b[2J".into()));
    assert_eq!(shown.rows()[2], "> two lines␛[2J");
    assert_eq!(shown.press(KeyCode::Enter), Some(Wish::Enter));
}

#[test]
fn no_size_of_the_terminal_is_too_small() {
    for (width, height) in [(1, 1), (2, 1), (1, 2), (3, 3), (200, 1), (1, 50)] {
        let mut shown = Shown::new(width, height);
        shown.say(Source::Server, "the old king sleeps 世界");
        shown.type_text("世界 hello");
        shown.rows();
        shown.press(KeyCode::PageUp);
        shown.press(KeyCode::PageDown);
        shown.rows();
    }
}

#[test]
fn server_and_program_messages_are_coloured() {
    let mut shown = Shown::new(10, 5);
    shown.screen.heard.push(here("a".into()));
    shown.say(Source::Server, "b");
    shown.say(Source::Everybody, "c");
    shown.rows();
    let buffer = shown.terminal.backend().buffer();
    let colours: Vec<_> = (0..3).map(|row| buffer[(0, row)].fg).collect();
    assert!(colours[0] != colours[1] && colours[1] != colours[2] && colours[0] != colours[2]);
}
