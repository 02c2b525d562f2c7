//! Transports in programs of their own, as flags name them.

use std::fmt;
use std::str::FromStr;

use strum::VariantArray;

use super::contender::SimulatedTransport;
use crate::units::transport_name::Named;

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
            return Err(format!("the name \"{name}\" has to be of letters, digits and hyphens"));
        }
        if SimulatedTransport::VARIANTS.iter().any(|transport| transport.name() == name) {
            return Err(format!("{name} is a transport of the tool: give the program another name"));
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

/// Each has a name of its own.
pub(crate) fn check_names(all: &[ExternalTransport]) -> Result<(), String> {
    let mut names: Vec<&str> = all.iter().map(|transport| transport.name.as_str()).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map_or(Ok(()), |pair| Err(format!("--external {}: two programs have that name", pair[0])))
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
        for bad in ["kcp", "=x", "a b=x", "a.b=x", "a=", "kcp=x", "enet=x", "external=x"] {
            assert!(bad.parse::<ExternalTransport>().is_err(), "{bad}");
        }
    }

    #[test]
    fn two_programs_of_one_name_are_refused() {
        let [one, other, again] = ["a=x", "b=x", "a=y"].map(|text| text.parse::<ExternalTransport>().unwrap());
        assert_eq!(check_names(&[one.clone(), other.clone()]), Ok(()));
        assert!(check_names(&[one, other, again]).unwrap_err().contains("--external a:"));
    }
}
