//! The ABI equals `abi.txt`: every function, every number, and the layout of every structure on a 64-bit system,
//! according to the C compiler. `SKIPSTONE_UPDATE=1` writes the file. A changed or removed line requires a new major
//! version; a new line requires a new minor version.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

#[test]
fn the_abi_equals_the_checked_in_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = std::fs::read_to_string(folder.join("include/skipstone.h")).expect("the header is there");
    let code = without_comments(&header);
    let mut made =
        String::from("# Made from include/skipstone.h: SKIPSTONE_UPDATE=1 cargo test -p skipstone-ffi --test claims\n");
    made += "# Structures as on 64-bit systems.\n\n";
    made += &functions(&code);
    made += &numbers(&code);
    match layouts(folder, &structures(&code)) {
        Ok(layouts) => made += &layouts,
        Err(why) => {
            println!("{why}: the layout of structures is not compared");
            return;
        }
    }
    let path = folder.join("abi.txt");
    if std::env::var_os("SKIPSTONE_UPDATE").is_some() {
        std::fs::write(&path, &made).expect("abi.txt can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("abi.txt is there").replace("\r\n", "\n");
    let differing = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
    let remedy = "SKIPSTONE_UPDATE=1 cargo test -p skipstone-ffi --test claims";
    assert!(kept == made, "the ABI differs from abi.txt, first at {differing:?}: if it may, run `{remedy}`");
}

fn without_comments(header: &str) -> String {
    let lines = header.lines().map(|line| line.split("//").next().unwrap_or(""));
    let lines = lines.filter(|line| !line.starts_with('#') && !line.starts_with(" *") && !line.starts_with("/*"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Each declaration in one line.
fn functions(code: &str) -> String {
    let mut functions = Vec::new();
    for declaration in code.split(';') {
        let words = declaration.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.rsplit_once("extern \"C\" { ").map_or(&words[..], |(_, words)| words);
        if words.contains(" skipstone_") || words.contains("*skipstone_") {
            functions.push(format!("{words};\n"));
        }
    }
    functions.sort();
    assert!(functions.len() > 40, "the header has functions: {functions:?}");
    functions.concat() + "\n"
}

/// Each enumerator with its value.
fn numbers(code: &str) -> String {
    let lines = code.lines().map(str::trim);
    let mut numbers: Vec<_> = lines.filter(|line| line.starts_with("SKIPSTONE_") && line.contains(" = ")).collect();
    numbers.sort_unstable();
    let all: String = numbers.iter().map(|number| format!("{}\n", number.trim_end_matches(','))).collect();
    all + "\n"
}

/// The structures, each with the names of its fields.
fn structures(code: &str) -> Vec<(String, Vec<String>)> {
    let mut structures = Vec::new();
    for part in code.split("typedef struct ").skip(1) {
        let (name, rest) = part.split_once('{').expect("a structure has a body");
        let (body, _) = rest.split_once('}').expect("a body ends");
        let fields = body.split(';').map(str::trim).filter(|field| !field.is_empty()).map(|field| {
            let name = field.rsplit([' ', '*']).next().unwrap_or(field);
            name.split('[').next().unwrap_or(name).to_owned()
        });
        structures.push((name.trim().to_owned(), fields.collect()));
    }
    structures
}

/// The layout according to the C compiler.
fn layouts(folder: &Path, structures: &[(String, Vec<String>)]) -> Result<String, String> {
    let mut program = String::from("#include <skipstone.h>\n#include <stdio.h>\nint main(void) {\n");
    for (name, fields) in structures {
        let _ = writeln!(program, "printf(\"{name}: %zu bytes\\n\", sizeof({name}));");
        for field in fields {
            let (offset, size) = (format!("offsetof({name}, {field})"), format!("sizeof((({name} *)0)->{field})"));
            let _ = writeln!(program, "printf(\"  {field}: %zu bytes at %zu\\n\", {size}, {offset});");
        }
    }
    program += "return 0; }\n";
    let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, made) = (build.join("layout.c"), build.join("layout"));
    std::fs::write(&source, program).expect("the folder of the tests can be written to");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut compile = Command::new(&compiler);
    compile.arg("-I").arg(folder.join("include")).arg(&source).arg("-o").arg(&made);
    let output = compile.output().map_err(|error| format!("`{compiler}` could not run: {error}"))?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&made).output().map_err(|error| format!("{}: {error}", made.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"))
}
