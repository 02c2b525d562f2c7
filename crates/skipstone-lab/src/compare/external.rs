//! External transports, as named by flags.

use std::fmt;
use std::str::FromStr;

/// A transport by its name and the command that runs it: `NAME=COMMAND`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ExternalTransport {
    pub(crate) name: String,
    /// The program and its first arguments.
    pub(crate) words: Vec<String>,
}

impl FromStr for ExternalTransport {
    type Err = String;

    fn from_str(text: &str) -> Result<ExternalTransport, String> {
        let (name, command) = text.split_once('=').ok_or("it is NAME=COMMAND, as in enet-c=./enet-echo")?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(format!("the name \"{name}\" may have only letters, digits and hyphens"));
        }
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(format!("{name} has no command"));
        }
        Ok(ExternalTransport { name: name.to_owned(), words })
    }
}

impl fmt::Display for ExternalTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_has_a_plain_name_and_a_command() {
        let good: ExternalTransport = "kcp-go=./kcp --fast".parse().unwrap();
        assert_eq!(
            (good.name.as_str(), good.words.len(), good.to_string().as_str()),
            ("kcp-go", 2, "kcp-go=./kcp --fast")
        );
        for bad in ["kcp", "=x", "a b=x", "a.b=x", "a="] {
            assert!(bad.parse::<ExternalTransport>().is_err(), "{bad}");
        }
    }
}
