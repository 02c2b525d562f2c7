//! The fleet's keys: Ed25519, as PASERK texts. Nodes need the public ones alone, issuers a secret one.

use super::claims::Claims;
use super::error::{IssueError, KeyError, TicketError};
use super::ticket::Ticket;
use super::time::UnixTime;
use pasetors::keys::{AsymmetricKeyPair, AsymmetricPublicKey, AsymmetricSecretKey, Generate};
use pasetors::paserk::FormatAsPaserk;
use pasetors::token::UntrustedToken;
use pasetors::version4::{PublicToken, V4};
use pasetors::{Public, errors};

/// The keys of a file: all verify, the first secret one signs. Several are for the time in which one follows the other.
#[derive(Clone, Debug)]
pub struct FleetKeys {
    secret: Option<AsymmetricSecretKey<V4>>,
    public: Vec<AsymmetricPublicKey<V4>>,
}

/// What issues tickets.
#[derive(Clone, Debug)]
pub struct TicketSigner(AsymmetricSecretKey<V4>);

impl FleetKeys {
    /// The text of a new key: one line.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn generate() -> Result<String, KeyError> {
        let pair = AsymmetricKeyPair::<V4>::generate().map_err(|_| KeyError::Random)?;
        Ok(text(&pair.secret) + "\n")
    }

    /// Reads lines of keys. Empty ones and those that begin with `#` are passed over.
    ///
    /// # Errors
    /// A line is no key, or there are none, or more than 4.
    pub fn parse(text: &str) -> Result<FleetKeys, KeyError> {
        let mut keys = FleetKeys { secret: None, public: Vec::new() };
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                keys.add(line).map_err(|_| KeyError::Line(number))?;
            }
        }
        match keys.public.len() {
            0 => Err(KeyError::Empty),
            1..=KEYS_MAX => Ok(keys),
            count => Err(KeyError::TooMany(count)),
        }
    }

    fn add(&mut self, line: &str) -> Result<(), errors::Error> {
        let public = match line.starts_with("k4.secret.") {
            true => {
                let secret = AsymmetricSecretKey::try_from(line)?;
                let public = AsymmetricPublicKey::try_from(&secret)?;
                self.secret.get_or_insert(secret);
                public
            }
            false => AsymmetricPublicKey::try_from(line)?,
        };
        self.public.push(public);
        Ok(())
    }

    /// What issues tickets with these keys.
    ///
    /// # Errors
    /// There are public keys alone.
    pub fn signer(&self) -> Result<TicketSigner, KeyError> {
        self.secret.clone().map(TicketSigner).ok_or(KeyError::NoSecret)
    }

    /// The public keys, a line each: for nodes that only admit.
    pub fn public_lines(&self) -> String {
        self.public.iter().map(|key| text(key) + "\n").collect()
    }

    pub(super) fn has_secret(&self) -> bool {
        self.secret.is_some()
    }

    /// Checks the signature and reads the claims. Nothing of time, node and use is judged.
    pub(super) fn open(&self, token: &[u8]) -> Result<Claims, TicketError> {
        let is_short = token.len() <= TOKEN_BYTES_MAX;
        let text = std::str::from_utf8(token).ok().filter(|text| is_short && text.starts_with(PublicToken::HEADER));
        let text =
            text.ok_or(TicketError::Malformed("it does not begin with v4.public., or has more than 1,024 bytes"))?;
        let token = UntrustedToken::<Public, V4>::try_from(text);
        let token = token.map_err(|_| TicketError::Malformed("it is cut short or changed"))?;
        let mut opened = self.public.iter().filter_map(|key| PublicToken::verify(key, &token, None, None).ok());
        Claims::decode(opened.next().ok_or(TicketError::Forged)?.payload())
    }
}

impl TicketSigner {
    /// Issues a ticket that is valid for 30 s from now: at most 1,024 bytes of ASCII, the token of a connection.
    ///
    /// # Errors
    /// The player's name is too long, or the system gives no random numbers.
    pub fn issue(&self, ticket: &Ticket, now: UnixTime) -> Result<String, IssueError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| IssueError::Random(error.to_string()))?;
        self.issue_as(ticket, u128::from_ne_bytes(id), now)
    }

    /// As [`TicketSigner::issue`], with a number of the caller's that no other ticket has.
    ///
    /// # Errors
    /// The player's name is too long.
    pub fn issue_as(&self, ticket: &Ticket, id: u128, now: UnixTime) -> Result<String, IssueError> {
        ticket.check()?;
        Ok(self.sign(&Claims::new(ticket, id, now).encode()?))
    }

    pub(super) fn sign(&self, json: &str) -> String {
        let token = PublicToken::sign(&self.0, json.as_bytes(), None, None);
        let token = token.expect("the key was checked, and the claims are not empty");
        assert!(token.len() <= TOKEN_BYTES_MAX, "the names are bounded so that a ticket fits");
        token
    }
}

fn text(key: &impl FormatAsPaserk) -> String {
    let mut text = String::new();
    key.fmt(&mut text).expect("a text takes every text");
    text
}

/// Signatures that a forged ticket costs.
const KEYS_MAX: usize = 4;
/// What a connection's token may have.
const TOKEN_BYTES_MAX: usize = 1_024;
