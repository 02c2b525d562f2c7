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

#[test]
fn behind_a_trusted_proxy_each_operator_has_guesses_of_their_own() {
    let with = |stage: &Stage, from: &str, token: &str| {
        stage.ask("GET /metrics", &[from, &format!("authorization: Bearer {token}")], "").0
    };
    const GUESSER: &str = "x-forwarded-for: 198.51.100.9, 203.0.113.1";
    let stage = Stage::behind(&["127.0.0.0/8"], Some("correct horse"));
    let guesses: Vec<u16> = (0..12).map(|guess| with(&stage, GUESSER, &guess.to_string())).collect();
    assert_eq!(guesses, [[401; 10].to_vec(), vec![429, 429]].concat());
    assert_eq!(with(&stage, GUESSER, "correct horse"), 429);
    for other in ["x-forwarded-for: 203.0.113.2", "forwarded: for=203.0.113.3;proto=https", "accept: text/html"] {
        assert_eq!(with(&stage, other, "correct horse"), 200, "{other}");
    }
    // Whoever is no trusted proxy names nobody.
    let wary = Stage::with_token(Some("correct horse"));
    let from = |host: usize| format!("x-forwarded-for: 203.0.113.{host}");
    (0..10).for_each(|host| assert_eq!(with(&wary, &from(host), "wrong"), 401));
    assert_eq!(with(&wary, &from(99), "correct horse"), 429);
}

#[test]
fn a_token_may_be_in_any_script() {
    for token in ["пароль", "clé 🔑", "合言葉"] {
        let stage = Stage::with_token(Some(token));
        assert_eq!(stage.ask("GET /metrics", &[&format!("authorization: Bearer {token}")], "").0, 200, "{token}");
        assert_eq!(stage.ask("GET /metrics", &["authorization: Bearer ?"], "").0, 401);
    }
}
