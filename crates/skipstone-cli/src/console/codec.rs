//! The telnet byte stream of one client (RFC 854), without I/O: received bytes in, events out, and the bytes to answer
//! with. The client keeps its own line editing and echo: every option that it names is refused (RFC 855), and none is
//! offered. The bytes of a client that does not speak telnet pass through unchanged.
//!
//! ```text
//!          CR               IAC            WILL WONT DO DONT
//! AfterCr <──── Data ─────────────> Command ────────────────> Option ──> Data
//!    └──────────>│ ^ <── other ──────┘ │ SB         IAC
//!    (swallows   │ └─────── SE ──────┐ └──> Inside ─────> InsideCommand
//!    LF or NUL)                      └──────  ^ <── IAC IAC ────┘
//! ```

/// The meaning of received bytes. At most one for each byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A byte that is no telnet command and ends no line.
    Byte(u8),
    /// CR LF, CR NUL, CR or LF.
    LineEnd,
    /// The client's user ends the input.
    EndOfInput,
    /// Erase the last character.
    EraseCharacter,
    /// Erase the line typed so far; interrupt and break mean the same here.
    EraseLine,
    /// "Are you there?": any visible answer will do.
    AreYouThere,
}

/// Decodes what a client sends, and refuses what it asks for.
#[derive(Debug)]
pub(super) struct Codec {
    state: DecoderState,
    answers_left: u32,
    transmit: Vec<u8>,
    spoke_telnet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecoderState {
    Data,
    AfterCr,
    Command,
    /// The next byte is an option, which is answered by this verb; `None` if no answer is due.
    Option(Option<u8>),
    /// Inside a subnegotiation, which is skipped.
    Inside,
    InsideCommand,
}

impl Codec {
    /// A codec that has received nothing yet.
    pub(super) const fn new() -> Self {
        Self { state: DecoderState::Data, answers_left: ANSWERS_MAX, transmit: Vec::new(), spoke_telnet: false }
    }

    /// Takes received bytes, cut anywhere.
    pub(super) fn handle_bytes(&mut self, bytes: &[u8], events: &mut impl Extend<Event>) {
        events.extend(bytes.iter().filter_map(|&byte| self.handle_byte(byte)));
    }

    /// Whether any telnet command was received.
    pub(super) const fn spoke_telnet(&self) -> bool {
        self.spoke_telnet
    }

    /// Moves the answers to the end of `out`.
    pub(super) fn poll_transmit(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.transmit);
    }

    fn handle_byte(&mut self, byte: u8) -> Option<Event> {
        match std::mem::replace(&mut self.state, DecoderState::Data) {
            DecoderState::AfterCr if matches!(byte, b'\n' | 0) => None,
            DecoderState::Data | DecoderState::AfterCr => self.on_data(byte),
            DecoderState::Command => self.on_command(byte),
            DecoderState::Option(answer) => {
                self.refuse(answer, byte);
                None
            }
            DecoderState::Inside => {
                self.state = if byte == IAC { DecoderState::InsideCommand } else { DecoderState::Inside };
                None
            }
            DecoderState::InsideCommand => self.on_command_inside(byte),
        }
    }

    fn on_data(&mut self, byte: u8) -> Option<Event> {
        match byte {
            IAC => {
                self.state = DecoderState::Command;
                None
            }
            b'\r' => {
                self.state = DecoderState::AfterCr;
                Some(Event::LineEnd)
            }
            b'\n' => Some(Event::LineEnd),
            _ => Some(Event::Byte(byte)),
        }
    }

    fn on_command(&mut self, byte: u8) -> Option<Event> {
        if byte == IAC {
            return Some(Event::Byte(IAC));
        }
        self.spoke_telnet = true;
        match byte {
            WILL => self.state = DecoderState::Option(Some(DONT)),
            DO => self.state = DecoderState::Option(Some(WONT)),
            // All options are off already: nothing changes, and nothing is answered (RFC 1143).
            WONT | DONT => self.state = DecoderState::Option(None),
            SUBNEGOTIATION => self.state = DecoderState::Inside,
            END_OF_FILE => return Some(Event::EndOfInput),
            ARE_YOU_THERE => return Some(Event::AreYouThere),
            ERASE_CHARACTER => return Some(Event::EraseCharacter),
            ERASE_LINE | BREAK | INTERRUPT_PROCESS => return Some(Event::EraseLine),
            _ => {}
        }
        None
    }

