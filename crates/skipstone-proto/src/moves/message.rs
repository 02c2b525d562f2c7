//! The messages of moves, in both directions (WIRE.md section 8.2).

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};
use crate::wire::frame::TOKEN_BYTES_MAX;

/// A move, as the server that began it has numbered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveId(pub u64);

/// A message on the channel of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveMessage<'a> {
    /// A client can be moved: its first message.
    Able,
    /// A server asks the client to connect to another one, with this token.
    Move {
        /// The move.
        id: MoveId,
        /// `HOST:PORT`, an IPv6 address in brackets; [`DESTINATION_BYTES_MAX`] at most.
        destination: &'a str,
        /// The token, up to 1,024 bytes.
        token: &'a [u8],
    },
    /// The server ends a move; the client answers with STAYED, or has sent LEFT already.
    Cancel(MoveId),
    /// The client is connected to the other server, and this one has acknowledged everything reliable. The client holds
    /// back more.
    Ready(MoveId),
    /// The client stays: the move has ended.
    Stayed(MoveId, Stayed),
    /// The other server has the player: the client may come.
    Welcome(MoveId),
    /// The client's first message to the other server once it has chosen it.
    Arrived(MoveId),
    /// The client's last message to the server that it leaves.
    Left(MoveId),
}

/// How far a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveStage {
    /// The client can be moved. Its first message, after [`Event::Connected`](crate::Event::Connected).
    Able,
    /// The client is connected to the other server, and every reliable message that it sent here was polled. It holds
    /// back more: hand its player over to the other server now, and send it nothing reliable from then on.
    Ready(MoveId),
    /// The client stays: the move has ended, and the player is this server's.
    Stayed(MoveId, Stayed),
    /// The client has chosen this server: from now on it is a player of this one.
    Arrived(MoveId),
    /// The client has chosen the other server: its player is that server's. Close the connection, with time for the last
    /// messages.
    Left(MoveId),
}

/// Why a client stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stayed {
    /// The server cancelled the move.
    Cancelled,
    /// The other server could not be reached, or refused the client.
    Refused,
    /// The other server did not welcome the client in time.
    Late,
    /// Another move of the client is under way.
    Busy,
    /// A reason that this version does not know.
    Other,
}

impl Stayed {
    const fn number(self) -> u8 {
        match self {
            Stayed::Cancelled => 0,
            Stayed::Refused => 1,
            Stayed::Late => 2,
            Stayed::Busy => 3,
            Stayed::Other => 255,
        }
    }

    const fn of(number: u8) -> Stayed {
        match number {
            0 => Stayed::Cancelled,
            1 => Stayed::Refused,
            2 => Stayed::Late,
            3 => Stayed::Busy,
            _ => Stayed::Other,
        }
    }
}

impl<'a> MoveMessage<'a> {
    /// The message's bytes.
    ///
    /// # Panics
    /// The destination or the token is too long.
    pub fn encode(&self) -> Vec<u8> {
        let mut buffer = [0; 1 + 8 + 2 + DESTINATION_BYTES_MAX + 2 + TOKEN_BYTES_MAX];
        let mut writer = Writer::new(&mut buffer);
        writer.u8(self.kind());
        match self {
            MoveMessage::Able => {}
            MoveMessage::Move { id, destination, token } => {
                assert!(destination.len() <= DESTINATION_BYTES_MAX && token.len() <= TOKEN_BYTES_MAX, "checked before");
                writer.u64(id.0);
                writer.prefixed(destination.as_bytes());
                writer.prefixed(token);
            }
            MoveMessage::Stayed(id, why) => {
                writer.u64(id.0);
                writer.u8(why.number());
            }
            MoveMessage::Cancel(id)
            | MoveMessage::Ready(id)
            | MoveMessage::Welcome(id)
            | MoveMessage::Arrived(id)
            | MoveMessage::Left(id) => writer.u64(id.0),
        }
        writer.written().to_vec()
    }

