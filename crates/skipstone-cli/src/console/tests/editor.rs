//! The line editor against a small model of a terminal: what stays on its screen, and where the cursor stands.

use crate::console::editor::{Display, Editor, LINE_BYTES_MAX, Outcome};
use crate::console::history::History;
use crate::console::keys::KeyParser;
use crate::console::tests::random::Random;
use crate::console::tests::screen::Screen;

/// An editor at a terminal.
struct Desk {
    editor: Editor,
    keys: KeyParser,
    history: History,
    screen: Screen,
    outcomes: Vec<Outcome>,
}

impl Desk {
    fn new(columns: u16) -> Desk {
        let mut desk = Desk {
            editor: Editor::new("> ", Display::Shown),
            keys: KeyParser::new(),
            history: History::default(),
            screen: Screen::new(usize::from(columns)),
            outcomes: Vec::new(),
        };
        desk.draw(|editor, out| editor.resize(columns, out));
        desk
    }

    fn draw(&mut self, change: impl FnOnce(&mut Editor, &mut Vec<u8>)) {
        let mut out = Vec::new();
        change(&mut self.editor, &mut out);
        self.editor.refresh(&mut out);
        self.screen.print(&out);
    }

    /// Types `bytes`, drawing after each; entered lines go to the history.
    fn type_bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let mut out = Vec::new();
            if let Some(key) = self.keys.handle_byte(byte) {
                let outcome = self.editor.handle_key(key, &self.history, &mut out);
                if let Outcome::Entered(line) = &outcome {
                    self.history.push(line);
                }
                self.outcomes.push(outcome);
            }
            self.editor.refresh(&mut out);
            self.screen.print(&out);
        }
    }

    /// The last row with the cursor drawn as `|`.
    fn row(&self) -> String {
        self.screen.row_with_cursor()
    }
}

fn after(typed: &str) -> String {
    let mut desk = Desk::new(40);
    desk.type_bytes(typed.as_bytes());
    desk.row()
}

#[test]
fn typing_moving_and_erasing_show_the_line_as_it_is() {
    assert_eq!(after("stats"), "> stats|");
    assert_eq!(after("sats\x1b[D\x1b[D\x1b[Dt"), "> st|ats");
    assert_eq!(after("tats\x01s\x05!"), "> stats!|");
    assert_eq!(after("statxs\x1b[D\x7f"), "> stat|s");
    assert_eq!(after("sxtats\x1b[H\x1b[C\x1b[3~"), "> s|tats");
    assert_eq!(after("grüße€😀\x7f\x1b[D\x7f"), "> grüß|€");
}

#[test]
fn words_and_halves_are_killed() {
    assert_eq!(after("kick zoë  \x17"), "> kick |");
    assert_eq!(after("kick zoë\x01\x0b"), "> |");
    assert_eq!(after("kick zoë\x1b[D\x15"), "> |ë");
    assert_eq!(after("one two\x1bb\x0b"), "> one |");
    assert_eq!(after("one two\x01\x1bf!"), "> one!| two");
    assert_eq!(after("ab\x01\x04"), "> |b");
}

#[test]
fn up_and_down_walk_the_history_and_give_back_the_draft() {
    let mut desk = Desk::new(40);
    desk.type_bytes(b"one\rtwo\rdraft\x1b[A");
    assert_eq!(desk.row(), "> two|");
    desk.type_bytes(b"\x1b[A\x1b[A\x1b[A");
    assert_eq!(desk.row(), "> one|");
    desk.type_bytes(b"\x1b[B");
    assert_eq!(desk.row(), "> two|");
    desk.type_bytes(b"\x1b[B\x1b[B");
    assert_eq!(desk.row(), "> draft|");
}

#[test]
fn an_entered_line_is_given_whole_and_stays_on_the_screen() {
    let mut desk = Desk::new(40);
    desk.type_bytes(b"stats\x1b[D\x1b[D\r");
    assert_eq!(desk.outcomes.pop(), Some(Outcome::Entered("stats".to_owned())));
    assert_eq!(desk.screen.rows(), ["> stats", "> "]);
}

#[test]
fn ctrl_c_drops_the_line_and_ctrl_d_ends_only_an_empty_one() {
    let mut desk = Desk::new(40);
    desk.type_bytes(b"kick\x03");
    assert_eq!(desk.screen.rows(), ["> kick^C", "> "]);
    desk.type_bytes(b"\x04");
    assert_eq!(desk.outcomes.pop(), Some(Outcome::EndOfInput));
}

#[test]
fn a_log_line_appears_above_and_the_line_goes_on() {
    let mut desk = Desk::new(40);
    desk.type_bytes(b"stats\x1b[D");
    desk.draw(|editor, out| editor.print_above("zoë", out));
    assert_eq!(desk.screen.rows(), ["zoë", "> stats"]);
    assert_eq!(desk.row(), "> stat|s");
}

#[test]
fn a_line_wider_than_the_terminal_scrolls_and_never_wraps() {
    let mut desk = Desk::new(20);
    desk.type_bytes(b"0123456789abcdefghijklmnopqrstuvwxyz");
    assert!(desk.row().ends_with("wxyz|") && desk.row().starts_with("> "), "{}", desk.row());
    desk.type_bytes(b"\x01");
    assert_eq!(desk.row(), "> |0123456789abcdefg");
    desk.type_bytes(b"\x05!");
    assert!(desk.row().ends_with("xyz!|"), "{}", desk.row());
    assert_eq!(desk.screen.wraps(), 0);
}

#[test]
fn a_resize_draws_the_line_anew() {
    let mut desk = Desk::new(20);
    desk.type_bytes(b"0123456789abcdefghij");
    desk.screen = Screen::new(60);
    desk.draw(|editor, out| editor.resize(60, out));
    assert_eq!(desk.row(), "> 0123456789abcdefghij|");
}

#[test]
fn a_hidden_line_shows_nothing_and_knows_no_history() {
    let mut desk = Desk::new(40);
    desk.type_bytes(b"stats\r");
    desk.draw(|editor, _| editor.set_prompt("token: ", Display::Hidden));
    desk.type_bytes(b"secret\x1b[A\t");
    assert_eq!(desk.row(), "token: |");
    desk.type_bytes(b"\r");
    assert_eq!(desk.outcomes.pop(), Some(Outcome::Entered("secret".to_owned())));
}

#[test]
fn a_byte_too_many_is_refused_with_a_bell() {
    let mut desk = Desk::new(40);
    desk.type_bytes(&[b'a'; LINE_BYTES_MAX]);
    assert_eq!(desk.screen.bells(), 0);
    desk.type_bytes("é".as_bytes());
    assert_eq!(desk.screen.bells(), 1);
    desk.type_bytes(b"\r");
    assert_eq!(desk.outcomes.pop(), Some(Outcome::Entered("a".repeat(LINE_BYTES_MAX))));
}

#[test]
fn random_keys_never_panic_never_wrap_and_show_what_a_fresh_editor_would() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut desk = Desk::new(8 + u16::try_from(seed % 40).expect("small"));
        for _ in 0..40 {
            let bytes = random.key_bytes(40);
            desk.type_bytes(&bytes);
            let drawn = desk.row();
            desk.draw(Editor::hide);
            assert_eq!(desk.row(), drawn, "seed {seed}: the row differs from one drawn anew");
            assert!(desk.editor.before_cursor().len() <= LINE_BYTES_MAX, "seed {seed}");
        }
        assert_eq!(desk.screen.wraps(), 0, "seed {seed}");
    }
}
