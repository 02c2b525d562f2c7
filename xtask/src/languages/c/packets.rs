//! Packet types in C: nanopb generates them from the examples' `.proto`, and a test exchanges each with packets written
//! by Rust.

use std::path::Path;

use super::programs::{WARNINGS, count_ok};
use crate::machine::process;
use crate::machine::system;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;

/// The folder of the `.proto` and of the packets that Rust writes.
const FOLDER: &str = "examples/proto";
const GENERATOR: &str = "nanopb_generator.py";

pub(super) fn check(tree: &Tree) -> Result<Tally, String> {
    const WITHOUT: &str = "packet types in C are not tried";
    let programs = [(GENERATOR, "nanopb"), ("protoc", "protobuf-compiler")];
    let mut missing: Vec<String> =
        programs.iter().filter_map(|(name, package)| system::program(name, package, WITHOUT, tree)).collect();
    if missing.is_empty() && !Path::new("/usr/include/pb_encode.h").is_file() {
        missing.extend(system::package("libnanopb-dev", WITHOUT, tree));
    }
    if !missing.is_empty() {
        missing.iter().for_each(|why| println!("{why}"));
        return Ok(Tally { skipped: 1, ..Tally::default() });
    }
    let folder = process::target_dir(tree).join("c/packets");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut generate = process::command(GENERATOR, tree);
    generate.args(["--quiet", "-I", FOLDER, "-D"]).arg(&folder).arg("game.proto");
    process::run(generate)?;
    let program = folder.join("packets");
    let mut compile = process::command("cc", tree);
    compile.arg("-std=c99").args(WARNINGS).arg("-I").arg(&folder).arg("clients/c/tests/packets.c");
    compile.arg(folder.join("game.pb.c")).args(["-lprotobuf-nanopb", "-o"]).arg(&program);
    process::run(compile)?;
    let mut run = process::command(&program.display().to_string(), tree);
    run.arg(format!("{FOLDER}/packets.txt"));
    Ok(count_ok(run))
}
