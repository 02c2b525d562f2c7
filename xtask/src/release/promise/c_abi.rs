//! The interface of the C library: functions, numbers and structures, as its list has them.

use std::path::Path;

use super::lines::{Lines, read};

/// The lines of the list; a field's with its structure. A structure that begins with its size may grow at its end.
pub(super) fn lines(folder: &Path) -> Result<Lines, String> {
    Ok(whole(&read(folder, "crates/skipstone-ffi/abi.txt")?))
}

/// The number that a program and the library must share.
pub(super) fn major(folder: &Path) -> Result<Vec<u32>, String> {
    let header = read(folder, "crates/skipstone-ffi/include/skipstone.h")?;
    major_in(&header).map(|major| vec![major]).ok_or_else(|| "skipstone.h has no SKIPSTONE_ABI_VERSION".into())
}

fn whole(list: &str) -> Lines {
    let mut structure = "";
    let mut lines = Lines::new();
    let mut list = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    while let Some(line) = list.next() {
        if let Some(field) = line.strip_prefix("  ") {
            lines.insert(format!("{structure}.{field}"));
            continue;
        }
        structure = line.split(':').next().unwrap_or(line);
        let grows = list.peek().is_some_and(|next| next.starts_with("  size: "));
        lines.insert(if grows { format!("{structure}: grows") } else { line.to_owned() });
    }
    lines
}

/// In `#define SKIPSTONE_ABI_VERSION ((1 << 16) + 5)`.
fn major_in(header: &str) -> Option<u32> {
    let (_, after) = header.split_once("#define SKIPSTONE_ABI_VERSION ((")?;
    after.split_once(" << 16)")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_listed_with_its_structure() {
        let lines = whole("# Made\n\nint f(void);\nA: 8 bytes\n  x: 4 bytes at 0\nB: 8 bytes\n  x: 4 bytes at 0\n");
        assert_eq!(lines.len(), 5);
        assert!(lines.contains("A.x: 4 bytes at 0") && lines.contains("B.x: 4 bytes at 0"), "{lines:?}");
    }

    #[test]
    fn a_structure_that_begins_with_its_size_may_grow_and_others_may_not() {
        let lines = whole("A: 8 bytes\n  size: 4 bytes at 0\nB: 8 bytes\n  x: 8 bytes at 0\n");
        assert!(lines.contains("A: grows") && lines.contains("B: 8 bytes"), "{lines:?}");
    }

    #[test]
    fn the_major_number_is_read_from_the_header() {
        assert_eq!(major_in("#define SKIPSTONE_ABI_VERSION ((2 << 16) + 5)\n"), Some(2));
        assert_eq!(major_in("#define OTHER 1\n"), None);
    }
}
