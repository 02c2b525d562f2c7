//! Bytes of a terminal to keys, without I/O: control characters, UTF-8, and the escape sequences that terminals send
//! for cursor and editing keys (ECMA-48 CSI, and SS3). What a key does is in `editor`.

/// What was pressed, by what it does to the line; several keys may mean one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A character that is no control character.
    Character(char),
    /// Enter.
    Enter,
    /// Backspace, Ctrl-H.
    Backspace,
    /// Delete.
    Delete,
    /// Left, Ctrl-B.
    Left,
    /// Right, Ctrl-F.
    Right,
    /// Ctrl-Left, Alt-B.
    WordLeft,
    /// Ctrl-Right, Alt-F.
    WordRight,
    /// Home, Ctrl-A.
    Home,
    /// End, Ctrl-E.
    End,
    /// Up, Ctrl-P.
    Older,
    /// Down, Ctrl-N.
    Newer,
    /// Tab.
    Complete,
    /// Ctrl-K.
    KillToEnd,
    /// Ctrl-U.
    KillToStart,
    /// Ctrl-W.
    KillWord,
    /// Ctrl-L.
    ClearScreen,
    /// Ctrl-C.
    Cancel,
    /// Ctrl-D: the end of the input on an empty line, else Delete.
    EndOfInput,
}

/// Holds a character or sequence of which only the beginning has come. Its memory is fixed.
#[derive(Debug)]
pub(super) struct KeyParser {
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Ground,
    Escape,
    /// ESC O: one byte follows.
    SingleShift,
    /// ESC [: parameters of which the first and last number are kept, then the final byte.
    Sequence {
        first: u16,
        last: u16,
    },
    Utf8(Utf8),
}

#[derive(Debug, Clone, Copy)]
struct Utf8 {
    bytes: [u8; 4],
    have: usize,
    need: usize,
}

impl KeyParser {
    /// Between two keys.
    pub(super) const fn new() -> KeyParser {
        KeyParser { state: State::Ground }
    }

    /// Forgets what has begun: after a line end, and where input of another kind comes between.
    pub(super) fn reset(&mut self) {
        self.state = State::Ground;
    }

    /// Takes one byte; gives the key that it completes. Bytes that are no key are dropped.
    pub(super) fn handle_byte(&mut self, byte: u8) -> Option<Key> {
        // A control character is never inside a sequence or a character: whatever had begun was cut off.
        if byte < 0x20 || byte == DELETE {
            self.state = if byte == ESCAPE { State::Escape } else { State::Ground };
            return control(byte);
        }
        match self.state {
            State::Ground => self.on_ground(byte),
            State::Escape => self.on_escape(byte),
            State::SingleShift => {
                self.state = State::Ground;
                final_key(byte, 1, 1)
            }
            State::Sequence { first, last } => self.on_sequence(byte, first, last),
            State::Utf8(partial) => self.on_continuation(byte, partial),
        }
    }

    fn on_ground(&mut self, byte: u8) -> Option<Key> {
        let need = match byte {
            ..0x80 => return Some(Key::Character(char::from(byte))),
            0xC2..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0..0xF5 => 4,
            _ => return None,
        };
        let bytes = [byte, 0, 0, 0];
        self.state = State::Utf8(Utf8 { bytes, have: 1, need });
        None
    }

    fn on_continuation(&mut self, byte: u8, mut partial: Utf8) -> Option<Key> {
        if byte & 0xC0 != 0x80 {
            self.state = State::Ground;
            return self.on_ground(byte);
        }
        partial.bytes[partial.have] = byte;
        partial.have += 1;
        if partial.have < partial.need {
            self.state = State::Utf8(partial);
            return None;
        }
        self.state = State::Ground;
        let text = str::from_utf8(&partial.bytes[..partial.need]).ok()?;
        let character = text.chars().next().filter(|character| !character.is_control())?;
        Some(Key::Character(character))
    }

    fn on_escape(&mut self, byte: u8) -> Option<Key> {
        self.state = State::Ground;
        match byte {
            b'[' => self.state = State::Sequence { first: 0, last: 0 },
            b'O' => self.state = State::SingleShift,
            b'b' => return Some(Key::WordLeft),
            b'f' => return Some(Key::WordRight),
            _ => {}
        }
        None
    }

