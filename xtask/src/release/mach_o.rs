//! What the headers of a program or library for macOS say, which is not run here: the oldest system, the signature, and
//! the libraries that it loads, all of which every macOS has. By `llvm-objdump --macho --private-headers`.

/// What a user needs to know of it, if macOS would load it.
pub(crate) fn judge(headers: &str, target: &str) -> Result<String, String> {
    let is_signed = headers.contains("LC_CODE_SIGNATURE");
    if target.starts_with("aarch64") && !is_signed {
        return Err("it has no signature, and Apple silicon loads nothing without one".into());
    }
    let oldest = oldest_macos(headers).ok_or("it names no oldest macOS")?;
    if oldest != OLDEST {
        return Err(format!("it is for macOS {oldest} and later, not for {OLDEST}"));
    }
    let loaded: Vec<&str> =
        headers.split("LC_LOAD_DYLIB").skip(1).filter_map(|one| one.split("name ").nth(1)?.split(' ').next()).collect();
    if let Some(foreign) = loaded.iter().find(|name| !name.starts_with("/usr/lib/") && !name.starts_with("/System/")) {
        return Err(format!("it loads {foreign}, which is no part of macOS"));
    }
    let signed = if is_signed { "signed ad hoc" } else { "not signed" };
    Ok(format!("macOS {oldest} or later, {signed}, {} libraries of the system", loaded.len()))
}

/// The load command's number: the one of a library's sources has the same name, and counts for nothing.
fn oldest_macos(text: &str) -> Option<&str> {
    let after = |command: &str, name: &str| text.split_once(command)?.1.split_once(name)?.1.lines().next();
    after("LC_BUILD_VERSION", "minos ").or_else(|| after("LC_VERSION_MIN_MACOSX", "version ")).map(str::trim)
}

/// The first macOS that has a Mac with Apple silicon. All of a release is built for it.
pub(crate) const OLDEST: &str = "11.0";

#[cfg(test)]
mod tests {
    use super::*;

    const HEADERS: &str = "\
Load command 6
          cmd LC_LOAD_DYLINKER
         name /usr/lib/dyld (offset 12)
      cmd LC_SOURCE_VERSION
  version 0.0
      cmd LC_BUILD_VERSION
    minos 11.0
      cmd LC_LOAD_DYLIB
         name /usr/lib/libSystem.B.dylib (offset 24)
      cmd LC_CODE_SIGNATURE
";

    #[test]
    fn what_macos_would_not_load_is_refused() {
        let judged = |from: &str, to: &str| judge(&HEADERS.replace(from, to), "aarch64-apple-darwin");
        assert!(
            judged("", "").is_ok_and(|said| said == "macOS 11.0 or later, signed ad hoc, 1 libraries of the system")
        );
        assert!(judged("/usr/lib/libSystem", "/opt/lib/libz").is_err_and(|why| why.contains("/opt/lib/libz")));
        assert!(judged("LC_CODE_SIGNATURE", "LC_NONE").is_err_and(|why| why.contains("no signature")));
        assert!(judged("minos 11.0", "minos 13.0").is_err_and(|why| why.contains("macOS 13.0")));
    }

    #[test]
    fn the_oldest_macos_is_not_the_version_of_the_sources() {
        let sources = "cmd LC_SOURCE_VERSION\n version 0.0\n";
        let old = format!("{sources}cmd LC_VERSION_MIN_MACOSX\n version 10.13\n sdk 11.0\n");
        assert_eq!(oldest_macos(&old), Some("10.13"));
        assert_eq!(oldest_macos(sources), None);
    }
}
