use super::client::Stage;

const GOOD: &str = r#"{"text":"hello"}"#;

#[test]
fn commands_of_the_page_run_as_console_commands() {
    let stage = Stage::new();
    assert_eq!(stage.post("/api/say", r#"{"text":" a\u001b[2J\nb "}"#).0, 200);
    assert_eq!(stage.post("/api/kick", r#"{"id":"1.2","reason":"too loud\nstop"}"#).0, 200);
    assert_eq!(stage.post("/api/kick", r#"{"id":"1.2"}"#).0, 200);
    assert_eq!(stage.post("/api/stress/start", r#"{"clients":0,"rate":"5/s","duration":"","mix":""}"#).0, 200);
    assert_eq!(stage.post("/api/stress/stop", "{}").0, 200);
    let wanted =
        ["say a␛[2J b", "kick 1.2 too loud stop", "kick 1.2 kicked from the dashboard", "stress on 5/s", "stress off"];
    assert_eq!(stage.orders.taken(), wanted, "one line each, whatever was typed");
    let (status, answer) = stage.post("/api/kick", r#"{"id":"1.2","reason":"nobody"}"#);
    assert!(status == 409 && answer.contains(r#"{"error":"no client"}"#), "{answer}");
}

#[test]
fn a_page_without_figures_gives_no_table() {
    let stage = Stage::new();
    let own = format!("origin: http://{}", stage.address);
    let json = "content-type: application/json";
    let attempts: [&[&str]; 7] = [
        &[json, &own],
        &["x-skipstone: 1", json, "origin: http://evil.example"],
        &["x-skipstone: 1", json, "origin: null"],
        &["x-skipstone: 1", json, &own, "sec-fetch-site: cross-site"],
        &["x-skipstone: 1", json, &own, "sec-fetch-site: same-site"],
        &["x-skipstone: 1", "content-type: text/plain", &own],
        &["x-skipstone: 1", &own],
    ];
    for headers in attempts {
        let (status, answer) = stage.ask("POST /api/say", headers, GOOD);
        assert!(matches!(status, 403 | 415), "{headers:?}: {answer}");
    }
    let (status, answer) =
        stage.ask("OPTIONS /api/say", &["origin: http://evil.example", "access-control-request-method: POST"], "");
    assert!(status == 403 && !answer.contains("access-control-allow"), "{answer}");
    assert_eq!(stage.orders.taken(), Vec::<String>::new());
    for foreign in ["sec-fetch-site: cross-site", "origin: http://evil.example"] {
        assert_eq!(stage.ask("GET /metrics", &[foreign], "").0, 403, "no work is done for it");
    }
    assert_eq!(stage.ask("GET /metrics", &["sec-fetch-site: none"], "").0, 200, "an address that was typed");
}

#[test]
fn nothing_changes_by_get() {
    let stage = Stage::new();
    for path in ["/api/say", "/api/kick", "/api/stress/start", "/api/stress/stop"] {
        let (status, answer) = stage.get(&format!("{path}?text=hello&id=1.2&clients=0&rate=1/s"));
        assert!(status == 405 && answer.contains("allow: POST"), "{answer}");
    }
    assert_eq!(stage.orders.taken(), Vec::<String>::new());
}

#[test]
fn invalid_commands_are_refused() {
    let stage = Stage::new();
    let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(401));
    let huge = format!(r#"{{"text":"{}"}}"#, "x".repeat(5000));
    for (path, body) in [
        ("/api/say", "{}"),
        ("/api/say", "["),
        ("/api/say", r#"{"text":"\u202e "}"#),
        ("/api/say", r#"{"text":"a","more":1}"#),
        ("/api/say", &long),
        ("/api/say", &huge),
        ("/api/kick", r#"{"id":"1 2"}"#),
        ("/api/kick", r#"{"id":"1.2\nstop"}"#),
        ("/api/kick", r#"{"id":"99999999999.1"}"#),
        ("/api/stress/start", r#"{"clients":-1,"rate":"1/s","duration":"1s"}"#),
        ("/api/stress/start", r#"{"clients":0,"rate":"\nstop","duration":"1s"}"#),
        ("/api/stress/start", r#"{"clients":9999999,"rate":"1/s","duration":"1s"}"#),
    ] {
        let (status, answer) = stage.post(path, body);
        assert!(matches!(status, 400 | 409 | 413), "{path} {body}: {answer}");
    }
    assert_eq!(stage.orders.taken(), Vec::<String>::new());
}
