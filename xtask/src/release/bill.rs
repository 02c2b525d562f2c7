//! The bill of materials of an artifact, in CycloneDX's JSON: the crates in it with versions, licences and checksums.
//! It has no serial number, which would differ from run to run.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::contents::Dependency;
use super::plan::{Release, write};

/// Writes `ARTIFACT.cdx.json` next to the artifact, and returns it.
pub(crate) fn write_bill(artifact: &Path, dependencies: &[Dependency], release: &Release) -> Result<PathBuf, String> {
    let name = artifact.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let to = release.artifact(&format!("{name}.cdx.json"));
    let text = serde_json::to_string_pretty(&bill(&name, dependencies, release)).map_err(|error| error.to_string())?;
    write(&to, text + "\n").map(|()| to)
}

fn bill(name: &str, dependencies: &[Dependency], release: &Release) -> Value {
    let root = format!("pkg:generic/{name}@{}", release.version);
    let components: Vec<Value> = dependencies.iter().map(component).collect();
    let references: Vec<&Value> = components.iter().map(|component| &component["bom-ref"]).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": moment(release.epoch),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": name,
                "version": release.version,
                "licenses": [{ "expression": env!("CARGO_PKG_LICENSE") }],
                "externalReferences": [{ "type": "vcs", "url": env!("CARGO_PKG_REPOSITORY") }],
                "properties": [{ "name": "revision", "value": release.revision }],
            },
        },
        "dependencies": [{ "ref": root, "dependsOn": references }],
        "components": components,
    })
}

fn component(Dependency { package, checksum }: &Dependency) -> Value {
    let url = format!("pkg:cargo/{}@{}", package.name, package.version);
    let mut component = json!({
        "type": "library",
        "bom-ref": url,
        "name": package.name.as_str(),
        "version": package.version.to_string(),
        "purl": url,
    });
    if let Some(licence) = &package.license {
        // A slash is an old way to write OR, which CycloneDX does not know.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(checksum) = checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

/// Seconds since 1970 as ISO 8601 in UTC, by Howard Hinnant's `civil_from_days`.
fn moment(epoch: u64) -> String {
    let (days, second) = (epoch / 86_400 + 719_468, epoch % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // March is the first month, so that the leap day is the last of a year.
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_people_read_it() {
        assert_eq!(moment(0), "1970-01-01T00:00:00Z");
        assert_eq!(moment(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(moment(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(moment(1_795_824_000), "2026-11-28T00:00:00Z");
    }

    #[test]
    fn a_bill_names_each_crate_with_licence_and_checksum() {
        let package = crate::machine::packages::package(json!({ "license": "MIT/Apache-2.0" }));
        let dependency = Dependency { package, checksum: Some("00ff".into()) };
        let bill = bill("a.zip", &[dependency], &Release::for_tests("work".into()));
        let component = &bill["components"][0];
        assert_eq!(component["purl"], "pkg:cargo/a@0.1.0");
        assert_eq!(component["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(component["hashes"][0]["content"], "00ff");
        assert_eq!(bill["dependencies"][0]["dependsOn"][0], component["bom-ref"]);
        assert_eq!(bill["metadata"]["timestamp"], "1970-01-01T00:00:00Z");
    }
}
