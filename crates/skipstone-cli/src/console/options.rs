//! Which telnet options are on (RFC 855), after RFC 1143's rule that only news is answered, so that no two ends can
//! talk each other into a loop: ECHO (RFC 857), SUPPRESS-GO-AHEAD (RFC 858), NAWS (RFC 1073). All others are refused.

use crate::console::codec::Event;

/// The four ways to talk about an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// The client does something from now on, or would like to.
    Will,
    /// The client does not.
    Wont,
    /// The client wants us to do something.
    Do,
    /// The client wants us not to.
    Dont,
}

/// The options of one session, on our side and on the client's.
#[derive(Debug)]
pub(super) struct Options {
    echo: State,
    go_ahead: State,
    client_go_ahead: State,
    client_size: State,
    answers_left: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Off,
    /// We asked; the next word about it is the answer, and is not answered.
    Offered,
    On,
}

impl Options {
    /// All off.
    pub(super) const fn new() -> Options {
        Options {
            echo: State::Off,
            go_ahead: State::Off,
            client_go_ahead: State::Off,
            client_size: State::Off,
            answers_left: ANSWERS_MAX,
        }
    }

    /// Offers to echo what is typed: the question that tells a telnet client from a plain one.
    pub(super) fn offer_echo(&mut self, out: &mut Vec<u8>) {
        offer(&mut self.echo, [IAC, WILL, ECHO], out);
    }

    /// Offers the rest of character mode, to a client that is known to speak telnet.
    pub(super) fn offer_rest(&mut self, out: &mut Vec<u8>) {
        offer(&mut self.go_ahead, [IAC, WILL, SUPPRESS_GO_AHEAD], out);
        offer(&mut self.client_go_ahead, [IAC, DO, SUPPRESS_GO_AHEAD], out);
        offer(&mut self.client_size, [IAC, DO, NAWS], out);
    }

    /// Takes what the client says of `option`; answers into `out` what needs an answer.
    pub(super) fn handle(&mut self, verb: Verb, option: u8, out: &mut Vec<u8>) -> Option<Event> {
        let wanted = matches!(verb, Verb::Will | Verb::Do);
        let (yes, no) = match verb {
            Verb::Do | Verb::Dont => (WILL, WONT),
            Verb::Will | Verb::Wont => (DO, DONT),
        };
        let Some(state) = self.state(verb, option) else {
            if wanted {
                self.answer([IAC, no, option], out);
            }
            return None;
        };
        let before = *state;
        let after = if wanted { State::On } else { State::Off };
        *state = after;
        match (before, after) {
            (State::Off, State::On) => self.answer([IAC, yes, option], out),
            (State::On, State::Off) => self.answer([IAC, no, option], out),
            _ => {}
        }
        let ours = matches!(verb, Verb::Do | Verb::Dont);
        match (before != after && ours && option == ECHO, wanted) {
            (false, _) => None,
            (true, true) => Some(Event::EchoAgreed),
            (true, false) => Some(Event::EchoRefused),
        }
    }

    fn state(&mut self, verb: Verb, option: u8) -> Option<&mut State> {
        match (verb, option) {
            (Verb::Do | Verb::Dont, ECHO) => Some(&mut self.echo),
            (Verb::Do | Verb::Dont, SUPPRESS_GO_AHEAD) => Some(&mut self.go_ahead),
            (Verb::Will | Verb::Wont, SUPPRESS_GO_AHEAD) => Some(&mut self.client_go_ahead),
            (Verb::Will | Verb::Wont, NAWS) => Some(&mut self.client_size),
            _ => None,
        }
    }

    fn answer(&mut self, command: [u8; 3], out: &mut Vec<u8>) {
        let Some(left) = self.answers_left.checked_sub(1) else {
            return;
        };
        self.answers_left = left;
        out.extend_from_slice(&command);
    }
}

fn offer(state: &mut State, command: [u8; 3], out: &mut Vec<u8>) {
    if *state == State::Off {
        *state = State::Offered;
        out.extend_from_slice(&command);
    }
}

/// "Interpret as command": begins every telnet command.
pub(super) const IAC: u8 = 255;
pub(super) const DONT: u8 = 254;
pub(super) const DO: u8 = 253;
pub(super) const WONT: u8 = 252;
pub(super) const WILL: u8 = 251;
/// Option: who echoes what is typed.
pub(super) const ECHO: u8 = 1;
/// Option: no half-duplex turns. Together with ECHO, clients send each key at once.
pub(super) const SUPPRESS_GO_AHEAD: u8 = 3;
/// Option: the client tells the size of its window.
pub(super) const NAWS: u8 = 31;

/// A client that asks more than this is not negotiating, and is no longer answered.
const ANSWERS_MAX: u32 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(options: &mut Options, verb: Verb, option: u8) -> (Option<Event>, Vec<u8>) {
        let mut out = Vec::new();
        let event = options.handle(verb, option, &mut out);
        (event, out)
    }

    #[test]
    fn unknown_options_are_refused_and_refusals_of_them_are_not_answered() {
        let mut options = Options::new();
        assert_eq!(handle(&mut options, Verb::Do, 99), (None, vec![IAC, WONT, 99]));
        assert_eq!(handle(&mut options, Verb::Will, 24), (None, vec![IAC, DONT, 24]));
        assert_eq!(handle(&mut options, Verb::Dont, 99), (None, vec![]));
        assert_eq!(handle(&mut options, Verb::Wont, 24), (None, vec![]));
    }

    #[test]
    fn an_answer_to_an_offer_is_not_answered() {
        let mut options = Options::new();
        let mut out = Vec::new();
        options.offer_echo(&mut out);
        options.offer_echo(&mut out);
        assert_eq!(out, [IAC, WILL, ECHO]);
        assert_eq!(handle(&mut options, Verb::Do, ECHO), (Some(Event::EchoAgreed), vec![]));
        assert_eq!(handle(&mut options, Verb::Do, ECHO), (None, vec![]));
    }

    #[test]
    fn a_client_may_ask_first_and_may_change_its_mind() {
        let mut options = Options::new();
        let agreed = (Some(Event::EchoAgreed), vec![IAC, WILL, ECHO]);
        let refused = (Some(Event::EchoRefused), vec![IAC, WONT, ECHO]);
        assert_eq!(handle(&mut options, Verb::Do, ECHO), agreed);
        assert_eq!(handle(&mut options, Verb::Dont, ECHO), refused);
        assert_eq!(handle(&mut options, Verb::Will, NAWS), (None, vec![IAC, DO, NAWS]));
    }

    #[test]
    fn a_client_that_answers_refusals_with_requests_is_no_longer_answered_in_the_end() {
        let mut options = Options::new();
        let mut out = Vec::new();
        for _ in 0..10 * ANSWERS_MAX {
            options.handle(Verb::Do, 99, &mut out);
        }
        assert_eq!(out.len(), 3 * ANSWERS_MAX as usize);
    }
}
