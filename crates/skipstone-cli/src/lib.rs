//! `skipstone`: the stress test, chat client and server, a library so that the demonstration is the same tool with
//! fewer features. Each command has its own module, and `command_line` lists them. Imports point down:
//! `command_line > serve, fleet > stress, chat > console > door, sharing, trust`, and below them all `skipstone-lab`.

#[cfg(feature = "bots")]
mod bots;
#[cfg(feature = "chat")]
mod chat;
mod client_figures;
mod command_line;
mod config_file;
mod console;
#[cfg(feature = "dashboard")]
mod dashboard;
mod door;
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(feature = "fleet")]
mod fleet_flags;
mod left_out;
#[cfg(any(feature = "dashboard", feature = "fleet"))]
mod move_figures;
mod qlog_flags;
mod serve;
mod sharing;
mod stress;
mod trust;

use clap::{CommandFactory, Parser};
use command_line::{CommandLine, ToolCommand};
use skipstone_lab::report::{Exit, output};
#[cfg(feature = "experiments")]
use skipstone_lab::{bench, compare, fairness, netem, recording, sweep};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some((command, sentence)) = left_out::answer(&words) {
        return Exit::BadConfiguration.told(command, sentence).into();
    }
    let words = scripted(std::env::args_os().collect());
    let file = config_file::named(&words);
    let words = match config_file::expanded(words, &CommandLine::command()) {
        Ok(words) => words,
        Err(why) => return Exit::BadConfiguration.told("serve", why).into(),
    };
    let arguments = CommandLine::try_parse_from(words).unwrap_or_else(|error| {
        // Help and version are answers, the rest is bad configuration.
        let is_answer = !error.use_stderr();
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        if let Some(file) = file.filter(|_| !is_answer) {
            output::complain(format_args!("note: {} has flags of this command line, too", file.display()));
        }
        if is_answer {
            output::note(printed);
        }
        let exit = if is_answer { Exit::Pass.once_written() } else { Exit::BadConfiguration };
        std::process::exit(exit.code().into());
    });
    let exit = match arguments.command {
        // A server and a chat have no result: their output is for people.
        Some(ToolCommand::Serve(arguments)) if !arguments.has_result() => return serve::run(&arguments).into(),
        #[cfg(feature = "chat")]
        Some(ToolCommand::Chat(arguments)) => return chat::run(&arguments).into(),
        Some(ToolCommand::Serve(arguments)) => serve::run(&arguments),
        #[cfg(feature = "fleet")]
        Some(ToolCommand::Stress(arguments)) if arguments.fleet.url().is_some() => fleet::lead(&arguments),
        Some(ToolCommand::Stress(arguments)) => stress::run(&arguments),
        #[cfg(feature = "bots")]
        Some(ToolCommand::Bots(arguments)) => bots::run(&arguments),
        #[cfg(feature = "fleet")]
        Some(ToolCommand::Agent(arguments)) => fleet::run_agent(&arguments),
        #[cfg(feature = "fleet")]
        Some(ToolCommand::Fleet(command)) => fleet::operate(&command),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Compare(arguments)) => compare::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::CompareEnd { task }) => compare::run_end(&task),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Report(arguments)) => compare::two_runs::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Record(arguments)) => recording::command::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Sweep(arguments)) => sweep::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Fairness(arguments)) => fairness::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Bench(arguments)) => bench::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::BenchServer { task }) => bench::server::run(&task),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::BenchLoad { task }) => bench::load::run(&task),
        #[cfg(feature = "db")]
        Some(ToolCommand::Db(arguments)) => skipstone_db::run(&arguments),
        #[cfg(feature = "deploy")]
        Some(ToolCommand::Deploy(arguments)) => skipstone_deploy::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Netem(arguments)) => netem::run(&arguments),
        None => stress::demonstrate(),
    };
    exit.once_written().into()
}

/// The command line's description, of which completions and manual pages are made.
#[cfg(feature = "manual")]
pub fn description() -> clap::Command {
    CommandLine::command()
}

/// `stress --script FILE` is `bots FILE`, with the flags of that.
fn scripted(words: Vec<OsString>) -> Vec<OsString> {
    if !cfg!(feature = "bots") || words.get(1).is_none_or(|word| word != "stress") {
        return words;
    }
    let flag = words.iter().position(|word| word == "--script" || word.to_string_lossy().starts_with("--script="));
    let Some(at) = flag else { return words };
    let mut rest: Vec<OsString> = words[2..].to_vec();
    let own = rest.remove(at - 2);
    let text = own.to_string_lossy();
    let script = match text.strip_prefix("--script=") {
        Some(script) => OsString::from(script),
        None if at - 2 < rest.len() => rest.remove(at - 2),
        None => return words,
    };
    [words[0].clone(), "bots".into(), script].into_iter().chain(rest).collect()
}

#[cfg(all(test, feature = "bots"))]
mod tests {
    use super::*;

    #[test]
    fn a_stress_run_of_a_script_is_a_run_of_bots() {
        let scripted = |line: &str| {
            let words = scripted(line.split(' ').map(OsString::from).collect());
            words.join(std::ffi::OsStr::new(" ")).into_string().expect("text")
        };
        for line in ["tool stress udp://h:1 --script a.luau -c 5", "tool stress udp://h:1 --script=a.luau -c 5"] {
            assert_eq!(scripted(line), "tool bots a.luau udp://h:1 -c 5");
        }
        for line in ["tool stress -c 5", "tool stress --script", "tool chat --script a.luau"] {
            assert_eq!(scripted(line), line);
        }
    }
}
