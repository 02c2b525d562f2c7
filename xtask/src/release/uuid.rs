//! The identifier by which macOS, Windows and debuggers match a program or library with its debug data. zig's linkers
//! compute it of what names folders of the machine, so that two clones would differ in these 16 bytes alone.

use std::path::Path;

use super::plan::Release;

/// Replaces it by one of the commit and of what is built. A signature must be made anew after it. A program for Windows
/// may have none, as it has no debug data.
pub(crate) fn replace(file: &Path, built: &str, release: &Release) -> Result<(), String> {
    let mut bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let is_windows = bytes.starts_with(b"MZ");
    let place = if is_windows { on_windows(&bytes) } else { on_macos(&bytes) };
    if is_windows && place.is_none() && !bytes.windows(4).any(|mark| mark == b"RSDS") {
        return Ok(());
    }
    let place = place.ok_or_else(|| format!("{} has neither an LC_UUID nor a build id", file.display()))?;
    bytes[place..place + LENGTH].copy_from_slice(&uuid(&release.revision, built));
    std::fs::write(file, bytes).map_err(|error| format!("{}: {error}", file.display()))
}

/// Of version 8 (RFC 9562): 96 bits of the commit, and 32 of the name.
fn uuid(revision: &str, built: &str) -> [u8; LENGTH] {
    let mut uuid = [0; LENGTH];
    let digits = |at: usize| revision.get(2 * at..2 * at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    uuid.iter_mut().enumerate().for_each(|(at, byte)| *byte = digits(at).unwrap_or(0));
    // FNV-1a.
    let hash = built.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    uuid[12..].copy_from_slice(&hash.to_be_bytes());
    uuid[6] = uuid[6] & 0x0F | 0x80;
    uuid[8] = uuid[8] & 0x3F | 0x80;
    uuid
}

/// Where it begins in a program or library for Windows that lld has linked: behind the mark of the record.
fn on_windows(file: &[u8]) -> Option<usize> {
    let record = |bytes: &[u8]| bytes.starts_with(b"RSDS") && bytes.ends_with(b"LLD PDB.");
    file.windows(4 + LENGTH).position(record).map(|at| at + 4)
}

/// Where it begins in a Mach-O file of 64 bits.
fn on_macos(file: &[u8]) -> Option<usize> {
    let number = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
    let mut at = HEADER;
    for _ in 0..number(COMMANDS)? {
        let (command, size) = (number(at)?, number(at + 4)?);
        if command == LC_UUID && size as usize == 8 + LENGTH && at + 8 + LENGTH <= file.len() {
            return Some(at + 8);
        }
        at += size as usize;
    }
    None
}

const LENGTH: usize = 16;
/// The bytes before the first load command, and where their count is.
const HEADER: usize = 32;
const COMMANDS: usize = 16;
const LC_UUID: u32 = 0x1B;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identifier_is_found_behind_other_commands() {
        let mut file = vec![0; HEADER];
        file[COMMANDS] = 2;
        for (command, size) in [(0x2_u32, 12_u32), (LC_UUID, 24)] {
            file.extend(command.to_le_bytes());
            file.extend(size.to_le_bytes());
            file.extend(vec![7; size as usize - 8]);
        }
        assert_eq!(on_macos(&file), Some(HEADER + 12 + 8));
        file.pop();
        assert_eq!(on_macos(&file), None);
        assert_eq!(on_macos(&[]), None);
    }

    #[test]
    fn the_identifier_of_windows_is_found_behind_its_mark() {
        assert_eq!(on_windows(b"MZ..RSDS..RSDS12345678LLD PDB.\x01"), Some(14));
        assert_eq!(on_windows(b"MZ..RSDS12345678"), None);
    }

    #[test]
    fn each_commit_and_each_file_has_an_identifier_of_its_own() {
        let of = |revision: &str, built| uuid(&revision.repeat(20), built);
        assert_eq!(of("ab", "lib"), of("ab", "lib"));
        assert_ne!(of("ab", "lib"), of("ac", "lib"));
        assert_ne!(of("ab", "lib"), of("ab", "tool"));
        assert_eq!((of("ff", "lib")[6], of("ff", "lib")[8]), (0x8F, 0xBF));
    }
}
