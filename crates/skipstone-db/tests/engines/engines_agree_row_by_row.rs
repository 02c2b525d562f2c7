use crate::servers::{TestDatabase, engines};
use serde_json::Value;
use skipstone_db::run_line_json;

/// Every output of the commands, and the rows that they leave.
const COMMANDS: [&str; 14] = [
    "create",
    "add 1200 --seed 7",
    "add 11 --seed 8",
    "stats",
    "show 1",
    "show 1211",
    "seek 300 --seed 3",
    "update 60 --seed 4",
    "seek 300 --seed 3",
    "stats",
    "rank 5000",
    "delete",
    "delete --yes",
    "create",
];

fn answers(database: &TestDatabase) -> Vec<Value> {
    let answer = |line: &&str| {
        let answer = run_line_json(&database.url, line).unwrap_or_else(|error| panic!("{line}: {error}"));
        answer["result"].clone()
    };
    COMMANDS.iter().map(answer).collect()
}

#[test]
fn every_command_gives_the_same_output_and_rows_on_every_engine() {
    let mut first: Option<Vec<Value>> = None;
    for engine in engines() {
        let database = TestDatabase::start(engine);
        let found = answers(&database);
        let rows = found[10]["score"].as_array().expect("a ranking");
        assert_eq!((rows.len(), found[10]["rating"].as_array().map(Vec::len)), (1_211, Some(1_211)));
        assert_eq!(found[3]["accounts"], 1_211);
        assert_ne!(found[6]["digest"], found[8]["digest"], "updates change what is found");
        for (line, (one, other)) in COMMANDS.iter().zip(found.iter().zip(first.get_or_insert(found.clone()))) {
            assert_eq!(one, other, "{engine:?}: {line}");
        }
    }
}

#[test]
fn a_bench_finds_every_row_correct() {
    for engine in engines() {
        let database = TestDatabase::start(engine);
        let found = run_line_json(&database.url, "bench --records 2000 --each 25ms --change-server").expect("it runs");
        assert_eq!(found["verdict"], "pass", "{engine:?}: {}", found["reasons"]);
        let stages = found["stages"].as_array().expect("stages");
        assert!(stages.len() >= 3, "{engine:?}");
        for stage in stages {
            assert_eq!(stage["rows_wrong"], 0);
            assert!(
                stage["rows_verified"].as_i64() >= Some(2_000) && stage["bytes"].as_i64() > Some(50_000),
                "{stage}"
            );
        }
    }
}
