//! The JSON schemas in `schema/` match the types. If they do not, this test rewrites them and fails once; with
//! `SKIPSTONE_UPDATE=1` it rewrites them and passes.

use crate::bench::result::Bench;
use crate::compare::result::Comparison;
use crate::report::bots::{BotsLimit, BotsResult};
use crate::report::connects::ConnectsResult;
use crate::report::schema::schema_of;
use crate::report::stress::result::StressResult;
use crate::sweep::result::Sweep;

#[test]
fn schemas_match_the_types() {
    let schemas = [
        ("stress", schema_of::<StressResult>()),
        ("bots", schema_of::<BotsResult>()),
        ("bots-limit", schema_of::<BotsLimit>()),
        ("connects", schema_of::<ConnectsResult>()),
        ("compare", schema_of::<Comparison>()),
        ("bench", schema_of::<Bench>()),
        ("sweep", schema_of::<Sweep>()),
    ];
    let mut stale = Vec::new();
    for (name, schema) in schemas {
        let path = format!("{}/schema/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
        if std::fs::read_to_string(&path).unwrap_or_default() != schema {
            std::fs::write(&path, schema).expect("the schema can be written");
            stale.push(path);
        }
    }
    let is_update = std::env::var_os("SKIPSTONE_UPDATE").is_some();
    assert!(stale.is_empty() || is_update, "written anew, to be committed: {stale:?}");
}
