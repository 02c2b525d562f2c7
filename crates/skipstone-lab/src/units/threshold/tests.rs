//! Reading, showing and evaluating thresholds.

use serde_json::json;

use super::*;

fn threshold(text: &str) -> Threshold {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn result() -> Value {
    json!({
        "verdict": "pass",
        "duration_s": 10.0,
        "messages": { "lost": 3, "delivered": 900_000 },
        "latency_ms": { "p50": 12.5, "p99": 49.0, "max": 80.0 },
        "wire": { "overhead_percent": 15.0 },
        "link": { "useful_share": 0.975 },
        "server": { "cpu_percent": 79.5, "cpu_us_per_delivery": 1.5, "rss_bytes": 1000 },
        "carriers": [{ "carrier": "udp", "latency_ms": { "p99": 20.0 } }, { "carrier": "ws", "latency_ms": null }],
    })
}

#[test]
fn every_operator_compares_correctly() {
    for (text, passed) in [
        ("latency.p99<50ms", true),
        ("latency.p99<49ms", false),
        ("latency.p99<=49ms", true),
        ("latency_ms.p99>=49", true),
        ("latency.p99>49", false),
        ("messages.lost==0", false),
        ("messages.lost==3", true),
        ("messages.lost!=3", false),
        ("server.cpu_percent<80%", true),
        ("server.cpu_percent < 80", true),
        ("wire.overhead_percent<=15", true),
        ("link.useful_share>=97.5%", true),
        ("link.useful_share>97.5%", false),
        ("link.useful_share>=97.6%", false),
        ("link.useful_share<0.98", true),
    ] {
        assert_eq!(threshold(text).evaluate(&result()).map(|outcome| outcome.passed), Ok(passed), "{text}");
    }
}

#[test]
fn times_are_compared_in_the_unit_of_the_result() {
    for (text, passed) in [
        ("latency.p50<0.0126s", true),
        ("latency.p50==12500us", true),
        ("server.cpu_us_per_delivery<0.0016ms", true),
        ("server.cpu_us_per_delivery<1us", false),
        ("duration_s>=10000ms", true),
    ] {
        assert_eq!(threshold(text).evaluate(&result()).unwrap().passed, passed, "{text}");
    }
    assert_eq!(threshold("latency.max<1s").evaluate(&result()).unwrap().actual, 80.0);
}

#[test]
fn a_carrier_is_entered_by_its_name() {
    assert!(threshold("carriers.udp.latency.p99==20ms").evaluate(&result()).unwrap().passed);
    assert!(threshold("carriers.0.latency.p99==20ms").evaluate(&result()).unwrap().passed);
}

#[test]
fn values_round_trip_through_text() {
    for text in
        ["latency.p99<50ms", "messages.lost==0", "server.cpu_percent<80", "wire.overhead_percent<=15.5%", "a!=-1"]
    {
        assert_eq!(threshold(text).to_string(), text);
        assert_eq!(threshold(&threshold(text).to_string()).to_string(), text);
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let nearest = |text: &str| threshold(text).evaluate(&result()).unwrap_err().to_string();
    assert_eq!(nearest("latency.p98<1"), "the result has no \"latency.p98\"; did you mean latency.p99?");
    assert_eq!(nearest("message.lost==0"), "the result has no \"message.lost\"; did you mean messages.lost?");
    assert_eq!(nearest("server.cpu<80"), "the result has no \"server.cpu\"; did you mean server.cpu_percent?");
    assert_eq!(nearest("xyzzy==0"), "the result has no \"xyzzy\"");
    assert_eq!(nearest("messages==0"), "\"messages\" is not a number; did you mean messages.lost?");
}

#[test]
fn an_unmeasured_figure_neither_meets_nor_misses_a_threshold() {
    let mut remote = result();
    remote["server"] = Value::Null;
    let error = threshold("server.cpu_percent<80").evaluate(&remote).unwrap_err();
    assert_eq!(error.to_string(), "\"server.cpu_percent\" was not measured in this run");
    assert!(matches!(threshold("carriers.ws.latency.p99<1").evaluate(&result()), Err(ThresholdError::NotMeasured(_))));
}

#[test]
fn a_unit_that_does_not_fit_the_figure_is_refused() {
    for (text, message) in [
        ("messages.lost<5ms", "\"messages.lost\" is not measured in ms"),
        ("link.useful_share<5ms", "\"link.useful_share\" is not measured in ms"),
        ("latency.p99<5%", "\"latency.p99\" is not measured in %"),
        ("server.rss_bytes<5%", "\"server.rss_bytes\" is not measured in %"),
    ] {
        assert_eq!(threshold(text).evaluate(&result()).unwrap_err().to_string(), message);
    }
}

#[test]
fn errors_name_the_cause_and_show_the_format() {
    for (text, cause) in [
        ("latency.p99", "it has no comparison"),
        ("latency.p99=5", "its comparison is none of"),
        ("<5", "\"\" is not the name of a figure"),
        ("a..b<5", "\"a..b\" is not the name of a figure"),
        ("a b<5", "\"a b\" is not the name of a figure"),
        ("latency.p99<fast", "\"fast\" does not begin with a number"),
        ("latency.p99<5min", "\"min\" is not a unit; there are us, ms, s and %"),
    ] {
        let error = text.parse::<Threshold>().unwrap_err().to_string();
        assert!(error.contains(cause) && error.contains("for example latency.p99<50ms"), "{error}");
    }
}
