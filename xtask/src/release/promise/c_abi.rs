//! The interface of the C library: functions, numbers and structures, as its list has them.

use std::path::Path;

use super::{Lines, read};

/// The lines of the list; a field's with its structure.
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
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            Some(field) => drop(lines.insert(format!("{structure}.{field}"))),
            None => {
                structure = line.split(':').next().unwrap_or(line);
                lines.insert(line.to_owned());
            }
        }
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
    fn the_major_number_is_read_from_the_header() {
        assert_eq!(major_in("#define SKIPSTONE_ABI_VERSION ((2 << 16) + 5)\n"), Some(2));
        assert_eq!(major_in("#define OTHER 1\n"), None);
    }
}
