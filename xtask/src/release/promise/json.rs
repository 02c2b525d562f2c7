//! The JSON that the tool writes, as its schemas describe it: each field's path, its types, and the values of those that
//! have a list of them.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::lines::{Lines, read};

/// The lines of all schemas.
pub(super) fn lines(folder: &Path) -> Result<Lines, String> {
    let schemas = folder.join(SCHEMAS);
    let entries = std::fs::read_dir(&schemas).map_err(|error| format!("{}: {error}", schemas.display()))?;
    let mut lines = Lines::new();
    for name in entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        let Some(title) = name.strip_suffix(".schema.json") else { continue };
        let schema: Value =
            serde_json::from_str(&read(&schemas, &name)?).map_err(|error| format!("{name}: {error}"))?;
        Walk { root: &schema, open: Vec::new(), lines: &mut lines }.at(&schema, title);
    }
    Ok(lines)
}

/// Goes through a schema.
struct Walk<'a> {
    root: &'a Value,
    /// The references that are being followed: a type may contain itself.
    open: Vec<&'a str>,
    lines: &'a mut Lines,
}

impl<'a> Walk<'a> {
    fn at(&mut self, schema: &'a Value, path: &str) {
        if let Some(reference) = schema["$ref"].as_str() {
            if self.open.contains(&reference) {
                self.lines.insert(format!("{path}: as {reference}"));
                return;
            }
            self.open.push(reference);
            self.at(self.target(reference), path);
            self.open.pop();
        }
        self.lines.extend(listed(&schema["const"], &schema["enum"]).map(|value| format!("{path} = {value}")));
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let field_path = format!("{path}.{name}");
            let is_required = schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
            let types: Vec<&str> = self.types(field).into_iter().collect();
            let at_times = if is_required { "" } else { ", may be missing" };
            self.lines.insert(format!("{field_path}: {}{at_times}", types.join(" or ")));
            self.at(field, &field_path);
        }
        if schema["items"].is_object() {
            self.at(&schema["items"], &format!("{path}[]"));
        }
        if schema["additionalProperties"].is_object() {
            self.at(&schema["additionalProperties"], &format!("{path}.*"));
        }
        variants(schema).for_each(|variant| self.at(variant, path));
    }

    /// The types that a value may have, through references.
    fn types(&self, schema: &'a Value) -> BTreeSet<&'a str> {
        let own = schema["type"].as_str().into_iter();
        let several = schema["type"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut types: BTreeSet<&str> = own.chain(several).collect();
        if let Some(reference) = schema["$ref"].as_str() {
            types.extend(self.types(self.target(reference)));
        }
        types.extend(variants(schema).flat_map(|variant| self.types(variant)));
        types
    }

    fn target(&self, reference: &str) -> &'a Value {
        reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)).unwrap_or(&Value::Null)
    }
}

fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf", "allOf"].into_iter().flat_map(|name| schema[name].as_array().into_iter().flatten())
}

fn listed<'a>(one: &'a Value, several: &'a Value) -> impl Iterator<Item = &'a Value> {
    Some(one).filter(|value| !value.is_null()).into_iter().chain(several.as_array().into_iter().flatten())
}

const SCHEMAS: &str = "crates/skipstone-lab/schema";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines_of(schema: &Value) -> Vec<String> {
        let mut lines = Lines::new();
        Walk { root: schema, open: Vec::new(), lines: &mut lines }.at(schema, "a");
        lines.into_iter().collect()
    }

    #[test]
    fn fields_have_their_path_and_types_through_references() {
        let schema = json!({
            "properties": { "rows": { "type": "array", "items": { "$ref": "#/$defs/Row" } } },
            "required": ["rows"],
            "$defs": { "Row": { "properties": { "p99": { "type": ["number", "null"] }, "kind": { "enum": ["x", "y"] } } } },
        });
        let lines = lines_of(&schema);
        assert!(lines.contains(&"a.rows: array".into()), "{lines:?}");
        assert!(lines.contains(&"a.rows[].p99: null or number, may be missing".into()), "{lines:?}");
        assert!(lines.contains(&"a.rows[].kind = \"x\"".into()), "{lines:?}");
    }

    #[test]
    fn a_type_that_contains_itself_ends() {
        let schema = json!({
            "$ref": "#/$defs/Node",
            "$defs": { "Node": { "properties": { "next": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] } } } },
        });
        assert!(lines_of(&schema).contains(&"a.next: as #/$defs/Node".into()));
    }
}
