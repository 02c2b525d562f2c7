use super::client::{Stage, TOKEN};
use crate::door::WRONG_TOLD_AFTER;
use std::time::Instant;

#[test]
fn figures_and_commands_need_the_token_and_the_page_does_not() {
    let stage = Stage::with_token(Some(TOKEN));
    for path in ["/api/start", "/api/stream", "/api/clients", "/api/log", "/metrics"] {
        let (status, answer) = stage.get(path);
        assert!(status == 401 && answer.contains("the token is missing or wrong"), "{path}: {answer}");
    }
    for path in ["/", "/dashboard.js", "/healthz"] {
        assert_eq!(stage.get(path).0, 200, "{path}");
    }
    assert_eq!(stage.post("/api/say", r#"{"text":"a"}"#).0, 401);
    let with = |token: &str| stage.ask("GET /api/log", &["x-skipstone: 1", &format!("authorization: {token}")], "").0;
    assert_eq!(with(&format!("Bearer {TOKEN}")), 200);
    assert_eq!(with("Bearer correct"), 401);
    assert_eq!([with(&format!("bearer {TOKEN}")), with(&format!("Basic {TOKEN}"))], [401; 2]);
    assert_eq!(
        stage.ask("GET /metrics", &[&format!("authorization: Bearer {TOKEN}")], "").0,
        200,
        "as Prometheus asks"
    );
    assert_eq!(stage.orders.taken(), Vec::<String>::new());
}

#[test]
fn the_right_token_is_never_refused_and_a_wrong_one_is_rejected_after_a_delay() {
    let stage = Stage::with_token(Some(TOKEN));
    let ask = |token: &str| stage.ask("GET /metrics", &[&format!("authorization: Bearer {token}")], "").0;
    std::thread::scope(|scope| {
        let guesses: Vec<_> = (0..20)
            .map(|guess| {
                scope.spawn(move || {
                    let began = Instant::now();
                    (ask(&guess.to_string()), began.elapsed())
                })
            })
            .collect();
        assert!((0..20).all(|_| ask(TOKEN) == 200));
        for guess in guesses {
            let (status, took) = guess.join().expect("it ends");
            assert!(status == 401 && took >= WRONG_TOLD_AFTER, "{status} after {took:?}");
        }
    });
    assert!((0..20).all(|_| stage.get("/api/log").0 == 401), "a page that waits for its token guesses nothing");
}

#[test]
fn a_token_may_be_in_any_script() {
    for token in ["пароль из слов", "une clé d'or 🔑", "合言葉と合言葉"] {
        let stage = Stage::with_token(Some(token));
        assert_eq!(stage.ask("GET /metrics", &[&format!("authorization: Bearer {token}")], "").0, 200, "{token}");
        assert_eq!(stage.ask("GET /metrics", &["authorization: Bearer ?"], "").0, 401);
    }
}