    /// Decodes a message; `None` for a kind that this version does not know.
    ///
    /// # Errors
    /// The message is cut short, or has more bytes than its kind.
    pub fn decode(encoded: &'a [u8]) -> Result<Option<Self>, Malformed> {
        let mut reader = Reader::new(encoded);
        let message = match reader.u8()? {
            0 => MoveMessage::Able,
            1 => MoveMessage::Move {
                id: MoveId(reader.u64()?),
                destination: reader.prefixed_str(DESTINATION_BYTES_MAX)?,
                token: reader.prefixed(TOKEN_BYTES_MAX)?,
            },
            2 => MoveMessage::Cancel(MoveId(reader.u64()?)),
            3 => MoveMessage::Ready(MoveId(reader.u64()?)),
            4 => MoveMessage::Stayed(MoveId(reader.u64()?), Stayed::of(reader.u8()?)),
            5 => MoveMessage::Welcome(MoveId(reader.u64()?)),
            6 => MoveMessage::Arrived(MoveId(reader.u64()?)),
            7 => MoveMessage::Left(MoveId(reader.u64()?)),
            _ => return Ok(None),
        };
        reader.end()?;
        Ok(Some(message))
    }

    /// What a client says by it; `None` for what servers say.
    pub const fn stage(&self) -> Option<MoveStage> {
        Some(match self {
            MoveMessage::Able => MoveStage::Able,
            MoveMessage::Ready(id) => MoveStage::Ready(*id),
            MoveMessage::Stayed(id, why) => MoveStage::Stayed(*id, *why),
            MoveMessage::Arrived(id) => MoveStage::Arrived(*id),
            MoveMessage::Left(id) => MoveStage::Left(*id),
            MoveMessage::Move { .. } | MoveMessage::Cancel(_) | MoveMessage::Welcome(_) => return None,
        })
    }

    const fn kind(&self) -> u8 {
        match self {
            MoveMessage::Able => 0,
            MoveMessage::Move { .. } => 1,
            MoveMessage::Cancel(_) => 2,
            MoveMessage::Ready(_) => 3,
            MoveMessage::Stayed(..) => 4,
            MoveMessage::Welcome(_) => 5,
            MoveMessage::Arrived(_) => 6,
            MoveMessage::Left(_) => 7,
        }
    }
}

/// Longest destination: a host name (RFC 1035) with brackets and a port.
pub const DESTINATION_BYTES_MAX: usize = 255 + 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_moves_round_trip_and_other_bytes_are_malformed() {
        let id = MoveId(0x0102_0304_0506_0708);
        let longest = ("a".repeat(DESTINATION_BYTES_MAX), [7; TOKEN_BYTES_MAX]);
        let messages = [
            MoveMessage::Able,
            MoveMessage::Move { id, destination: "eu2.example.org:7777", token: b"ticket" },
            MoveMessage::Move { id, destination: &longest.0, token: &longest.1 },
            MoveMessage::Cancel(id),
            MoveMessage::Ready(id),
            MoveMessage::Stayed(id, Stayed::Late),
            MoveMessage::Stayed(id, Stayed::Other),
            MoveMessage::Welcome(id),
            MoveMessage::Arrived(id),
            MoveMessage::Left(id),
        ];
        for message in messages {
            let encoded = message.encode();
            assert_eq!(MoveMessage::decode(&encoded), Ok(Some(message)));
            assert_eq!(MoveMessage::decode(&[&encoded[..], &[0]].concat()), Err(Malformed), "a byte too many");
            for end in 0..encoded.len() {
                assert!(MoveMessage::decode(&encoded[..end]).is_err(), "{message:?} of {end} bytes");
            }
        }
        assert_eq!(MoveMessage::decode(&[8, 1, 2]), Ok(None), "of a later version");
        let unknown = [&[4][..], &[0; 8], &[9]].concat();
        assert_eq!(MoveMessage::decode(&unknown), Ok(Some(MoveMessage::Stayed(MoveId(0), Stayed::Other))));
    }
}
