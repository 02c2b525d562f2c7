//! The order of modules as ARCHITECTURE.md shows it, generated between two comments.

use super::ranks::{RANKS, Ranks};
use crate::machine::tree::Tree;

/// The page that shows the order.
pub(crate) const PAGE: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- layers:begin -->\n";
const END: &str = "<!-- layers:end -->";

/// The fault of the page, if it has one.
pub(super) fn complaint(page: &str) -> Option<String> {
    match renewed(page, RANKS) {
        Some(renewed) if renewed == page => None,
        Some(_) => {
            Some(format!("{PAGE}: its layers are not those of the code; `cargo xtask layering --update` writes them"))
        }
        None => Some(format!("{PAGE}: has no place for the layers, between `{}` and `{END}`", BEGIN.trim())),
    }
}

/// Writes the order into the page.
pub(super) fn update(tree: &Tree) -> Result<(), String> {
    let path = tree.root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{PAGE} cannot be read: {error}"))?;
    let renewed = renewed(&page, RANKS).ok_or_else(|| complaint(&page).unwrap_or_default())?;
    std::fs::write(&path, renewed).map_err(|error| format!("{PAGE} cannot be written: {error}"))
}

fn renewed(page: &str, ranks: &[(&str, Ranks)]) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let lines: String = ranks.iter().filter(|(_, ranks)| !ranks.is_empty()).map(line).collect();
    Some(format!("{before}{BEGIN}{lines}{END}{after}"))
}

/// ``- `skipstone-gf256`: `solve > kernel > field` ``; the modules of one rank in braces.
fn line((folder, ranks): &(&str, Ranks)) -> String {
    let rank = |rank: &&[&str]| match rank {
        [module] => (*module).to_owned(),
        modules => format!("{{ {} }}", modules.join(" ")),
    };
    let order: Vec<String> = ranks.iter().map(rank).collect();
    format!("- `{}`: `{}`\n", folder.rsplit('/').next().unwrap_or(folder), order.join(" > "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_written_between_its_comments_and_nowhere_else() {
        let ranks: &[(&str, Ranks)] = &[("crates/a", &[&["x"], &["y", "z"]]), ("crates/b", &[])];
        let page = format!("before\n{BEGIN}old\n{END}\nafter\n");
        let renewed_page = renewed(&page, ranks).expect("it has both comments");
        assert_eq!(renewed_page, format!("before\n{BEGIN}- `a`: `x > {{ y z }}`\n{END}\nafter\n"));
        assert_eq!(renewed(&renewed_page, ranks), Some(renewed_page.clone()));
        assert_eq!(renewed("no comments", ranks), None);
    }
}
