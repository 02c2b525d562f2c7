//! TCP: a stream of bytes, lines, or messages after their length.

use super::lifecycle::Lifecycle;
use super::limits::Limits;
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Delivery, Event, Outgoing, Protocol, ProtocolFigures, QUEUE_BYTES_MAX, STREAM_CHUNK, SendRefused, SocketEnd,
};
use crate::target::{BotTarget, TargetError};
use skipstone_proto::Time;
use std::collections::VecDeque;

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "tcp",
    carrier: Carrier::Stream,
    about: "TCP: lines, messages after their length, or any bytes",
    options: &[
        ("frame", "raw (default): a message is whatever arrives at once; lines; length: a length before each message"),
        ("bytes", "with frame=length: bytes of the length, 1, 2 or 4 (default)"),
        ("order", "with frame=length: big (default) or little"),
        ("max", "with frame=lines or length: longest message that the server may send (default 1048576)"),
    ],
    new: Tcp::create,
};

/// A client over TCP.
#[derive(Debug)]
struct Tcp {
    lifecycle: Lifecycle,
    framing: Framing,
    message_max: usize,
    inbox: Vec<u8>,
    /// Bytes of `inbox` that contain no line's end.
    scanned: usize,
    outgoing: VecDeque<u8>,
}

/// How messages are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Raw,
    Lines,
    Length { bytes: usize, is_little: bool },
}

impl Framing {
    fn of(target: &BotTarget) -> Result<Self, TargetError> {
        match target.option("frame", "raw") {
            "raw" => Ok(Framing::Raw),
            "lines" => Ok(Framing::Lines),
            "length" => {
                let bytes = target.number("bytes", 4, 1..=4)? as usize;
                let is_little = match target.option("order", "big") {
                    "big" => false,
                    "little" => true,
                    _ => return Err(target.bad_option("order", "big or little is needed")),
                };
                if bytes == 3 {
                    return Err(target.bad_option("bytes", "1, 2 or 4 is needed"));
                }
                Ok(Framing::Length { bytes, is_little })
            }
            _ => Err(target.bad_option("frame", "raw, lines or length is needed")),
        }
    }

    /// Options that would change nothing.
    fn unread_options(self) -> &'static [&'static str] {
        match self {
            Framing::Raw => &["max", "bytes", "order"],
            Framing::Lines => &["bytes", "order"],
            Framing::Length { .. } => &[],
        }
    }

    /// The longest message that it can carry.
    fn most(self) -> usize {
        match self {
            Framing::Length { bytes, .. } if bytes < 4 => (1 << (8 * bytes)) - 1,
            _ => QUEUE_BYTES_MAX,
        }
    }
}

