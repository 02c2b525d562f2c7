//! The signed JSON of a ticket.

use super::error::{IssueError, TicketError};
use super::ticket::{Ticket, is_player};
use super::time::UnixTime;
use crate::directory::{Epoch, NodeName, RoomName};
use serde_json::{Value, json};

/// A ticket, with its number and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claims {
    pub(super) ticket: Ticket,
    /// Of all tickets, this one has it.
    pub(super) id: u128,
    pub(super) issued_at: UnixTime,
    pub(super) expires_at: UnixTime,
}

impl Claims {
    pub(super) fn new(ticket: &Ticket, id: u128, now: UnixTime) -> Claims {
        Claims { ticket: ticket.clone(), id, issued_at: now, expires_at: UnixTime(now.0 + LIFE_SECONDS) }
    }

    pub(super) fn encode(&self) -> Result<String, IssueError> {
        let issued = self.issued_at.encode().ok_or(IssueError::Clock)?;
        let value = json!({
            "sub": self.ticket.player,
            "aud": self.ticket.node.as_str(),
            "room": self.ticket.room.as_str(),
            "epoch": self.ticket.epoch.0,
            "jti": format!("{:032x}", self.id),
            "iat": issued,
            "nbf": issued,
            "exp": self.expires_at.encode().ok_or(IssueError::Clock)?,
        });
        Ok(value.to_string())
    }

    /// What a key has signed: issuers of other programs may have made mistakes.
    pub(super) fn decode(json: &str) -> Result<Claims, TicketError> {
        let value: Value = serde_json::from_str(json).map_err(|_| TicketError::Malformed("it contains no JSON"))?;
        let claims = read(&value).ok_or(TicketError::Malformed("a claim is missing or invalid"))?;
        let life = claims.expires_at.0.checked_sub(claims.issued_at.0);
        match life {
            Some(0..=LIFE_SECONDS) => Ok(claims),
            _ => Err(TicketError::Malformed("it is valid for longer than 30 s")),
        }
    }

    /// Judges the time, by a clock that may differ a little from the issuer's.
    pub(super) fn check_time(&self, now: UnixTime) -> Result<(), TicketError> {
        let (from, until) = (self.issued_at.0, self.expires_at.0);
        if now.0 + CLOCKS_DIFFER_SECONDS < from {
            return Err(TicketError::NotYetValid(from - now.0));
        }
        match now.0 > until + CLOCKS_DIFFER_SECONDS {
            true => Err(TicketError::Expired(now.0 - until)),
            false => Ok(()),
        }
    }

    /// From when on no node of the fleet admits it.
    pub(super) fn over_at(&self) -> UnixTime {
        UnixTime(self.expires_at.0 + CLOCKS_DIFFER_SECONDS + 1)
    }
}

fn read(value: &Value) -> Option<Claims> {
    let text = |name: &str| value[name].as_str();
    let time = |name: &str| UnixTime::decode(text(name)?);
    let player = text("sub").filter(|player| is_player(player))?;
    let issued_at = time("iat")?;
    Some(Claims {
        ticket: Ticket {
            player: player.into(),
            room: RoomName::new(text("room")?).ok()?,
            node: NodeName::new(text("aud")?).ok()?,
            epoch: Epoch(value["epoch"].as_u64()?),
        },
        id: u128::from_str_radix(text("jti").filter(|id| id.len() == 32)?, 16).ok()?,
        issued_at: time("nbf")?.max(issued_at),
        expires_at: time("exp")?,
    })
}

/// How long a ticket is valid: a player connects at once.
const LIFE_SECONDS: u64 = 30;
/// How far clocks of machines with NTP may differ, generously.
const CLOCKS_DIFFER_SECONDS: u64 = 5;
