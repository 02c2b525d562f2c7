//! The parts of a release, in the order in which they are made.

use super::plan::Part;
use super::{c, crates, csharp, emulated, go, notes, npm, python, tool, unity};

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Part> {
    let native = [tool::PARTS, c::PARTS, csharp::PARTS, unity::PARTS, python::PARTS, go::PARTS, npm::PARTS];
    native.into_iter().chain([crates::PARTS, notes::PARTS, emulated::PARTS]).flatten()
}

/// Those that `--only` names, a comma between two, in the order of the list. A name stands for all that begin with it
/// and a dash, too: `tool` for every `tool-…`.
pub(super) fn chosen(only: Option<&str>) -> Result<Vec<&'static Part>, String> {
    let Some(only) = only else { return Ok(all().collect()) };
    let names: Vec<&str> = only.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let is_named = |part: &Part, name: &str| {
        part.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    if let Some(unknown) = names.iter().find(|name| !all().any(|part| is_named(part, name))) {
        return Err(format!("no part of the release is called `{unknown}`: cargo xtask release --list"));
    }
    Ok(all().filter(|part| names.iter().any(|name| is_named(part, name))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_by_name_or_by_its_first_words() {
        let names = |only| chosen(Some(only)).map(|parts| parts.iter().map(|part| part.name).collect::<Vec<_>>());
        assert_eq!(names("tool-linux-x86_64"), Ok(vec!["tool-linux-x86_64"]));
        assert!(names("tool").is_ok_and(|all| all.len() > 1));
        assert!(names("too").is_err_and(|why| why.contains("--list")));
    }

    #[test]
    fn every_part_has_a_name_of_its_own() {
        let mut names: Vec<&str> = all().map(|part| part.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
