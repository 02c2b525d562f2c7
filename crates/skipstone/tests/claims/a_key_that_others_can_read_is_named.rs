//! A key file that users other than its owner can read is reported, so that an application can warn of it.

use skipstone::Identity;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

#[test]
fn permissions_are_checked_in_every_way_of_reading_it() {
    let file = std::env::temp_dir().join(format!("skipstone-key-{}.pem", std::process::id()));
    let made = Identity::self_signed_kept_in(&file).expect("it is made");
    assert_eq!(made.open_key_file(), None, "it is made for its owner");
    for (mode, is_open) in [(0o640, true), (0o604, true), (0o660, true), (0o600, false), (0o400, false)] {
        set_permissions(&file, Permissions::from_mode(mode)).expect("it is ours");
        for read in [Identity::self_signed_kept_in(&file), Identity::from_files(&file, None)] {
            let read = read.expect("it is good");
            assert_eq!(read.open_key_file(), is_open.then_some(file.as_path()), "{mode:o}");
        }
    }
    std::fs::remove_file(file).expect("it is ours");
}