impl Tcp {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        Ok(Box::new(Tcp::new(opening.target)?))
    }

    fn new(target: &BotTarget) -> Result<Self, TargetError> {
        let framing = Framing::of(target)?;
        if let Some(name) = framing.unread_options().iter().find(|name| target.options.contains_key(**name)) {
            return Err(target.bad_option(name, "it belongs to another frame: leave it out, or choose that frame"));
        }
        Ok(Tcp {
            lifecycle: Lifecycle::default(),
            framing,
            message_max: target.number("max", 1 << 20, 1..=1 << 30)? as usize,
            inbox: Vec::new(),
            scanned: 0,
            outgoing: VecDeque::new(),
        })
    }

    /// Takes whole messages out of what has arrived.
    fn cut(&mut self) {
        let mut from = 0;
        while let Some((message, next)) = self.next_message(from) {
            let message = &self.inbox[message];
            if message.len() > self.message_max && self.framing != Framing::Raw {
                break;
            }
            self.lifecycle.message(0, message.to_vec());
            from = next;
            self.scanned = next;
        }
        self.inbox.drain(..from);
        // What is left of lines has no end yet.
        self.scanned = self.inbox.len();
        // Without an end in sight, or with a length that is too long.
        if self.waiting_for() > self.message_max {
            self.inbox = Vec::new();
            let max = self.message_max;
            self.lifecycle
                .end(Cause::Malformed, format!("a message of more than {max} bytes: is the framing another?"));
        }
    }

    /// Where the first message from there is, and where the next begins.
    fn next_message(&self, from: usize) -> Option<(std::ops::Range<usize>, usize)> {
        let rest = &self.inbox[from..];
        match self.framing {
            Framing::Raw => (!rest.is_empty()).then_some((from..self.inbox.len(), self.inbox.len())),
            Framing::Lines => {
                let scanned = self.scanned.max(from) - from;
                let end = scanned + rest[scanned..].iter().position(|byte| *byte == b'\n')?;
                let length = if rest[..end].ends_with(b"\r") { end - 1 } else { end };
                Some((from..from + length, from + end + 1))
            }
            Framing::Length { bytes, .. } => {
                let length = self.length_at(from)?;
                let begin = from + bytes;
                (self.inbox.len() - begin >= length).then(|| (begin..begin + length, begin + length))
            }
        }
    }

    fn length_at(&self, from: usize) -> Option<usize> {
        let Framing::Length { bytes, is_little } = self.framing else { return None };
        let digits = self.inbox.get(from..from + bytes)?;
        let add = |sum: usize, digit: &u8| sum << 8 | usize::from(*digit);
        Some(if is_little { digits.iter().rev().fold(0, add) } else { digits.iter().fold(0, add) })
    }

    /// How long the message will be that has not arrived whole, as far as that is known.
    fn waiting_for(&self) -> usize {
        match self.framing {
            Framing::Length { .. } => self.length_at(0).unwrap_or(0),
            // The end may begin with a carriage return.
            _ => self.inbox.strip_suffix(b"\r").unwrap_or(&self.inbox).len(),
        }
    }
}

impl Protocol for Tcp {
    fn handle_open(&mut self, _now: Time) {
        self.lifecycle.open();
    }

