//! The npm package for web pages: the protocol as WebAssembly inside one module. Checked by a page of a fresh project in
//! real browsers.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::archive;
use super::bill::write_bill;
use super::build;
use super::contents::{Built, dependencies};
use super::place::Place;
use super::plan::{Checked, Part, Release, copy, write};
use super::third_party::write_licences;
use super::tool::program_here;
use crate::languages::web;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

pub(super) const PARTS: &[Part] = &[Part {
    name: "npm-web",
    about: "the npm package for web pages: one module with the protocol as WebAssembly",
    make,
    check,
}];

fn make(release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let mut script = web::package_script("build", tree)?;
    build::steady_for_web(&mut script, release, tree);
    process::run(script)?;
    // Before it is packed into the module.
    build::check_places(&build::target(release).join(system::WASM).join("web/skipstone_web.wasm"), release, tree)?;
    process::run(web::package_script("size", tree)?)?;
    let stage = release.stage("npm")?;
    let mut pack =
        npm(&["pack", "--ignore-scripts", "--silent", "--pack-destination"], &tree.root().join(FOLDER), tree);
    pack.arg(&stage);
    process::run(pack)?;
    // npm chooses the files. Its archive depends on its own version, and lacks the texts of what is inside the module.
    let name = package_name(release);
    archive::unpack(&stage.join(&name), &stage, tree)?;
    let inside = stage.join("package");
    let contents = dependencies(CONTENTS, tree)?;
    write_licences(&inside.join("THIRD-PARTY-LICENSES.txt"), &contents)?;
    copy(&tree.root().join("CHANGELOG.md"), &inside.join("CHANGELOG.md"))?;
    let package = release.artifact(&name);
    archive::tar_gz(&stage, &["package"], &package, release, tree)?;
    let bill = write_bill(&package, &contents, release)?;
    Ok(vec![package, bill])
}

/// A fresh project in an empty folder: `npm install`, types, `vite build`, and its page in browsers, against the tool of
/// this release.
fn check(release: &Release, tree: &Tree) -> Result<Checked, String> {
    let missing = system::browsers(tree);
    if missing.len() == system::BROWSERS {
        return Ok(Checked::Skipped(missing.join("; ")));
    }
    let server = program_here(release, tree)?;
    let place = Place::empty("npm")?;
    let project = place.path();
    let package = package_name(release);
    copy(&release.artifact(&package), &project.join(&package))?;
    for (name, text) in PROJECT {
        write(&project.join(name), text)?;
    }
    let mut install = npm(&["install", "--silent", "--no-audit", "--no-fund"], project, tree);
    install.arg(format!("./{package}")).args(["vite@8", "typescript@6"]);
    process::run(install)
        .map_err(|why| format!("{why}: connect to the network, or name a registry by npm's settings"))?;
    process::run(npm(&["run", "--silent", "build"], project, tree))?;
    let mut browsers = web::package_script("test:release", tree)?;
    browsers.env("SKIPSTONE_PAGE", project.join("dist")).env("SKIPSTONE_BIN", server);
    process::run(browsers)?;
    let without = if missing.is_empty() { String::new() } else { format!("; {}", missing.join("; ")) };
    Ok(Checked::Passed(format!("a page of a fresh vite project exchanges a message in browsers{without}")))
}

fn npm(words: &[&str], folder: &Path, tree: &Tree) -> Command {
    let mut npm = process::command("npm", tree);
    npm.current_dir(folder).env("NO_COLOR", "1").args(words);
    npm
}

fn package_name(release: &Release) -> String {
    format!("skipstone-{}.tgz", release.version)
}

const FOLDER: &str = "clients/web";
const CONTENTS: Built<'static> =
    Built { package: "skipstone-web", features: &[], target: system::WASM, manifest: "Cargo.toml" };

/// The files of the fresh project.
const PROJECT: [(&str, &str); 4] = [
    ("package.json", r#"{ "private": true, "type": "module", "scripts": { "build": "tsc && vite build --base ./" } }"#),
    (
        "tsconfig.json",
        r#"{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022", "module": "esnext",
        "moduleResolution": "bundler", "types": [] } }"#,
    ),
    ("index.html", "<!doctype html>\n<p id=\"received\"></p>\n<script type=\"module\" src=\"/main.ts\"></script>\n"),
    ("main.ts", MAIN),
];

const MAIN: &str = r##"import { connect } from "skipstone";

const client = connect(decodeURIComponent(location.hash.slice(1)), { token: "chat page" });
client.onEvent = (event) => {
  if (event.type === "connected") {
    document.title = event.carrier;
    client.send(0, "hello");
  } else if (event.type === "message") {
    document.querySelector("#received")!.textContent += new TextDecoder().decode(event.payload);
  }
};
"##;
