//! `skipstone deploy` and its commands.

use crate::builds::Source;
use crate::deployment;
use crate::names::check_name;
use crate::plan::Plan;
use crate::remote::Practice;
use skipstone_lab::report::{Exit, output};
use std::path::{Path, PathBuf};

/// Flags of `deploy`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"), args_conflicts_with_subcommands = false)]
pub struct DeployArguments {
    /// The plan, with builds and targets
    #[arg(long, value_name = "FILE", default_value = "deploy.toml", global = true)]
    config: PathBuf,
    /// Only this target; may be given several times
    #[arg(long, value_name = "NAME", global = true)]
    target: Vec<String>,
    /// Print each command without running it
    #[arg(long, global = true)]
    dry_run: bool,
    /// Print an example deploy.toml
    #[arg(long)]
    example: bool,
    #[command(subcommand)]
    command: Option<DeployCommand>,
}

/// The other commands.
#[derive(Debug, Clone, clap::Subcommand)]
enum DeployCommand {
    /// Show each target's current release and whether it is healthy
    Status,
    /// Roll back to the release before the current one, or to this one
    Rollback { release: Option<String> },
    /// Show the history of deployments
    Log {
        /// Number of lines for each target
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: u32,
    },
}

/// Runs the command of the flags.
pub fn run(arguments: &DeployArguments) -> Exit {
    if arguments.example {
        output::print(include_str!("example.toml"));
        return Exit::Pass;
    }
    Exit::of("deploy", Plan::read(&arguments.config).map(|plan| play(arguments, &plan)))
}

fn play(arguments: &DeployArguments, plan: &Plan) -> Exit {
    match work(arguments, plan) {
        Ok(exit) => exit,
        Err(error) => {
            output::complain(format_args!("skipstone deploy: {error}"));
            Exit::Fail
        }
    }
}

fn work(arguments: &DeployArguments, plan: &Plan) -> Result<Exit, String> {
    let practice = if arguments.dry_run { Practice::Dry } else { Practice::Real };
    let only = &arguments.target;
    match &arguments.command {
        None => {
            let folder = match arguments.config.parent() {
                Some(folder) if folder != Path::new("") => folder,
                _ => Path::new("."),
            };
            let source = Source::find(folder, plan)?;
            deployment::deploy(plan, &source, only, practice)?;
        }
        Some(DeployCommand::Status) => {
            let is_well = deployment::status(plan, only, practice)?;
            return Ok(if is_well { Exit::Pass } else { Exit::Fail });
        }
        Some(DeployCommand::Rollback { release }) => {
            release.iter().try_for_each(|release| check_name("release", release))?;
            deployment::roll_back(plan, only, release.as_deref(), practice)?;
        }
        Some(DeployCommand::Log { lines }) => {
            for (name, site) in deployment::sites(plan, only, practice)? {
                output::say(format_args!("{name}:\n{}", site.log(*lines)?));
            }
        }
    }
    Ok(Exit::Pass)
}
