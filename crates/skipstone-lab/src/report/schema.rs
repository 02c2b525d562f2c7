//! JSON schemas from types, for the tests that compare them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};

/// The schema of what is written, 2020-12.
pub(crate) fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}
