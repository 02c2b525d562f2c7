//! Permissions of files that hold a private key.

use std::path::Path;

/// Whether users other than its owner can read a file, where the system has such permissions.
#[cfg(unix)]
pub(super) fn is_open_to_others(path: &Path) -> bool {
    const OTHERS: u32 = 0o077;
    std::fs::metadata(path).is_ok_and(|file| std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & OTHERS != 0)
}

/// File permissions are not checked on this system.
#[cfg(not(unix))]
pub(super) fn is_open_to_others(_: &Path) -> bool {
    false
}
