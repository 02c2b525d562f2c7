use super::client::Stage;

#[test]
fn figures_and_orders_need_the_token_and_the_page_does_not() {
    let stage = Stage::with_token(Some("correct horse"));
    for path in ["/api/start", "/api/stream", "/api/clients", "/api/log", "/metrics"] {
        let (status, answer) = stage.get(path);
        assert!(status == 401 && answer.contains("the token is missing or wrong"), "{path}: {answer}");
    }
    for path in ["/", "/dashboard.js", "/healthz"] {
        assert_eq!(stage.get(path).0, 200, "{path}");
    }
    assert_eq!(stage.post("/api/say", r#"{"text":"a"}"#).0, 401);
    let with = |token: &str| stage.ask("GET /api/log", &["x-skipstone: 1", &format!("authorization: {token}")], "").0;
    assert_eq!(with("Bearer correct horse"), 200);
    assert_eq!([with("Bearer correct"), with("bearer correct horse"), with("Basic correct horse")], [401; 3]);
    assert_eq!(stage.ask("GET /metrics", &["authorization: Bearer correct horse"], "").0, 200, "as Prometheus asks");
    assert_eq!(stage.orders.taken(), Vec::<String>::new());
}

#[test]
fn guesses_are_few() {
    let stage = Stage::with_token(Some("correct horse"));
    let with = |token: &str| stage.ask("GET /metrics", &[&format!("authorization: Bearer {token}")], "").0;
    let guesses: Vec<u16> = (0..12).map(|guess| with(&guess.to_string())).collect();
    assert_eq!(guesses, [[401; 10].to_vec(), vec![429, 429]].concat());
    assert_eq!(with("correct horse"), 429, "whoever guesses does not learn that this one was right");
    let missing = Stage::with_token(Some("correct horse"));
    assert!((0..20).all(|_| missing.get("/api/log").0 == 401), "a page that waits for its token guesses nothing");
}
