//! `--server NAME=COMMAND`: an external server in any language.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::transport::BenchTransport;
use crate::units::Named;

/// A server by the command that starts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct ServerCommand {
    /// As rows and thresholds have it.
    pub(crate) name: String,
    /// The command line for a shell, which appends the task's arguments and becomes the command.
    pub(crate) command: String,
}

impl FromStr for ServerCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<ServerCommand, String> {
        let (name, command) = text.split_once('=').unwrap_or((text, ""));
        let is_word = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        if !is_word || command.trim().is_empty() {
            return Err("a server is a name of letters, digits and dashes, and a command: c=./bench_server".into());
        }
        if BenchTransport::of_name(name).is_ok() {
            return Err(format!("{name} is the name of a transport: give the server another name"));
        }
        Ok(ServerCommand { name: name.into(), command: command.trim().into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_its_own_name_and_a_command() {
        let server: ServerCommand = "mono-6=env A=b mono x.exe".parse().unwrap();
        assert_eq!((server.name.as_str(), server.command.as_str()), ("mono-6", "env A=b mono x.exe"));
        for bad in ["", "c", "c=", "c= ", "=x", "6=x", "a.b=x", "a b=x", "skipstone=x"] {
            assert!(bad.parse::<ServerCommand>().is_err(), "{bad}");
        }
    }
}
