//! `cargo xtask docs`: the committed pages and the API as one searchable site that works offline, built by mdBook.
//! `links` checks the pages' links, `summary` orders the pages, `site` writes mdBook's source and checks its output.

mod history;
mod links;
mod site;
mod summary;

use crate::machine::arguments::Arguments;
use crate::machine::tree::Tree;
use crate::machine::{files, process};

pub(crate) use self::links::breaches;

/// Builds the site and prints where it is. `Ok(false)` if one of its links leads nowhere.
pub(crate) fn docs(arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    arguments.expect_end()?;
    let files = files::files(tree);
    let dead = links::breaches(&files);
    if !dead.is_empty() {
        dead.iter().for_each(|breach| println!("{breach}"));
        return Ok(false);
    }
    let mdbook = require_mdbook(tree)?;
    let site = site::Site::in_folder(process::target_dir(tree).join("docs"));
    site.write_source(&files, tree)?;
    let mut build = process::command(&mdbook, tree);
    build.arg("build").arg(site.folder());
    process::run(build)?;
    site.add_api(tree)?;
    site.check_and_describe()
}

/// The path of mdBook, installed if it is missing.
fn require_mdbook(tree: &Tree) -> Result<String, String> {
    let tools = process::target_dir(tree).join("tools");
    let program = tools.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX)).display().to_string();
    let mut asked = process::command(&program, tree);
    asked.arg("--version");
    if process::output(asked).is_some_and(|version| version.trim() == format!("mdbook v{MDBOOK_VERSION}")) {
        return Ok(program);
    }
    println!("mdBook {MDBOOK_VERSION} is missing; installing it into {}", tools.display());
    let mut install = process::cargo(tree);
    install.args(["install", "mdbook", "--version", MDBOOK_VERSION, "--locked"]);
    // Without its web server and its file watcher, which are half of its dependencies.
    install.args(["--no-default-features", "--features", "search", "--root"]).arg(&tools);
    process::run(install)?;
    Ok(program)
}

const MDBOOK_VERSION: &str = "0.5.4";
