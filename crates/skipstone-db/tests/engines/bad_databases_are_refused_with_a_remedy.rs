use crate::servers::{Engine, TestDatabase, engines};
use skipstone_db::{DatabaseUrl, Recorder, run_line, run_line_json};

fn url(text: &str) -> DatabaseUrl {
    DatabaseUrl::with_secrets(text).expect("a good URL")
}

#[test]
fn missing_databases_and_tables_are_named_with_the_command_that_creates_them() {
    let folder = std::env::temp_dir().join(format!("skipstone-db-bad-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (missing, text) = (folder.join("missing.db"), folder.join("text.db"));
    let error = |url: &DatabaseUrl, line| run_line(url, line).expect_err("nothing is there");
    let none = url(&format!("sqlite:{}", missing.display()));
    assert!(error(&none, "stats").contains("create"), "{}", error(&none, "stats"));
    assert!(!missing.exists(), "asking makes no file");
    std::fs::write(&text, "This is a text of a hundred bytes and more, and no database at all. ".repeat(20))
        .expect("a file");
    let no_database = error(&url(&format!("sqlite:{}", text.display())), "stats");
    assert!(no_database.contains("not an SQLite database"), "{no_database}");
    let nowhere = url(&format!("sqlite:{}/no/such/folder/t.db", folder.display()));
    assert!(error(&nowhere, "create").contains("there is no folder"), "{}", error(&nowhere, "create"));
    run_line(&none, "create").expect("now it may be made");
    assert!(error(&none, "show 1").contains("no account 1") && error(&none, "seek 1").contains("add 50000"));
    assert!(error(&none, "fly").contains("unrecognized") && error(&none, "add many").contains("many"));
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_check_finds_a_file_that_cannot_be_written_to_and_changes_nothing() {
    let folder = std::env::temp_dir().join(format!("skipstone-db-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("t.db");
    for scheme in ["sqlite", "sqlite+sqlx"] {
        let database = url(&format!("{scheme}:{}", file.display()));
        run_line(&database, "create").expect("it may");
        let before = std::fs::read(&file).expect("it is there");
        assert_eq!(Recorder::check(&database), Ok(()));
        assert_eq!(std::fs::read(&file).expect("it is there"), before);
        // A write version of the future, byte 18 of the file: SQLite opens it, and may only read.
        let future = [&before[..18], &[3], &before[19..]].concat();
        std::fs::write(&file, future).expect("it is ours");
        let error = Recorder::check(&database).expect_err("it may only be read");
        assert!(error.contains("grant write access"), "{error}");
        std::fs::remove_file(&file).expect("it is ours");
    }
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn an_unused_port_is_reported_without_the_password() {
    for scheme in ["mysql", "postgres"] {
        let absent = url(&format!("{scheme}://me:hunter2@127.0.0.1:1/game"));
        let error = run_line(&absent, "stats").expect_err("no server is there");
        assert!(error.contains("running") && !error.contains("hunter2"), "{error}");
        let error = Recorder::start(absent, 1_000).err().expect("no server is there");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn a_wrong_password_is_distinguished_from_a_missing_table() {
    for engine in engines() {
        let database = TestDatabase::start(engine);
        if matches!(engine, Engine::Mariadb | Engine::Postgres) {
            let text = database.url.to_string().replace("skipstone@", "skipstone:hunter2@");
            let error = run_line(&url(&text), "stats").expect_err("it is wrong");
            assert!(error.contains("SKIPSTONE_DB_PASSWORD") && !error.contains("hunter2"), "{error}");
        }
        run_line(&database.url, "create").expect("it may");
        run_line(&database.url, "delete --yes").expect("it may");
        let error = run_line(&database.url, "stats").expect_err("the tables are gone");
        assert!(error.contains("create"), "{engine:?}: {error}");
    }
}

#[test]
fn a_bench_that_could_not_measure_is_marked_as_partial_and_shows_no_password() {
    let absent = url("postgres://me:hunter2@127.0.0.1:1/game");
    let line = "bench --records 100 --each 10ms";
    let text = run_line(&absent, line).expect("a table");
    assert!(text.contains("PARTIAL") && text.contains("running") && !text.contains("hunter2"), "{text}");
    let json = run_line_json(&absent, line).expect("a result");
    assert_eq!((json["is_partial"].as_bool(), json["verdict"].as_str()), (Some(true), Some("fail")), "{json}");
}

#[test]
fn a_bench_of_few_accounts_finds_no_wrong_answers() {
    for engine in engines() {
        let database = TestDatabase::start(engine);
        let json = run_line_json(&database.url, "bench --records 100 --each 10ms").expect("a result");
        assert_eq!(
            (json["is_partial"].as_bool(), json["reasons"].as_array().map(Vec::len)),
            (Some(false), Some(0)),
            "{json}"
        );
    }
}
