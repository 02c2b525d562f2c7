//! Outgoing messages: framed, queued after waiting bytes, and passed to the kernel.

use std::io;

use tungstenite::error::Error;
use tungstenite::protocol::frame::coding::Data;

use super::super::frames::RAW_MESSAGE_BYTES_MAX;
use super::super::outgoing::{FRAME_HEAD_BYTES_MAX, Masks, Pipe, Written, hide, write_head};
use super::super::{MESSAGE_BYTES_MAX, WsSendError};
use super::{CONTROL_BYTES_MAX, Phase, WsConnection};
use crate::net::lengths;

impl WsConnection {
    /// Bytes in front of a message that [`send_now`](Self::send_now) may use.
    pub const ROOM_BYTES: usize = FRAME_HEAD_BYTES_MAX;

    /// Queues one binary message; [`flush`](Self::flush) sends it, together with all others queued by then.
    ///
    /// # Errors
    /// The connection is not open, the message has more than [`MESSAGE_BYTES_MAX`] bytes, or the bytes that wait to be
    /// written have reached their limit. The message is not queued then.
    pub fn send(&mut self, message: &[u8]) -> Result<(), WsSendError> {
        self.check_room_for(message.len())?;
        match self.phase {
            Phase::Raw(_) => self.outgoing.append_raw(message),
            _ => self.outgoing.append_message(Data::Binary, message, self.masks.as_mut().map(Masks::next)),
        }
        self.statistics.messages_out += 1;
        Ok(())
    }

    /// Sends one binary message after all waiting bytes: the bytes of `buffer` behind [`ROOM_BYTES`](Self::ROOM_BYTES),
    /// which are for the head of its frame. A client's bytes are masked in place. Bytes that the kernel does not accept
    /// wait.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    ///
    /// # Panics
    /// If `buffer` is shorter than the room.
    pub fn send_now(&mut self, buffer: &mut [u8]) -> Result<(), WsSendError> {
        let (room, message) = buffer.split_first_chunk_mut().expect("the caller leaves room");
        self.check_room_for(message.len())?;
        let from = if matches!(self.phase, Phase::Raw(_)) {
            let prefix = lengths::prefix(message.len());
            let from = room.len() - prefix.len();
            room[from..].copy_from_slice(&prefix);
            from
        } else {
            let mask = self.masks.as_mut().map(Masks::next);
            hide(message, mask);
            write_head(room, Data::Binary, message.len(), mask)
        };
        self.statistics.messages_out += 1;
        let written = self.outgoing.write_behind(&mut self.transport, &buffer[from..]);
        self.note_written(written);
        self.flush_frames();
        Ok(())
    }

    /// Whether a message of this length may be sent now.
    fn check_room_for(&self, length: usize) -> Result<(), WsSendError> {
        if !self.is_open() {
            return Err(WsSendError::NotOpen);
        }
        let is_raw = matches!(self.phase, Phase::Raw(_));
        if length > if is_raw { RAW_MESSAGE_BYTES_MAX } else { MESSAGE_BYTES_MAX } {
            return Err(WsSendError::TooLarge);
        }
        if self.unsent_bytes() + FRAME_HEAD_BYTES_MAX + length > self.options.high_water_bytes {
            return Err(WsSendError::Full);
        }
        Ok(())
    }

    /// Writes as much as the kernel takes. The rest goes at the next readiness event.
    pub fn flush(&mut self) {
        if matches!(self.phase, Phase::Connecting { .. } | Phase::Closed) {
            return;
        }
        self.write_outgoing();
        self.flush_frames();
        if let Phase::Draining { peer_may_send, is_shut: false } = self.phase
            && self.outgoing.len() == 0
        {
            self.phase = match self.transport.shut() {
                Ok(is_shut) if peer_may_send || !is_shut => Phase::Draining { peer_may_send, is_shut },
                _ => Phase::Closed,
            };
        }
    }

    fn write_outgoing(&mut self) {
        let written = self.outgoing.write_to(&mut self.transport);
        self.note_written(written);
    }

    /// Counts the written bytes. A stream that accepts no more bytes has ended.
    fn note_written(&mut self, written: io::Result<Written>) {
        match written.and_then(|written| self.transport.push().map(|()| written)) {
            Ok(written) => {
                self.statistics.bytes_out += written.bytes;
                self.statistics.writes += written.calls;
            }
            Err(_) => self.end_broken(),
        }
    }

    /// Lets tungstenite write the control frames that it holds.
    fn flush_frames(&mut self) {
        let Phase::Frames(frames) = &mut self.phase else {
            return;
        };
        if !self.may_hold_frames {
            return;
        }
        let before = self.outgoing.len();
        let mut pipe = Pipe {
            transport: &mut self.transport,
            outgoing: &mut self.outgoing,
            outgoing_bytes_max: self.options.high_water_bytes + CONTROL_BYTES_MAX,
            turn: &mut self.turn,
        };
        match frames.flush(&mut pipe) {
            Ok(()) => self.may_hold_frames = false,
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => self.on_frame_error(&error),
        }
        if self.outgoing.len() > before {
            self.write_outgoing();
        }
    }
}
