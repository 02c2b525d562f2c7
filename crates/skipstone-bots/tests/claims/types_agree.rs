//! The types for luau-lsp and those for TypeScript say the same names.

use crate::runs::example;

fn read(file: &str) -> String {
    std::fs::read_to_string(example(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The names before a colon, at this indent, between a line that begins so and the end of its block.
fn fields(text: &str, begin: &str) -> Vec<String> {
    let block = text.split_once(begin).unwrap_or_else(|| panic!("no {begin}")).1;
    let block = block.split_once("\n}").expect("it ends").0;
    let field = |line: &str| {
        let name = line.strip_prefix("    ")?.split_once(':')?.0;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| name.to_owned())
    };
    block.lines().filter_map(field).collect()
}

#[test]
fn what_luau_finds_typescript_finds_too() {
    let (luau, typescript) = (read("../types/skipstone.d.luau"), read("../typescript/skipstone.d.ts"));
    let namespaces: Vec<&str> =
        luau.lines().filter_map(|line| line.strip_prefix("declare ")?.strip_suffix(": {")).collect();
    assert!(namespaces.len() >= 5, "{namespaces:?}");
    for namespace in namespaces {
        let own = typescript.split_once(&format!("declare namespace {namespace} {{")).map(|(_, rest)| rest);
        let own = own.and_then(|rest| rest.split_once("\n}")).unwrap_or_else(|| panic!("no {namespace}")).0;
        for name in fields(&luau, &format!("declare {namespace}: {{")) {
            let is_there = [format!("function {name}("), format!("function {name}<"), format!("const {name}:")];
            assert!(is_there.iter().any(|text| own.contains(text.as_str())), "{namespace}.{name}");
        }
    }
    let bot = typescript.split_once("interface Bot<").expect("a bot").1.split_once("\n}").expect("it ends").0;
    let names = fields(&luau, "export type Bot = {");
    assert!(names.len() >= 14, "{names:?}");
    for name in names {
        let is_there = ["(", "?(", ":", "<"].iter().any(|next| bot.contains(&format!(" {name}{next}")));
        assert!(is_there, "bot.{name}");
    }
}