    /// A sequence without end keeps two numbers of it, and ends at the next letter or control character.
    fn on_sequence(&mut self, byte: u8, first: u16, last: u16) -> Option<Key> {
        match byte {
            b'0'..=b'9' => {
                let number = last.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                self.state = State::Sequence { first, last: number };
                None
            }
            b';' => {
                let first = if first == 0 { last.max(1) } else { first };
                self.state = State::Sequence { first, last: 0 };
                None
            }
            0x20..0x40 => None,
            _ => {
                self.state = State::Ground;
                let first = if first == 0 { last } else { first };
                final_key(byte, first, last)
            }
        }
    }
}

fn control(byte: u8) -> Option<Key> {
    let key = match byte {
        b'\n' | b'\r' => Key::Enter,
        b'\t' => Key::Complete,
        0x08 | DELETE => Key::Backspace,
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x03 => Key::Cancel,
        0x04 => Key::EndOfInput,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x0B => Key::KillToEnd,
        0x0C => Key::ClearScreen,
        0x0E => Key::Newer,
        0x10 => Key::Older,
        0x15 => Key::KillToStart,
        0x17 => Key::KillWord,
        _ => return None,
    };
    Some(key)
}

/// The key of a sequence by its final byte; `last` is 5 where Ctrl is held.
fn final_key(byte: u8, first: u16, last: u16) -> Option<Key> {
    let key = match (byte, first, last) {
        (b'A', ..) => Key::Older,
        (b'B', ..) => Key::Newer,
        (b'C', _, 5) => Key::WordRight,
        (b'D', _, 5) => Key::WordLeft,
        (b'C', ..) => Key::Right,
        (b'D', ..) => Key::Left,
        (b'H', ..) | (b'~', 1 | 7, _) => Key::Home,
        (b'F', ..) | (b'~', 4 | 8, _) => Key::End,
        (b'~', 3, _) => Key::Delete,
        _ => return None,
    };
    Some(key)
}

const ESCAPE: u8 = 0x1B;
const DELETE: u8 = 0x7F;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::tests::random::Random;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut parser = KeyParser::new();
        bytes.iter().filter_map(|&byte| parser.handle_byte(byte)).collect()
    }

    #[test]
    fn the_sequences_of_common_terminals_are_keys() {
        assert_eq!(keys(b"\x1b[A\x1bOA\x10"), [Key::Older; 3]);
        assert_eq!(keys(b"\x1b[D\x1bOD\x02"), [Key::Left; 3]);
        assert_eq!(keys(b"\x1b[H\x1b[1~\x1b[7~\x1bOH\x01"), [Key::Home; 5]);
        assert_eq!(keys(b"\x1b[F\x1b[4~\x1b[8~\x1bOF\x05"), [Key::End; 5]);
        assert_eq!(keys(b"\x1b[1;5D\x1bb"), [Key::WordLeft; 2]);
        assert_eq!(keys(b"\x1b[1;5C\x1bf"), [Key::WordRight; 2]);
        assert_eq!(keys(b"\x1b[3~"), [Key::Delete]);
        assert_eq!(keys(b"\x08\x7f"), [Key::Backspace; 2]);
    }

    #[test]
    fn characters_of_two_to_four_bytes_are_one_key() {
        let typed = "aé€😀";
        let expected: Vec<_> = typed.chars().map(Key::Character).collect();
        assert_eq!(keys(typed.as_bytes()), expected);
    }

    #[test]
    fn what_is_no_character_is_dropped_and_the_next_one_is_not() {
        assert_eq!(keys(b"\xe2\x82a\xffb\xc0c\x80d"), "abcd".chars().map(Key::Character).collect::<Vec<_>>());
        assert_eq!(keys("\u{9b}".as_bytes()), [], "a C1 control character");
        assert_eq!(keys(b"\xed\xa0\x80"), [], "a surrogate");
    }

    #[test]
    fn unknown_and_endless_sequences_are_swallowed() {
        assert_eq!(keys(b"\x1b[15~\x1b[200~\x1bOP\x1bx"), []);
        let mut endless = b"\x1b[".to_vec();
        endless.extend([b'9'; 10_000]);
        endless.extend(b"\x03a");
        assert_eq!(keys(&endless), [Key::Cancel, Key::Character('a')]);
    }

    #[test]
    fn random_bytes_never_give_a_control_character() {
        for seed in 0..200 {
            let bytes = Random::new(seed).bytes(2000);
            for key in keys(&bytes) {
                assert!(!matches!(key, Key::Character(c) if c.is_control()), "seed {seed}");
            }
        }
    }
}
