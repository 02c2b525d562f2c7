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
            "timestamp": release.time.iso_8601,
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

#[cfg(test)]
mod tests {
    use super::*;

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
