//! A field's name as each language has it.

/// `packets_lost` as `packetsLost`.
pub fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| all + &capital(word))
}

/// `packets_lost` as `PacketsLost`.
pub fn pascal(name: &str) -> String {
    name.split('_').map(capital).collect()
}

/// `packets_lost` as `PACKETS_LOST`.
pub fn screaming(name: &str) -> String {
    name.to_uppercase()
}

/// As [`pascal`], with abbreviations in capitals, as Go has them.
pub fn go(name: &str) -> String {
    let word = |word: &str| match word {
        "ip" | "id" | "rtt" | "tls" | "dtls" => word.to_uppercase(),
        other => capital(other),
    };
    name.split('_').map(word).collect()
}

fn capital(word: &str) -> String {
    // Proper names with a capital inside.
    match word {
        "websocket" => return "WebSocket".into(),
        "websockets" => return "WebSockets".into(),
        "webtransport" => return "WebTransport".into(),
        _ => {}
    }
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_follows_the_conventions_of_each_language() {
        assert_eq!(
            (camel("ip_bytes"), pascal("ip_bytes"), go("ip_bytes")),
            ("ipBytes".into(), "IpBytes".into(), "IPBytes".into())
        );
        assert_eq!(screaming("ip_bytes"), "IP_BYTES");
    }
}
