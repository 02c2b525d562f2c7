//! The bytes of the wire, as the golden vectors have them. The handshakes in `tls.txt` are made anew at times, and are
//! left to the step `vectors`.

use std::path::Path;

use serde_json::Value;

use super::lines::{Lines, read};

/// Each datagram and each message of moves: its bytes and its meaning.
pub(super) fn lines(folder: &Path) -> Result<Lines, String> {
    let mut lines = Lines::new();
    for path in ["vectors/golden.json", "vectors/moves.json"] {
        let vectors: Value = serde_json::from_str(&read(folder, path)?)
            .map_err(|error| format!("{path} of {}: {error}", folder.display()))?;
        lines.extend(vectors.as_array().into_iter().flatten().map(line));
    }
    Ok(lines)
}

/// The version in the title of the page.
pub(super) fn version(folder: &Path) -> Result<Vec<u32>, String> {
    let page = read(folder, "WIRE.md")?;
    let version = page.lines().next().and_then(|title| title.rsplit(' ').next()?.parse().ok());
    version.map(|version| vec![version]).ok_or_else(|| "the title of WIRE.md names no version".into())
}

/// A vector's name may be improved, and its hexadecimal digits may be grouped otherwise.
fn line(vector: &Value) -> String {
    let mut vector = vector.clone();
    let hex: String = vector["hex"].as_str().unwrap_or_default().split_whitespace().collect();
    if let Some(fields) = vector.as_object_mut() {
        fields.remove("name");
        fields.remove("hex");
    }
    format!("{hex} {vector}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bytes_and_meaning_make_a_vector_and_its_name_does_not() {
        let vector = json!({ "name": "a", "hex": "81 00", "expect": "malformed" });
        let renamed = json!({ "name": "b", "hex": "8100", "expect": "malformed" });
        let changed = json!({ "name": "a", "hex": "81 00", "expect": { "kind": "HELLO" } });
        assert_eq!(line(&vector), line(&renamed));
        assert_ne!(line(&vector), line(&changed));
    }
}
