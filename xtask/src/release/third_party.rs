//! THIRD-PARTY-LICENSES.txt: the crates of others in an artifact, and the texts under which they may be distributed. A
//! text that several crates share is there once.

use std::collections::BTreeMap;
use std::path::Path;

use super::contents::Dependency;
use super::plan::write;

/// Writes the file.
pub(crate) fn write_licences(to: &Path, dependencies: &[Dependency]) -> Result<(), String> {
    write(to, text(dependencies))
}

fn text(dependencies: &[Dependency]) -> String {
    let mut text = String::from(INTRODUCTION);
    let mut of_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Dependency { package, .. } in dependencies {
        let name = format!("{} {}", package.name, package.version);
        let licence = package.license.clone().unwrap_or_else(|| "see its text below".into());
        let home = package.repository.as_deref().or(package.homepage.as_deref()).unwrap_or("no address");
        text += &format!("{name}: {licence}\n    {home}\n");
        let folder = package.manifest_path.as_std_path().parent().unwrap_or(Path::new("."));
        for own in texts(folder) {
            of_text.entry(own).or_default().push(name.clone());
        }
    }
    let mut shared: Vec<(Vec<String>, String)> = of_text.into_iter().map(|(own, names)| (names, own)).collect();
    shared.sort();
    for (names, own) in shared {
        text += &format!("\n{LINE}\n{}\n{LINE}\n\n{}\n", names.join(", "), own.trim_end());
    }
    text
}

/// The texts in the folder of a crate, in the order of their names.
fn texts(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |name: &str| BEGINNINGS.iter().any(|beginning| name.to_uppercase().starts_with(beginning));
    let mut files: Vec<_> = entries.filter(|entry| is_one(&entry.file_name().to_string_lossy())).collect();
    files.sort_by_key(std::fs::DirEntry::file_name);
    // A folder of that name is not read, and a text in another encoding is shown as far as it can be.
    let texts = files.iter().filter_map(|file| std::fs::read(file.path()).ok());
    texts.map(|bytes| String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned()).collect()
}

const BEGINNINGS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
const LINE: &str = "--------------------------------------------------------------------------------";
const INTRODUCTION: &str = "\
Skipstone is licensed under MIT or Apache-2.0, at your choice. This artifact also contains the crates below, each under
its own licence; the texts that they come with follow the list.

";
