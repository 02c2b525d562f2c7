//! Names that become parts of paths and commands: only plain characters are accepted.

/// A name of a deployment, a build, a target, a release or a service.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'@');
    let begins_well = name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    if begins_well && name.bytes().all(is_plain) && !name.contains("..") && name.len() <= 64 {
        return Ok(());
    }
    let shown = name.escape_debug();
    Err(format!(
        "{what} '{shown}': a name has letters, digits, '.', '_' and '-', begins with a letter or a digit, and has no \
         '..'"
    ))
}

/// A path of plain names: absolute for a target's directory, relative for an artifact.
pub(crate) fn check_path(what: &str, path: &str, kind: PathKind) -> Result<(), String> {
    let shown = path.escape_debug();
    let names = match kind {
        PathKind::Absolute => {
            path.strip_prefix('/').ok_or_else(|| format!("{what} '{shown}': write it from the root: /srv/game"))?
        }
        PathKind::Relative if path.starts_with('/') => {
            return Err(format!("{what} '{shown}': write it from the top of the repository: target/release/game"));
        }
        PathKind::Relative => path,
    };
    let count = names.split('/').count();
    if kind == PathKind::Absolute && count < 2 {
        return Err(format!("{what} '{shown}': a directory of its own, two levels below the root at least: /srv/game"));
    }
    let plain = names.split('/').try_for_each(|name| check_name("part", name));
    plain.map_err(|error| format!("{what} '{shown}': {error}"))
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathKind {
    Absolute,
    Relative,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_dots_and_words_of_the_shell_are_refused() {
        for name in ["", " ", "a b", "..", "a..b", "-rf", ".hidden", "a/b", "a;b", "$(x)", "a\nb", "'", "ü"] {
            let error = check_name("target", name).expect_err(name);
            assert!(error.starts_with("target '") && error.contains("begins with a letter"), "{error}");
        }
        for name in ["eu1", "game-server.service", "20261123T060000Z-1a2b3c4", "a@1", "a_b", &"a".repeat(64)] {
            check_name("target", name).expect(name);
        }
        assert!(check_name("target", &"a".repeat(65)).is_err(), "a path has a limit");
    }

    #[test]
    fn a_directory_must_be_dedicated() {
        for path in ["/", "/srv", "srv/game", "/srv/../etc", "/srv//game", "/srv/my game", "/srv/game/", "/srv/~root"] {
            assert!(check_path("directory", path, PathKind::Absolute).is_err(), "{path}");
        }
        for path in ["/etc/passwd", "../x", "a/./b", "-x", ""] {
            assert!(check_path("artifact", path, PathKind::Relative).is_err(), "{path}");
        }
        check_path("directory", "/srv/game", PathKind::Absolute).expect("plain");
        check_path("artifact", "target/release/game", PathKind::Relative).expect("plain");
    }
}
