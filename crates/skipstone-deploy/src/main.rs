//! `skipstone deploy` by itself: the tests of deployments run what was built with them, and not the tool of an earlier
//! build.

use clap::Parser;
use std::process::ExitCode;

/// The tool's command line, as far as it is about deployments.
#[derive(Parser)]
enum Deployer {
    /// A new version onto running servers
    Deploy(skipstone_deploy::DeployArguments),
}

fn main() -> ExitCode {
    let Deployer::Deploy(arguments) = Deployer::parse();
    skipstone_deploy::run(&arguments).once_written().into()
}
