//! Which clients use which carrier: `udp=200,ws=100`; `udp` alone is all of them; `udp=200,ws` gives the other the
//! rest.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::{UnitError, read_by};

/// The carrier of a client's packets.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::VariantArray,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Carrier {
    /// The native protocol.
    #[default]
    Udp,
    /// WebSocket, as browsers have it.
    Ws,
    /// WebSocket over TLS.
    Wss,
    /// TCP without WebSocket.
    Tcp,
    /// The native protocol in DTLS sessions.
    Dtls,
    /// WebSocket from a page in a browser.
    Browser,
    /// WebTransport from a page in a browser.
    Wt,
}

/// How the clients are shared out; each carrier at most once, and at most one without a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    parts: Vec<(Carrier, Option<u32>)>,
}

impl Carrier {
    /// Whether its clients have a stream, in which TCP repairs losses.
    pub fn is_stream(self) -> bool {
        matches!(self, Self::Ws | Self::Wss | Self::Tcp | Self::Browser)
    }

    /// Whether its clients live in a page of a browser.
    pub fn is_page(self) -> bool {
        matches!(self, Self::Browser | Self::Wt)
    }
}

impl Mix {
    /// How many clients each carrier gets, in the order written. Without `clients`, the numbers of the mix define them.
    pub fn share_out(&self, clients: Option<u32>) -> Result<Vec<(Carrier, u32)>, UnitError> {
        let error = |cause: String| UnitError::new("a mix", &self.to_string(), cause, EXAMPLES);
        let named: u64 = self.parts.iter().map(|(_, count)| u64::from(count.unwrap_or(0))).sum();
        let open = self.parts.iter().find(|(_, count)| count.is_none());
        let clients = match (clients, open) {
            (Some(clients), _) => u64::from(clients),
            (None, None) => named,
            (None, Some((carrier, _))) => return Err(error(format!("it does not say how many use {carrier}"))),
        };
        let rest = match open {
            None if named != clients => {
                return Err(error(format!("its {named} clients are not the {clients} asked for")));
            }
            Some(_) if named > clients => {
                return Err(error(format!("its {named} clients are more than the {clients} asked for")));
            }
            _ => clients - named,
        };
        let rest = u32::try_from(rest).map_err(|_| error("it has too many clients".into()))?;
        Ok(self.parts.iter().map(|(carrier, count)| (*carrier, count.unwrap_or(rest))).collect())
    }
}

read_by!(parse => Mix, "a mix", EXAMPLES);

fn parse(text: &str) -> Result<Mix, String> {
    let mut parts: Vec<(Carrier, Option<u32>)> = Vec::new();
    for part in text.split(',') {
        let (name, count) = match part.split_once('=') {
            Some((name, count)) => (name.trim(), Some(parse_count(count.trim())?)),
            None => (part.trim(), None),
        };
        let Ok(carrier) = name.parse::<Carrier>() else {
            return Err(format!(
                "\"{name}\" is not a carrier; there are udp, dtls, ws, wss, tcp, and from browsers browser and wt"
            ));
        };
        if parts.iter().any(|(other, _)| *other == carrier) {
            return Err(format!("{carrier} is there twice"));
        }
        parts.push((carrier, count));
    }
    if parts.iter().filter(|(_, count)| count.is_none()).count() > 1 {
        return Err("only one carrier can take the rest".into());
    }
    Ok(Mix { parts })
}

fn parse_count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a number of clients"))
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = |(carrier, count): &(Carrier, Option<u32>)| match count {
            Some(count) => format!("{carrier}={count}"),
            None => carrier.to_string(),
        };
        f.write_str(&self.parts.iter().map(written).collect::<Vec<_>>().join(","))
    }
}

const EXAMPLES: &str = "udp=200,ws=100, or udp for all";

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(text: &str, clients: Option<u32>) -> Result<Vec<(Carrier, u32)>, String> {
        text.parse::<Mix>().unwrap().share_out(clients).map_err(|error| error.to_string())
    }

    #[test]
    fn mixes_round_trip_through_text() {
        for text in ["udp=200,ws=100", "udp", "ws=5", "ws,udp=3", "wss=1,tcp=2,dtls=3", "browser=4,wt=5"] {
            assert_eq!(text.parse::<Mix>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn shares_define_the_client_count_or_must_sum_to_it() {
        let both = vec![(Carrier::Udp, 200), (Carrier::Ws, 100)];
        assert_eq!(shared("udp=200,ws=100", None), Ok(both.clone()));
        assert_eq!(shared("udp=200,ws=100", Some(300)), Ok(both.clone()));
        assert_eq!(shared("udp=200,ws", Some(300)), Ok(both));
        assert_eq!(shared("ws", Some(7)), Ok(vec![(Carrier::Ws, 7)]));
        let error = shared("udp=200,ws=100", Some(250)).unwrap_err();
        assert!(error.contains("its 300 clients are not the 250 asked for"), "{error}");
        assert!(shared("udp=200,ws", Some(100)).unwrap_err().contains("more than the 100 asked for"));
        assert!(shared("udp", None).unwrap_err().contains("does not say how many use udp"));
    }

    #[test]
    fn errors_name_the_cause_and_show_the_format() {
        for (text, cause) in [
            (
                "quic=3",
                "\"quic\" is not a carrier; there are udp, dtls, ws, wss, tcp, and from browsers browser and wt",
            ),
            ("udp=x", "\"x\" is not a number of clients"),
            ("udp=1,udp=2", "udp is there twice"),
            ("udp,ws", "only one carrier can take the rest"),
            ("", "\"\" is not a carrier"),
        ] {
            let error = text.parse::<Mix>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example udp=200,ws=100"), "{error}");
        }
    }
}
