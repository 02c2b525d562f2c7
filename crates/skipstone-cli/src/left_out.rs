//! Parts of the tool that a build may lack. For such a command, the build says how to get it, instead of reporting an
//! unknown command.

use skipstone_lab::left_out::{WHOLE_TOOL, program, remedy};

/// Something that the whole tool has.
pub(crate) struct Part {
    pub(crate) is_here: bool,
    /// Behind "this build has no".
    name: &'static str,
    pub(crate) commands: &'static [&'static str],
    /// Flags of other commands, and beginnings of URLs.
    pub(crate) words: &'static [(&'static str, &'static str)],
}

/// DTLS and WebTransport.
const CARRIERS: &str = "DTLS and no WebTransport";

/// All that a build may lack.
pub(crate) const PARTS: &[Part] = &[
    Part {
        is_here: cfg!(feature = "experiments"),
        name: "experiments",
        commands: &["compare", "report", "record", "sweep", "fairness", "bench", "netem"],
        words: &[],
    },
    Part { is_here: cfg!(feature = "bots"), name: "bots", commands: &["bots"], words: &[("stress", "--script")] },
    Part { is_here: cfg!(feature = "chat"), name: "chat", commands: &["chat"], words: &[] },
    Part {
        is_here: cfg!(feature = "db"),
        name: "databases",
        commands: &["db"],
        words: &[("serve", "--db"), ("serve", "--db-queue")],
    },
    Part {
        is_here: cfg!(feature = "fleet"),
        name: "fleets",
        commands: &["agent", "fleet"],
        words: &[
            ("stress", "--fleet"),
            ("stress", "--agents"),
            ("stress", "--tolerate"),
            ("bots", "--fleet"),
            ("serve", "--fleet"),
            ("serve", "--node"),
            ("serve", "--agones"),
        ],
    },
    Part { is_here: cfg!(feature = "deploy"), name: "deployment", commands: &["deploy"], words: &[] },
    Part {
        is_here: cfg!(feature = "dashboard"),
        name: "dashboard",
        commands: &[],
        words: &[("serve", "--dashboard"), ("serve", "--dashboard-host"), ("serve", "--open")],
    },
    Part {
        is_here: cfg!(feature = "carriers"),
        name: CARRIERS,
        commands: &[],
        words: &[("stress", "--dtls"), ("stress", "skip+dtls://"), ("chat", "skip+dtls://")],
    },
];

/// The answer to a command line that asks for a part which this build lacks: the command, and one sentence with the
/// remedy.
pub(crate) fn answer(words: &[String]) -> Option<(&str, String)> {
    let (command, lacking) = find(PARTS, words)?;
    Some((command, remedy(lacking.name)))
}

/// The sentence about clients by DTLS or WebTransport, if this build has none.
pub(crate) fn carriers() -> Result<(), String> {
    if cfg!(feature = "carriers") { Ok(()) } else { Err(remedy(CARRIERS)) }
}

/// The end of the help: examples that use the name under which this program was started, and the commands that this
/// build lacks.
pub(crate) fn help() -> String {
    let program = program();
    let lacking: Vec<&str> =
        PARTS.iter().filter(|part| !part.is_here).flat_map(|part| part.commands).copied().collect();
    let mut help = String::new();
    for line in include_str!("help.txt").lines() {
        match line.strip_prefix("  skipstone") {
            Some(rest) if rest.split(' ').nth(1).is_some_and(|command| lacking.contains(&command)) => continue,
            Some(rest) => help += &format!("  {program}{rest}\n"),
            None => help += &format!("{line}\n"),
        }
    }
    if !lacking.is_empty() {
        help += &format!("\nNot in this build: {}. The whole tool: {WHOLE_TOOL}", lacking.join(", "));
    }
    help
}

/// The first word that is a command, and the part of the tool that it needs.
fn find<'a>(parts: &'static [Part], words: &'a [String]) -> Option<(&'a str, &'static Part)> {
    let mut rest = words.iter().map(String::as_str).skip_while(|word| *word == "help");
    let command = rest.next()?;
    let rest: Vec<&str> = rest.collect();
    let lacks = |part: &&Part| {
        let mut own = part.words.iter().filter(|(of, _)| *of == command);
        part.commands.contains(&command) || own.any(|(_, asked)| rest.iter().any(|word| is_about(word, asked)))
    };
    parts.iter().filter(|part| !part.is_here).find(lacks).map(|part| (command, part))
}

/// Whether a word is this flag, with or without its value, or begins with this scheme.
fn is_about(word: &str, asked: &str) -> bool {
    let rest = word.strip_prefix(asked);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('=') || asked.ends_with("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LACKING: &[Part] = &[
        Part { is_here: false, name: "chat", commands: &["chat"], words: &[] },
        Part {
            is_here: false,
            name: "extras",
            commands: &[],
            words: &[("serve", "--open"), ("stress", "skip+dtls://")],
        },
        Part { is_here: true, name: "databases", commands: &["db"], words: &[("serve", "--db")] },
    ];

    fn lacking(line: &str) -> Option<&'static str> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        find(LACKING, &words).map(|(_, part)| part.name)
    }

    #[test]
    fn an_omitted_command_is_found_in_the_command_line() {
        for line in ["chat", "chat --help", "help chat", "chat ws://host"] {
            assert_eq!(lacking(line), Some("chat"), "{line}");
        }
        for line in ["serve --open", "serve --tick 9 --open=1", "stress -c 3 skip+dtls://host"] {
            assert_eq!(lacking(line), Some("extras"), "{line}");
        }
        for line in
            ["", "help", "serve", "db", "serve --db x", "serve --opening", "stress --open", "stress skip://host", "-h"]
        {
            assert_eq!(lacking(line), None, "{line}");
        }
    }
}
