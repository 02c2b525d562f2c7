//! Bots that do not read what the server sends.

use crate::runs::{example, number, result_of, script};
use crate::servers::tcp;
use std::io::{BufRead, BufReader};

/// Sends each line back, after a large one.
fn lines() -> crate::servers::Running<()> {
    tcp(|stream| {
        let mut line = String::new();
        let mut reader = BufReader::new(stream);
        while matches!(reader.read_line(&mut line), Ok(1..)) {
            let answer = format!("{}\n{line}", "x".repeat(PADDING));
            if reader.get_mut().write_all(answer.as_bytes()).is_err() {
                return;
            }
            line.clear();
        }
    })
}

#[test]
fn the_slow_reader_reads_nothing_while_the_others_are_answered() {
    let server = lines();
    let words = [&example("slow_reader.luau"), &server.url("tcp"), "-c", "4", "-d", "1500ms", "--ramp", "100ms"];
    let words = words.map(str::to_owned).map(|word| if word.starts_with("tcp") { word + "?frame=lines" } else { word });
    let result = result_of(&words.each_ref().map(String::as_str));
    assert_eq!(result["faults"], serde_json::json!([]), "{result:#}");
    assert_eq!(number(&result, "/bots/connected"), 4.0, "{result:#}");
    assert!(number(&result, "/metrics/echo_ms/count") > 0.0, "{result:#}");
    // Bot 3 would read again after the end.
    assert_eq!(number(&result, "/metrics/read_late/sum"), 0.0, "{result:#}");
    server.stop();
}

#[test]
fn a_bot_that_has_paused_reads_again_when_it_said() {
    let (_folder, path) = script(
        "local bot = skipstone.bot{ api = 1, text = true }
        function bot:start()
            assert(self:connect())
            self:send(0, 'first')
            assert(self:wait('first', 2))
            local began = skipstone.now()
            self:pause_reading(0.4)
            self:send(0, 'second')
            assert(self:wait('second', 5))
            check('it_paused', skipstone.now() - began >= 0.4)
            self:pause_reading(3600)
            self:pause_reading(0)
            self:send(0, 'third')
            check('it_reads_again', self:wait('third', 2) ~= nil)
            check('too_long', not pcall(self.pause_reading, self, 4000))
            check('negative', not pcall(self.pause_reading, self, -1))
            self:close()
            self:sleep(0.1)
            local is_paused, why = pcall(self.pause_reading, self, 1)
            check('says_why', not is_paused and string.find(why, 'not connected') ~= nil)
        end
        function bot:message() end
        function bot:closed() end",
    );
    let server = lines();
    let url = server.url("tcp") + "?frame=lines";
    let result = result_of(&[&path, &url, "-c", "1", "-d", "3s", "--ramp", "0s"]);
    assert_eq!(result["faults"], serde_json::json!([]), "{result:#}");
    for check in ["it_paused", "it_reads_again", "too_long", "negative", "says_why"] {
        assert_eq!(number(&result, &format!("/metrics/{check}/passed")), 1.0, "{check}: {result:#}");
    }
    server.stop();
}

const PADDING: usize = 32 * 1024;
