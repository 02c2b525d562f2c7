//! `manual FOLDER` writes the tool's completions for four shells and its manual pages, one for each command.

use clap_complete::Shell;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).expect("say where to: manual FOLDER");
    let mut tool = skipstone_cli::description();
    let man = folder.join("man");
    std::fs::create_dir_all(&man)?;
    clap_mangen::generate_to(tool.clone(), man)?;
    let completions = folder.join("completions");
    std::fs::create_dir_all(&completions)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut tool, "skipstone", &completions)?;
    }
    Ok(())
}
