use super::client::{Stage, body};

#[test]
fn every_response_has_the_security_policy() {
    let stage = Stage::new();
    for (path, status) in [("/", 200), ("/dashboard.js", 200), ("/api/log", 200), ("/nowhere", 404), ("/metrics", 200)]
    {
        let (found, answer) = stage.get(path);
        assert_eq!(found, status, "{answer}");
        let policy = answer.lines().find_map(|line| line.strip_prefix("content-security-policy: ")).expect("a policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        for header in ["x-content-type-options: nosniff", "x-frame-options: DENY", "referrer-policy: no-referrer"] {
            assert!(answer.contains(header), "{path}: {answer}");
        }
    }
}

#[test]
fn the_built_page_loads_nothing_from_other_hosts() {
    let stage = Stage::new();
    let page = stage.get("/").1;
    assert!(page.contains(r#"src="./dashboard.js""#) && !page.contains("//"), "no inline script, no address: {page}");
    let style = stage.get("/dashboard.css").1;
    assert!(!body(&style).contains("url(") && !style.contains("@import"));
    // Namespaces of SVG are names that look like addresses.
    let script = stage.get("/dashboard.js").1.replace("http://www.w3.org/2000/svg", "");
    assert!(!script.contains("http://") && !script.contains("https://"));
}

#[test]
fn another_host_name_is_refused() {
    let stage = Stage::new();
    for host in
        ["evil.example", "evil.example:7779", "192.0.2.1", "127.0.0.1@evil.example", "localhost.evil.example", ""]
    {
        let (status, answer) = stage.ask_host("GET /", &[&format!("host: {host}")], "");
        assert!(matches!(status, 400 | 421), "{host}: {answer}");
    }
    assert_eq!(stage.ask_host("GET /", &[], "").0, 421, "no host at all");
    assert_eq!(stage.ask_host("GET /", &["host: localhost", "host: evil.example"], "").0, 421);
    // The host of an absolute target counts, and not the header.
    assert_eq!(stage.ask_host("GET http://evil.example/", &["host: localhost"], "").0, 421);
    assert_eq!(stage.ask_host("GET http://localhost/", &["host: evil.example"], "").0, 200);
    for host in ["localhost", "localhost:1", "[::1]:7779", "Play.example"] {
        assert_eq!(stage.ask_host("GET /", &[&format!("host: {host}")], "").0, 200, "{host}");
    }
}

#[test]
fn health_checks_report_the_state() {
    let stage = Stage::new();
    assert_eq!(body(&stage.get("/healthz").1), "ok\n");
    stage.feed.tick(0, std::time::Duration::ZERO);
    assert_eq!(body(&stage.get("/readyz").1), "ready\n");
    // A loop that does not tick, because it gets no input here.
    std::thread::sleep(std::time::Duration::from_millis(3100));
    assert_eq!(stage.get("/readyz").0, 503);
}