    /// Any command but IAC SE and IAC IAC means that the end was lost: the subnegotiation is dropped, the command kept.
    fn on_command_inside(&mut self, byte: u8) -> Option<Event> {
        match byte {
            IAC => self.state = DecoderState::Inside,
            SUBNEGOTIATION_END => {}
            _ => return self.on_command(byte),
        }
        None
    }

    fn refuse(&mut self, answer: Option<u8>, option: u8) {
        if let (Some(verb), Some(left)) = (answer, self.answers_left.checked_sub(1)) {
            self.answers_left = left;
            self.transmit.extend_from_slice(&[IAC, verb, option]);
        }
    }
}

/// Sent to a client now and then. Clients ignore it, but it detects a vanished client.
pub(super) const NO_OPERATION: [u8; 2] = [IAC, 241];

/// "Interpret as command": begins every telnet command.
const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const SUBNEGOTIATION: u8 = 250;
const ERASE_LINE: u8 = 248;
const ERASE_CHARACTER: u8 = 247;
const ARE_YOU_THERE: u8 = 246;
const INTERRUPT_PROCESS: u8 = 244;
const BREAK: u8 = 243;
const SUBNEGOTIATION_END: u8 = 240;
const END_OF_FILE: u8 = 236;

/// A client that asks more than this is not negotiating, and is no longer answered.
const ANSWERS_MAX: u32 = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::tests::random::Random;

    fn decode(codec: &mut Codec, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        codec.handle_bytes(bytes, &mut events);
        events
    }

    fn transmit(codec: &mut Codec) -> Vec<u8> {
        let mut out = Vec::new();
        codec.poll_transmit(&mut out);
        out
    }

    /// Half of the things that a client may send, in one stream.
    const MIXED: &[u8] = b"a\r\nb\r\0c\nd\re\xff\xffg\xff\xfa\x1f\x00\x84\x00\x18\xff\xf0h\xff\xfd\x01\xff\xf4i";

    #[test]
    fn every_line_end_is_one_line_end() {
        let events = decode(&mut Codec::new(), b"\r\n\r\0\n\r\r\n");
        assert_eq!(events, [Event::LineEnd; 5]);
    }

    #[test]
    fn commands_cut_at_any_byte_decode_alike() {
        let whole = decode(&mut Codec::new(), MIXED);
        assert!(whole.contains(&Event::EraseLine) && whole.contains(&Event::Byte(IAC)));
        for cut in 0..=MIXED.len() {
            let mut codec = Codec::new();
            let mut events = decode(&mut codec, &MIXED[..cut]);
            events.extend(decode(&mut codec, &MIXED[cut..]));
            assert_eq!(events, whole, "cut at {cut}");
        }
    }

    #[test]
    fn plain_text_passes_unchanged_and_is_not_telnet() {
        let mut codec = Codec::new();
        let text = "zoë says «hi»".as_bytes();
        let bytes: Vec<Event> = text.iter().map(|&byte| Event::Byte(byte)).collect();
        assert_eq!(decode(&mut codec, text), bytes);
        assert!(!codec.spoke_telnet() && transmit(&mut codec).is_empty());
    }

    #[test]
    fn every_option_is_refused_and_a_refusal_is_not_answered() {
        let mut codec = Codec::new();
        decode(&mut codec, b"\xff\xfd\x01\xff\xfb\x1f\xff\xfe\x01\xff\xfc\x1f");
        assert_eq!(transmit(&mut codec), b"\xff\xfc\x01\xff\xfe\x1f");
        assert!(codec.spoke_telnet());
    }

    #[test]
    fn a_subnegotiation_without_end_gives_way_to_the_next_command() {
        let mut codec = Codec::new();
        assert_eq!(
            decode(&mut codec, b"\xff\xfa\x1fabc\xff\xffd\xff\xf7e"),
            [Event::EraseCharacter, Event::Byte(b'e')]
        );
    }

    #[test]
    fn answers_are_bounded_for_any_request() {
        for seed in 0..50 {
            let mut codec = Codec::new();
            let mut random = Random::new(seed);
            for _ in 0..100 {
                decode(&mut codec, &random.telnet_bytes(200));
            }
            decode(&mut codec, &b"\xff\xfd\x01".repeat(2_000));
            assert!(transmit(&mut codec).len() <= 3 * ANSWERS_MAX as usize, "seed {seed}");
        }
    }
}
