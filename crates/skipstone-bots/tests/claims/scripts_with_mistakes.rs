//! Mistakes of scripts: told before the run where they can be, else with line and column; the other bots go on.

use crate::runs::{exit_of, number, result_of, script};
use crate::servers::echo;

#[test]
fn a_mistake_that_can_be_found_before_the_run_is_bad_configuration() {
    for text in [
        "local bot = skipstone.bot{ api = 1 ",
        "skipstone.bot{ api = 9 }",
        "skipstone.bot{ api = 1, connect = 'pigeon://h:1' }",
        "skipstone.bot{ api = 1, connect = 'udp://h:1?wings=2' }",
        "skipstone.bot{ api = 1 } skipstone.options{ thresholds = { 'nothing_ms.p99<1s' } }",
        "skipstone.bot{ api = 1 } skipstone.options{ clients = 0 }",
        "skipstone.bot{ api = 1 } while true do end",
    ] {
        let (_folder, path) = script(text);
        assert_eq!(exit_of(&[&path, "udp://127.0.0.1:9", "--check"]), 104, "{text}");
    }
    assert_eq!(exit_of(&["no-such-script.luau"]), 104);
}

#[test]
fn a_bot_with_a_mistake_ends_alone_and_is_counted() {
    let (_folder, path) = script(
        "local bot = skipstone.bot{ api = 1, tick = 50 }
        local ticks = 0
        function bot:tick(now)
            ticks += 1
            if ticks == 3 and self.number == 1 then
                local nothing = nil
                nothing.field = 1
            end
            if ticks == 3 and self.number == 2 then
                while true do end
            end
            self:send(0, 'hello', { due = now })
        end
        function bot:message() end",
    );
    let server = echo();
    let result = result_of(&[&path, &server.url("udp"), "-c", "5", "-d", "1s", "--ramp", "0s"]);
    assert_eq!(number(&result, "/bots/faulted"), 2.0, "{result:#}");
    let faults = result["faults"].to_string();
    assert!(faults.contains("bot.luau:7:25: attempt to index nil with 'field'"), "{faults}");
    assert!(faults.contains("bot.luau:10:") && faults.contains("endless loop"), "{faults}");
    let heard = server.stop();
    assert_eq!(heard.len(), 5);
    // The three others have sent until the end.
    assert!(number(&result, "/messages/sent") > 100.0, "{result:#}");
}

#[test]
fn a_failed_threshold_fails_the_run() {
    let (_folder, path) = script(
        "local bot = skipstone.bot{ api = 1, tick = 50 }
        local odd = metrics.rate('odd')
        function bot:tick(now)
            odd:add(false)
            self:send(0, 'hello')
        end
        function bot:message() end",
    );
    let server = echo();
    let words = [&path, &server.url("udp"), "-c", "2", "-d", "500ms", "--threshold", "odd.share>50%"];
    let result = result_of(&words.map(|word| word as &str));
    assert_eq!(result["thresholds"][0]["passed"], false);
    assert!(result["verdict"] == "fail" || result["verdict"] == "invalid", "{result:#}");
    server.stop();
}
