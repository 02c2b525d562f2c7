//! The telnet byte stream of one client (RFC 854), without I/O: received bytes in, events out, and the bytes to answer
//! with. A client that is no telnet at all passes through it unchanged. What the options mean is in `options`.
//!
//! ```text
//!          CR               IAC            WILL WONT DO DONT
//! AfterCr <──── Data ─────────────> Command ────────────────> Option ──> Data
//!    └──────────>│ ^ <── other ──────┘ │ SB         IAC
//!    (swallows   │ └─────── SE ──────┐ └──> Inside ─────> InsideCommand
//!    LF or NUL)                      └──────  ^ <── IAC IAC ────┘
//! ```

use crate::console::options::{DO, DONT, IAC, NAWS, Options, Verb, WILL, WONT};

/// What received bytes mean. At most one for each byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A byte that is no telnet command and ends no line.
    Byte(u8),
    /// CR LF, CR NUL, CR or LF.
    LineEnd,
    /// The client wants us to echo, and takes character mode.
    EchoAgreed,
    /// The client echoes itself.
    EchoRefused,
    /// The width of the client's window; never 0.
    Columns(u16),
    /// Interrupt process, or break.
    Interrupt,
    /// The client's user ends the input.
    EndOfInput,
    /// Erase the last character.
    EraseCharacter,
    /// Erase the line typed so far.
    EraseLine,
    /// "Are you there?": any visible answer will do.
    AreYouThere,
}

/// Decodes what a client sends, and negotiates.
#[derive(Debug)]
pub(super) struct Codec {
    state: State,
    options: Options,
    /// The option and data of the subnegotiation being received, `SUBNEGOTIATION_BYTES_MAX` + 1 bytes at most.
    subnegotiation: Vec<u8>,
    transmit: Vec<u8>,
    spoke_telnet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Data,
    AfterCr,
    Command,
    Option(Verb),
    Inside,
    InsideCommand,
}

impl Codec {
    /// A codec that has heard nothing yet.
    pub(super) const fn new() -> Codec {
        Codec {
            state: State::Data,
            options: Options::new(),
            subnegotiation: Vec::new(),
            transmit: Vec::new(),
            spoke_telnet: false,
        }
    }

    /// Takes received bytes, cut anywhere.
    pub(super) fn handle_bytes(&mut self, bytes: &[u8], events: &mut impl Extend<Event>) {
        events.extend(bytes.iter().filter_map(|&byte| self.handle_byte(byte)));
    }

    /// Offers to echo: a plain client ignores it, a telnet client answers.
    pub(super) fn offer_echo(&mut self) {
        self.options.offer_echo(&mut self.transmit);
    }

    /// Offers the other options of character mode.
    pub(super) fn offer_rest(&mut self) {
        self.options.offer_rest(&mut self.transmit);
    }

    /// Whether any telnet command was received.
    pub(super) const fn spoke_telnet(&self) -> bool {
        self.spoke_telnet
    }

    /// Moves what negotiation has to send to the end of `out`.
    pub(super) fn poll_transmit(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.transmit);
    }

    fn handle_byte(&mut self, byte: u8) -> Option<Event> {
        match self.state {
            State::Data => self.on_data(byte),
            State::AfterCr => {
                self.state = State::Data;
                match byte {
                    b'\n' | 0 => None,
                    _ => self.on_data(byte),
                }
            }
            State::Command => self.on_command(byte),
            State::Option(verb) => {
                self.state = State::Data;
                self.options.handle(verb, byte, &mut self.transmit)
            }
            State::Inside if byte == IAC => {
                self.state = State::InsideCommand;
                None
            }
            State::Inside => {
                self.on_subnegotiation_byte(byte);
                None
            }
            State::InsideCommand => self.on_command_inside(byte),
        }
    }

    fn on_data(&mut self, byte: u8) -> Option<Event> {
        match byte {
            IAC => {
                self.state = State::Command;
                None
            }
            b'\r' => {
                self.state = State::AfterCr;
                Some(Event::LineEnd)
            }
            b'\n' => Some(Event::LineEnd),
            _ => Some(Event::Byte(byte)),
        }
    }

    fn on_command(&mut self, byte: u8) -> Option<Event> {
        self.state = State::Data;
        if byte == IAC {
            return Some(Event::Byte(IAC));
        }
        self.spoke_telnet = true;
        match byte {
            WILL => self.state = State::Option(Verb::Will),
            WONT => self.state = State::Option(Verb::Wont),
            DO => self.state = State::Option(Verb::Do),
            DONT => self.state = State::Option(Verb::Dont),
            SUBNEGOTIATION => {
                self.subnegotiation.clear();
                self.state = State::Inside;
            }
            END_OF_FILE => return Some(Event::EndOfInput),
            BREAK | INTERRUPT_PROCESS => return Some(Event::Interrupt),
            ARE_YOU_THERE => return Some(Event::AreYouThere),
            ERASE_CHARACTER => return Some(Event::EraseCharacter),
            ERASE_LINE => return Some(Event::EraseLine),
            _ => {}
        }
        None
    }

    fn on_subnegotiation_byte(&mut self, byte: u8) {
        if self.subnegotiation.len() <= SUBNEGOTIATION_BYTES_MAX {
            self.subnegotiation.push(byte);
        }
    }

    /// Any command but IAC SE and IAC IAC means that the end was lost: the subnegotiation is dropped, the command kept.
    fn on_command_inside(&mut self, byte: u8) -> Option<Event> {
        match byte {
            IAC => {
                self.on_subnegotiation_byte(IAC);
                self.state = State::Inside;
                None
            }
            SUBNEGOTIATION_END => {
                self.state = State::Data;
                self.columns().map(Event::Columns)
            }
            _ => self.on_command(byte),
        }
    }

    /// RFC 1073: width and height, 16 bits each; a width of 0 means unknown. The height is of no use to us.
    fn columns(&self) -> Option<u16> {
        let [NAWS, high, low, _, _] = self.subnegotiation[..] else {
            return None;
        };
        Some(u16::from_be_bytes([high, low])).filter(|&columns| columns > 0)
    }
}

