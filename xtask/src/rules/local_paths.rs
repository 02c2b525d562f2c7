//! No file contains a path that exists only on the machine of one developer.

use crate::machine::files::File;

/// Lines that contain such a path, each as `path:line: what`.
pub(crate) fn breaches(files: &[File]) -> Vec<String> {
    let patterns = patterns();
    let mut breaches = Vec::new();
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(pattern) = patterns.iter().find(|pattern| names(line, pattern)) {
                breaches.push(format!("{}:{}: names `{pattern}`", file.path, index + 1));
            }
        }
    }
    breaches
}

/// Beginnings of paths, put together from pieces so that this file does not hold them itself.
fn patterns() -> Vec<String> {
    let pieces: &[&[&str]] =
        &[&["/wo", "rk/"], &["/ro", "ot/"], &["/ho", "me/"], &["/Us", "ers/"], &["/tmp/ba", "sh_jobs"]];
    pieces.iter().map(|pieces| pieces.concat()).collect()
}

/// Whether a path in `line` begins with `pattern`: not in the middle of a longer path or an address.
fn names(line: &str, pattern: &str) -> bool {
    line.match_indices(pattern).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|character| character.is_alphanumeric() || "._-".contains(character))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<String> {
        breaches(&[File { path: "notes.md".into(), text: text.into() }])
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        for pattern in patterns() {
            assert_eq!(check(&format!("fine\nsee {pattern}x")).len(), 1, "{pattern}");
            assert!(check(&format!("fine\n({pattern}x)"))[0].starts_with("notes.md:2: "));
            assert_eq!(check(&format!("{pattern}x")).len(), 1, "{pattern}");
        }
    }

    #[test]
    fn longer_paths_and_addresses_are_fine() {
        for pattern in patterns() {
            assert_eq!(check(&format!("https://example.org{pattern}x")), Vec::<String>::new());
            assert_eq!(check(&format!("file://{pattern}x")).len(), 1);
        }
        assert_eq!(check("it should work/run at home/away"), Vec::<String>::new());
    }

    #[test]
    fn this_file_passes_its_own_check() {
        assert_eq!(check(include_str!("local_paths.rs")), Vec::<String>::new());
    }
}
