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

#[test]
fn each_call_without_a_connection_says_why_there_is_none() {
    let (_folder, path) = script(
        "local bot = skipstone.bot{ api = 1 }
        local calls = {
            function(self) self:send(0, 'early') end,
            function(self) self:connect() self:send(0, 'late') end,
            function(self) self:connect() self:wait(nil, 1) end,
            function(self) self:connect() self:pause_reading(1) end,
            function(self) assert(self:connect()) end,
            function(self) self:connect('tcp' .. string.sub(URL, 4)) self:close() self:send(0, 'late') end,
        }
        function bot:start() calls[self.number + 1](self) end",
    );
    let server = crate::servers::tcp(|stream| drop(stream.read(&mut [0])));
    let text = std::fs::read_to_string(&path).expect("read").replace("URL", &format!("'{}'", server.url("tcp")));
    std::fs::write(&path, text).expect("written");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("bound").local_addr().expect("an address");
    let result = result_of(&[&path, &format!("tcp://{free}"), "-c", "6", "-d", "500ms", "--ramp", "0s"]);
    let refused = "unreachable: ";
    for (line, told) in [
        (3, "the bot is not connected: bot:connect comes first"),
        (4, &format!("the bot is not connected: {refused}")),
        (5, &format!("the bot is not connected: {refused}")),
        (6, &format!("bot:pause_reading: the bot is not connected: {refused}")),
        (7, refused),
        (8, "the bot is not connected: closed by the bot"),
    ] {
        let faults = result["faults"].as_array().expect("faults");
        let of_line = |fault: &&serde_json::Value| {
            fault["message"].as_str().is_some_and(|text| text.starts_with(&format!("bot.luau:{line}:")))
        };
        let fault = faults.iter().find(of_line).unwrap_or_else(|| panic!("none of line {line}: {result:#}"));
        let (_, message) = fault["message"].as_str().and_then(|text| text.split_once(": ")).expect("a place");
        assert!(message.starts_with(told), "{message}");
    }
    server.stop();
}
