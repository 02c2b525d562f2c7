//! `cargo xtask house [--of PATH]...`: the shape of the code in figures, a column for each tree: this one, or those at
//! the given paths. A figure is a hint where to look, not a limit to obey.

mod circles;
mod names;
mod path;
mod shape;
mod width;

use std::fmt::Write;
use std::path::PathBuf;

use crate::machine::arguments::Arguments;
use crate::machine::files;
use crate::machine::packages::{self, Described};
use crate::machine::tree::Tree;
use crate::rules::source::crates::crates;

/// Prints the table.
pub(crate) fn house(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let mut trees = Vec::new();
    while let Some(path) = arguments.take_value("--of")? {
        let root = PathBuf::from(&path).canonicalize().map_err(|error| format!("`{path}`: {error}"))?;
        trees.push((path, Tree::at(root)));
    }
    arguments.expect_end()?;
    let columns: Vec<Column> = match trees.is_empty() {
        true => vec![Column::of("here", tree)?],
        false => trees.iter().map(|(path, tree)| Column::of(path, tree)).collect::<Result<_, _>>()?,
    };
    print!("{}", table(&columns));
    Ok(true)
}

/// The figures of one tree, each with its name.
struct Column {
    title: String,
    figures: Vec<(String, String)>,
}

impl Column {
    fn of(title: &str, tree: &Tree) -> Result<Self, String> {
        let files = files::files(tree);
        let crates = crates(&files).map_err(|why| format!("{title}: {why}"))?;
        let mut figures = Vec::new();
        let mut say = |name: &str, figure: String| figures.push((name.to_owned(), figure));
        shape::figures(&crates, &mut say);
        circles::figures(&crates, &mut say);
        names::figures(&crates, &mut say);
        width::figures(&files, &mut say);
        path::figures(&crates, &mut say);
        say(
            "test programs",
            packages::members(tree).map_or_else(|_| "?".into(), |members| test_programs(&members).to_string()),
        );
        Ok(Self { title: title.to_owned(), figures })
    }

    fn figure(&self, name: &str) -> Option<&str> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, figure)| &**figure)
    }
}

/// How many programs `cargo test` builds to run, documentation left out.
fn test_programs(members: &[Described]) -> usize {
    members.iter().flat_map(|member| &member.package.targets).filter(|target| target.test).count()
}

/// In Markdown. The rows of the first tree come first, then rows that only later trees have.
fn table(columns: &[Column]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in columns.iter().flat_map(|column| &column.figures) {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let titles: Vec<&str> = columns.iter().map(|column| &*column.title).collect();
    let mut text = format!("| | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(columns.len()));
    for name in names {
        let figures: Vec<&str> = columns.iter().map(|column| column.figure(name).unwrap_or("-")).collect();
        let _ = writeln!(text, "| {name} | {} |", figures.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_columns_and_a_missing_figure_is_a_dash() {
        let column = |title: &str, figures: &[(&str, &str)]| Column {
            title: title.into(),
            figures: figures.iter().map(|(name, figure)| ((*name).into(), (*figure).into())).collect(),
        };
        let columns =
            [column("old", &[("lines", "2"), ("gone", "1")]), column("new", &[("lines", "3"), ("more", "4")])];
        let expected = "| | old | new |\n|---|---|---|\n| lines | 2 | 3 |\n| gone | 1 | - |\n| more | - | 4 |\n";
        assert_eq!(table(&columns), expected);
    }
}
