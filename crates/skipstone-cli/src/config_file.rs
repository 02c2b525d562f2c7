//! `serve --config FILE`: flags of the server in a file of TOML, by their names without dashes. They become words of the
//! command line, so that a flag means the same in both, and a restart reads the file again.

use clap::{Arg, ArgAction, Command};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The command line with the words of its file, if it names one. A flag that is in both counts as in the command line.
/// The error is one sentence with the remedy.
pub(crate) fn expanded(words: Vec<OsString>, tool: &Command) -> Result<Vec<OsString>, String> {
    let (Some(serve), Some(file)) = (tool.find_subcommand("serve"), named(&words)) else { return Ok(words) };
    let path = Path::new(&file);
    let because = |error: &dyn std::fmt::Display| format!("--config {}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| because(&error))?;
    let own = from_text(&text, &words[2..], serve).map_err(|why| because(&why))?;
    let (before, after) = words.split_at(2);
    Ok([before, &own, after].concat())
}

/// The file that a command line of `serve` names.
pub(crate) fn named(words: &[OsString]) -> Option<OsString> {
    if words.get(1).is_none_or(|word| word != "serve") {
        return None;
    }
    let at = words.iter().position(|word| is_flag(word, "--config"))?;
    match words[at].to_string_lossy().strip_prefix("--config=") {
        Some(file) => Some(file.into()),
        None => words.get(at + 1).cloned(),
    }
}

/// The words that a file adds to those of the command line.
fn from_text(text: &str, given: &[OsString], serve: &Command) -> Result<Vec<OsString>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
    let mut words = Vec::new();
    for (name, value) in &table {
        let Some(flag) = serve.get_arguments().find(|flag| flag.get_long() == Some(name) && is_allowed(flag)) else {
            return Err(unknown(name, serve));
        };
        let own = words_of(name, value, flag)?;
        if !is_given(flag, given) {
            words.extend(own.into_iter().map(OsString::from));
        }
    }
    Ok(words)
}

/// Those that a person may give: a file that named another would be read half.
fn is_allowed(flag: &Arg) -> bool {
    !flag.is_hide_set() && flag.get_long() != Some("config")
}

fn unknown(name: &str, serve: &Command) -> String {
    let known = serve.get_arguments().filter(|flag| is_allowed(flag)).filter_map(Arg::get_long);
    let known: Vec<&str> = known.collect();
    let underscored = name.replace('_', "-");
    if known.contains(&underscored.as_str()) {
        return format!("`{name}` is written `{underscored}`, as the flag is");
    }
    format!("`serve` has no flag `--{name}` in this build; it has {}", known.join(", "))
}

fn words_of(name: &str, value: &toml::Value, flag: &Arg) -> Result<Vec<String>, String> {
    let takes_none = matches!(flag.get_action(), ArgAction::SetTrue | ArgAction::SetFalse);
    match value {
        toml::Value::Boolean(is_set) if takes_none => Ok(if *is_set { vec![format!("--{name}")] } else { Vec::new() }),
        _ if takes_none => Err(format!("`{name}` is true or false, and here it is a {}", value.type_str())),
        toml::Value::Array(values) => {
            let words = values.iter().map(|value| word_of(name, value));
            let words: Result<Vec<String>, String> = words.collect();
            match words {
                Ok(words) if words.len() > 1 && !matches!(flag.get_action(), ArgAction::Append) => {
                    Err(format!("`{name}` has one value, not {}", words.len()))
                }
                words => words,
            }
        }
        value => word_of(name, value).map(|word| vec![word]),
    }
}

fn word_of(name: &str, value: &toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(format!("--{name}={text}")),
        toml::Value::Integer(number) => Ok(format!("--{name}={number}")),
        toml::Value::Float(number) => Ok(format!("--{name}={number}")),
        other => Err(format!(
            "`{name}` has a value of the command line, as \"…\" or as a number, and here it is a {}",
            other.type_str()
        )),
    }
}

/// Whether the command line has the flag, by its name, by an alias or by its letter.
fn is_given(flag: &Arg, given: &[OsString]) -> bool {
    let names = flag.get_long().into_iter().chain(flag.get_all_aliases().into_iter().flatten());
    let names: Vec<String> = names.map(|name| format!("--{name}")).collect();
    let letter = flag.get_short().map(|letter| format!("-{letter}"));
    given.iter().any(|word| {
        names.iter().any(|name| is_flag(word, name))
            || letter.as_ref().is_some_and(|letter| word.to_string_lossy().starts_with(letter.as_str()))
    })
}

/// Whether the word is this flag, with or without its value.
fn is_flag(word: &OsStr, name: &str) -> bool {
    let text = word.to_string_lossy();
    text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::CommandLine;
    use clap::CommandFactory;

    fn words(text: &str, given: &str) -> Result<String, String> {
        let tool = CommandLine::command();
        let serve = tool.find_subcommand("serve").expect("a command");
        let given: Vec<OsString> = given.split_whitespace().map(OsString::from).collect();
        let words = from_text(text, &given, serve)?;
        Ok(words.join(OsStr::new(" ")).into_string().expect("text"))
    }

    #[test]
    fn a_file_has_flags_by_their_names() {
        let text =
            "listen = \"[::]:7777\"\ntick = 30\nallow-plain = true\nno-websocket = false\ncert = [\"a\", \"b\"]\n";
        assert_eq!(words(text, ""), Ok("--allow-plain --cert=a --cert=b --listen=[::]:7777 --tick=30".into()));
        assert_eq!(words("", ""), Ok(String::new()));
    }

    #[test]
    fn the_command_line_counts_before_the_file() {
        let text = "duration = \"9s\"\norigin = [\"https://a.example\"]\ntick = 30\n";
        assert_eq!(words(text, "--tick 9 -d 3s"), Ok("--origin=https://a.example".into()));
        assert_eq!(words(text, "--duration=3s --tick=9 --allow-origin x"), Ok(String::new()));
    }

    #[test]
    fn a_wrong_file_is_refused_with_the_remedy() {
        let refused = |text: &str| words(text, "").expect_err("it is refused");
        assert!(refused("lisen = \"a\"").contains("it has listen, workload"), "{}", refused("lisen = \"a\""));
        assert!(refused("allow_plain = true").contains("is written `allow-plain`"));
        assert!(refused("allow-plain = \"yes\"").contains("true or false"));
        assert!(refused("listen = true").contains("as a number"));
        assert!(refused("listen = [\"a:1\", \"b:2\"]").contains("one value"));
        assert!(refused("[listen]\nport = 1").contains("as a number"));
        assert!(refused("config = \"other.toml\"").contains("no flag `--config`"));
        assert!(refused("piped = true").contains("no flag `--piped`"));
        assert!(refused("listen = ").contains("line 1"));
    }

    #[test]
    fn only_serve_has_a_file() {
        let named = |line: &str| named(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(named("tool serve --tick 9 --config a.toml"), Some("a.toml".into()));
        assert_eq!(named("tool serve --config=a.toml"), Some("a.toml".into()));
        assert_eq!((named("tool stress --config a.toml"), named("tool serve --config")), (None, None));
        let tool = CommandLine::command();
        let missing = ["tool", "serve", "--config", "no/such.toml"].map(OsString::from).to_vec();
        assert!(expanded(missing, &tool).is_err_and(|why| why.starts_with("--config no/such.toml: ")));
    }
}