    fn handle_receive(&mut self, _now: Time, bytes: &[u8]) {
        if !self.lifecycle.is_open() {
            return;
        }
        self.inbox.extend_from_slice(bytes);
        self.cut();
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        let count = self.outgoing.len().min(STREAM_CHUNK);
        out.extend(self.outgoing.drain(..count));
        count > 0
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn is_connecting(&self) -> bool {
        self.lifecycle.is_connecting()
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        let size = message.data.len();
        let limits = Limits {
            is_open: self.lifecycle.is_open(),
            channel_max: 0,
            delivery: Some(Delivery::ReliableOrdered),
            message_bytes_max: self.framing.most(),
            queued: self.outgoing.len(),
        };
        limits.check(&message)?;
        match self.framing {
            Framing::Raw => {}
            Framing::Lines if message.data.contains(&b'\n') => {
                return Err(SendRefused::Unwritable("a line contains no line feed; send one line at a time"));
            }
            Framing::Lines => {
                self.outgoing.extend(message.data);
                self.outgoing.push_back(b'\n');
                return Ok(());
            }
            Framing::Length { bytes, is_little: true } => {
                self.outgoing.extend(&(size as u64).to_le_bytes()[..bytes]);
            }
            Framing::Length { bytes, is_little: false } => {
                self.outgoing.extend(&(size as u64).to_be_bytes()[8 - bytes..]);
            }
        }
        self.outgoing.extend(message.data);
        Ok(())
    }

    fn close(&mut self, _now: Time) {
        self.lifecycle.end(Cause::Closed, "closed by the bot");
    }

    fn figures(&self) -> ProtocolFigures {
        ProtocolFigures::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated;
    use super::*;

    fn client(options: &str) -> Box<dyn Protocol> {
        let mut client = simulated::client(&ROW, &format!("tcp://h:1?{options}"), 1);
        client.handle_open(Time::ZERO);
        assert_eq!(client.poll_event(), Some(Event::Connected));
        client
    }

    fn sent(client: &mut dyn Protocol, messages: &[&[u8]]) -> Vec<u8> {
        for data in messages {
            client.send(Time::ZERO, Outgoing { channel: 0, delivery: None, data }).expect("accepted");
        }
        let mut out = Vec::new();
        while client.poll_transmit(Time::ZERO, &mut out) {}
        out
    }

    fn messages(client: &mut dyn Protocol) -> Vec<Vec<u8>> {
        let next = || match client.poll_event()? {
            Event::Message { data, .. } => Some(data.to_vec()),
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn messages_come_out_as_they_went_in_however_the_stream_is_cut() {
        let texts: [&[u8]; 4] = [b"one", b"", b"a longer message", b"end"];
        for options in ["frame=lines", "frame=length", "frame=length&bytes=1", "frame=length&bytes=2&order=little"] {
            let stream = sent(&mut *client(options), &texts);
            for size in [1, 2, 5, stream.len()] {
                let mut receiver = client(options);
                let mut got = Vec::new();
                for part in stream.chunks(size) {
                    receiver.handle_receive(Time::ZERO, part);
                    got.extend(messages(&mut *receiver));
                }
                assert_eq!(got, texts, "{options} by {size}");
            }
        }
        assert_eq!(sent(&mut *client("frame=length&bytes=2&order=little"), &[b"ab"]), b"\x02\0ab");
        assert_eq!(sent(&mut *client("frame=length"), &[b"ab"]), b"\0\0\0\x02ab");
        assert_eq!(sent(&mut *client("frame=raw"), &[b"ab", b"c"]), b"abc");
    }

    #[test]
    fn a_message_that_is_too_long_ends_the_connection() {
        for (options, bytes) in [("frame=length&max=9", &b"\0\0\0\x0a"[..]), ("frame=lines&max=9", b"0123456789")] {
            let mut client = client(options);
            client.handle_receive(Time::ZERO, bytes);
            let Some(Event::Closed(ending)) = client.poll_event() else { panic!("{options}") };
            assert!(ending.cause == Cause::Malformed && ending.text.contains("9 bytes"), "{ending:?}");
        }
    }

    #[test]
    fn any_bytes_are_a_message_of_any_length_and_a_line_may_have_the_longest() {
        let mut raw = client("frame=raw");
        let long = vec![7; (1 << 20) + 1];
        raw.handle_receive(Time::ZERO, &long);
        assert!(messages(&mut *raw) == [long]);
        for end in ["\n", "\r\n"] {
            let mut lines = client("frame=lines&max=9");
            let line = format!("012345678{end}");
            for at in 0..line.len() {
                lines.handle_receive(Time::ZERO, &line.as_bytes()[at..=at]);
            }
            assert_eq!(messages(&mut *lines), [b"012345678"]);
        }
    }

    #[test]
    fn what_has_left_is_forgotten_while_more_waits() {
        let target = BotTarget::split("tcp://h:1").expect("a scheme").expect("an address");
        let mut client = Tcp::new(&target).expect("sound options");
        client.handle_open(Time::ZERO);
        let mut out = Vec::new();
        for _ in 0..200 {
            client.send(Time::ZERO, Outgoing { channel: 0, delivery: None, data: &[1; STREAM_CHUNK] }).expect("room");
            client.send(Time::ZERO, Outgoing { channel: 0, delivery: None, data: &[1; 1] }).expect("room");
            out.clear();
            assert!(client.poll_transmit(Time::ZERO, &mut out));
        }
        assert!(client.outgoing.capacity() < 2 * QUEUE_BYTES_MAX, "{} bytes", client.outgoing.capacity());
    }

    #[test]
    fn what_a_framing_cannot_carry_is_refused() {
        let refused = |options: &str, data: &[u8]| {
            client(options).send(Time::ZERO, Outgoing { channel: 0, delivery: None, data }).expect_err("refused")
        };
        assert!(matches!(refused("frame=lines", b"a\nb"), SendRefused::Unwritable(_)));
        assert_eq!(refused("frame=length&bytes=1", &[0; 256]), SendRefused::TooLong { size: 256, max: 255 });
        for options in
            ["frame=packets", "frame=length&bytes=3", "frame=length&order=middle", "max=9", "frame=lines&max=0"]
        {
            assert!(simulated::create(&ROW, &format!("tcp://h:1?{options}"), 1).is_err(), "{options}");
        }
    }
}
