//! The examples of C#: each compiles, and runs for as long as its check takes.

use std::path::Path;

use super::client::{SOURCES, client, sources};
use super::toolchain::{Assembly, Runtime, Toolchain};
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
    check_guide(toolchain, native, tree)?;
    tally += Tally::ONE_PASSED;
    Ok(tally)
}

/// The guide's first program, by the guide's own commands: mcs builds the client and the program, Mono runs it.
fn check_guide(toolchain: &Toolchain, native: &Path, tree: &Tree) -> Result<(), String> {
    let guide = std::fs::read_to_string(tree.root().join(GUIDE)).map_err(|error| format!("{GUIDE}: {error}"))?;
    let program = guide.split_once("```csharp\n").and_then(|(_, rest)| rest.split_once("```"));
    let (program, _) = program.ok_or_else(|| format!("{GUIDE} has no program"))?;
    let folder = toolchain.folder().join("guide");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = |name: &str| folder.join(name);
    std::fs::write(file("Hello.cs"), program).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut library = process::command("mcs", tree);
    library.args(["-langversion:latest", "-unsafe", "-target:library", &output(&file("Skipstone.dll"))]);
    library.arg(format!("-recurse:{}/*.cs", SOURCES));
    process::run(library)?;
    let mut hello = process::command("mcs", tree);
    hello.arg(format!("-r:{}", file("Skipstone.dll").display())).arg(output(&file("Hello.exe"))).arg(file("Hello.cs"));
    process::run(hello)?;
    let mut run = toolchain.run(Runtime::Mono, &file("Hello.exe"), tree);
    run.env("LD_LIBRARY_PATH", native);
    process::run(run)
}

fn output(path: &Path) -> String {
    format!("-out:{}", path.display())
}

const GUIDE: &str = "docs/guide/csharp.md";