/// What a client is sent now and then, and ignores: it is how a vanished client is found out.
pub(super) const NO_OPERATION: [u8; 2] = [IAC, 241];

const END_OF_FILE: u8 = 236;
const SUBNEGOTIATION_END: u8 = 240;
const BREAK: u8 = 243;
const INTERRUPT_PROCESS: u8 = 244;
const ARE_YOU_THERE: u8 = 246;
const ERASE_CHARACTER: u8 = 247;
const ERASE_LINE: u8 = 248;
const SUBNEGOTIATION: u8 = 250;

/// NAWS, the only one we ask for, has 5 with its option; a longer one is cut here, and so fits no known one.
const SUBNEGOTIATION_BYTES_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::options::{ECHO, SUPPRESS_GO_AHEAD};
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

    /// Every second thing a client may send, in one stream.
    const MIXED: &[u8] = b"a\r\nb\r\0c\nd\re\xff\xffg\xff\xfa\x1f\x00\x84\x00\x18\xff\xf0h\xff\xfd\x01\xff\xf4i";

    #[test]
    fn every_line_end_is_one_line_end() {
        let events = decode(&mut Codec::new(), b"\r\n\r\0\n\r\r\n");
        assert_eq!(events, [Event::LineEnd; 5]);
    }

    #[test]
    fn commands_cut_at_any_byte_decode_alike() {
        let whole = decode(&mut Codec::new(), MIXED);
        assert!(whole.contains(&Event::Columns(0x84)) && whole.contains(&Event::Byte(IAC)));
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
        let text = "grüße 1 2".as_bytes();
        let bytes = text.iter().map(|&byte| Event::Byte(byte));
        assert_eq!(decode(&mut codec, text), bytes.collect::<Vec<_>>());
        assert!(!codec.spoke_telnet() && transmit(&mut codec).is_empty());
    }

    #[test]
    fn a_window_width_of_255_is_sent_doubled_and_understood() {
        let events = decode(&mut Codec::new(), b"\xff\xfa\x1f\x00\xff\xff\x00\x18\xff\xf0");
        assert_eq!(events, [Event::Columns(255)]);
    }

    #[test]
    fn an_unknown_width_or_a_wrong_length_is_ignored() {
        let mut codec = Codec::new();
        assert_eq!(decode(&mut codec, b"\xff\xfa\x1f\x00\x00\x00\x18\xff\xf0"), []);
        assert_eq!(decode(&mut codec, b"\xff\xfa\x1f\x00\x50\xff\xf0"), []);
        assert_eq!(decode(&mut codec, b"\xff\xfa\xff\xf0"), []);
    }

    #[test]
    fn an_endless_subnegotiation_takes_no_memory_and_ends_where_it_ends() {
        let mut codec = Codec::new();
        decode(&mut codec, b"\xff\xfa\x1f");
        assert_eq!(decode(&mut codec, &[7; 100_000]), []);
        assert!(codec.subnegotiation.len() <= SUBNEGOTIATION_BYTES_MAX + 1);
        assert_eq!(decode(&mut codec, b"\xff\xf0x"), [Event::Byte(b'x')]);
    }

    #[test]
    fn a_command_inside_a_subnegotiation_drops_it_and_counts() {
        let events = decode(&mut Codec::new(), b"\xff\xfa\x1f\x00\x50\xff\xf4x");
        assert_eq!(events, [Event::Interrupt, Event::Byte(b'x')]);
    }

    #[test]
    fn the_negotiation_of_the_linux_client_ends_in_character_mode_and_silence() {
        let mut codec = Codec::new();
        codec.offer_echo();
        assert_eq!(transmit(&mut codec), [IAC, WILL, ECHO]);
        assert_eq!(decode(&mut codec, &[IAC, DO, ECHO]), [Event::EchoAgreed]);
        codec.offer_rest();
        let rest = [IAC, WILL, SUPPRESS_GO_AHEAD, IAC, DO, SUPPRESS_GO_AHEAD, IAC, DO, NAWS];
        assert_eq!(transmit(&mut codec), rest);
        let answers = [IAC, DO, SUPPRESS_GO_AHEAD, IAC, WILL, SUPPRESS_GO_AHEAD, IAC, WILL, NAWS];
        assert_eq!(decode(&mut codec, &answers), []);
        assert!(transmit(&mut codec).is_empty());
    }

    #[test]
    fn random_bytes_neither_panic_nor_pile_up() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut codec = Codec::new();
            for _ in 0..50 {
                let bytes = random.telnet_bytes(200);
                let events = decode(&mut codec, &bytes);
                assert!(events.len() <= bytes.len(), "seed {seed}");
                assert!(transmit(&mut codec).len() <= bytes.len() * 3, "seed {seed}");
                assert!(codec.subnegotiation.len() <= SUBNEGOTIATION_BYTES_MAX + 1, "seed {seed}");
            }
        }
    }
}
