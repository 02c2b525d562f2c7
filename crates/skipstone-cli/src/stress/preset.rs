//! Runs with preset flags: the demonstration, and clients and a server in one process.

use super::arguments::StressArguments;
use super::run::run;
use clap::Parser;
use skipstone_lab::left_out;
use skipstone_lab::report::Exit;
use skipstone_lab::report::output;
use skipstone_lab::units::{Rate, Span};
use std::thread::JoinHandle;
use std::time::Duration;

/// The demonstration: ten seconds of 100 clients, two thirds native, one third as browsers do.
pub(crate) fn demonstrate() -> Exit {
    let exit = run(&parse(&["-c", "100", "--mix", "udp=67,ws=33", "-r", "2/s", "-d", "10s"]));
    output::print(try_next(&left_out::program()));
    exit
}

fn try_next(program: &str) -> String {
    let whole = if cfg!(feature = "chat") { program } else { left_out::WHOLE_TOOL };
    include_str!("try-next.txt").replace("{skipstone}", program).replace("{whole}", whole)
}

/// Stress clients and a server in the same process.
pub(crate) fn beside(url: &str, clients: u32, rate: Rate, duration: Option<Span>) -> Beside {
    let (clients, rate) = (clients.to_string(), rate.to_string());
    let duration = duration.unwrap_or(Span(Duration::from_secs(10))).to_string();
    let arguments = parse(&[url, "-c", &clients, "-r", &rate, "-d", &duration]);
    Beside(std::thread::spawn(move || run(&arguments)))
}

/// Stress clients in a thread of the server's process.
pub(crate) struct Beside(JoinHandle<Exit>);

impl Beside {
    pub(crate) fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    pub(crate) fn join(self) -> std::thread::Result<Exit> {
        self.0.join()
    }
}

fn parse(words: &[&str]) -> StressArguments {
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: StressArguments,
    }
    Line::parse_from(std::iter::once("stress").chain(words.iter().copied())).arguments
}
