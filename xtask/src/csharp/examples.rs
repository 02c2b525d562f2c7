//! The examples of C#: each compiles, and runs for as long as its check takes.

use std::path::Path;

use super::toolchain::{Assembly, Runtime, Toolchain};
use super::{client, sources};
use crate::process;
use crate::tally::Tally;
use crate::tree::Tree;

/// Each with the words of a run that ends by itself, and with exit code 0 if all went well.
const EXAMPLES: [(&str, &str, &[&str]); 2] = [
    ("clients/csharp/examples/Echo.cs", "Echo.exe", &["check"]),
    ("clients/csharp/examples/Dots.cs", "Dots.exe", &["check"]),
];

pub(super) fn check(toolchain: &Toolchain, native: &Path, tree: &Tree) -> Result<Tally, String> {
    let client = client(toolchain, "examples", tree)?;
    let mut tally = Tally::default();
    for (source, file_name, words) in EXAMPLES {
        let program = Assembly {
            folder: "examples".into(),
            file_name,
            sources: sources(tree, source)?,
            references: vec![client.clone()],
            ..Assembly::default()
        };
        let program = toolchain.compile(&program, tree)?;
        for runtime in [Runtime::Mono, Runtime::DotNet] {
            let mut run = toolchain.run(runtime, &program, tree);
            run.args(words).env("LD_LIBRARY_PATH", native);
            process::run(run)?;
            tally += Tally::ONE_PASSED;
        }
    }
    Ok(tally)
}
