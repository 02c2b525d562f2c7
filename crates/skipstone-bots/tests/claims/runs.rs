//! Runs the command as the tool does, and reads its JSON.

use clap::Parser;
use serde_json::Value;
use skipstone_bots::BotsArguments;
use std::path::PathBuf;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    bots: BotsArguments,
}

/// The result of `skipstone bots` with these words.
pub(crate) fn result_of(words: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("result.json");
    let path = file.to_string_lossy().into_owned();
    let line = ["bots"].iter().chain(words).copied().chain(["--quiet", "--json", &path]);
    let arguments = Line::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).bots;
    let exit = skipstone_bots::run(&arguments);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("no result, {exit:?}: {error}"));
    let result: Value = serde_json::from_str(&text).expect("JSON");
    let verdicts = [("pass", 0), ("fail", 99), ("invalid", 98), ("unavailable", 97), ("interrupted", 105)];
    let verdict = result["verdict"].as_str().expect("a verdict");
    assert!(verdicts.contains(&(verdict, exit.code())), "{verdict} and {exit:?}");
    result
}

/// The exit code of words that run nothing.
pub(crate) fn exit_of(words: &[&str]) -> u8 {
    let arguments = Line::try_parse_from(["bots"].iter().chain(words)).expect("they are read").bots;
    skipstone_bots::run(&arguments).code()
}

/// An example of this crate.
pub(crate) fn example(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples").join(name).to_string_lossy().into_owned()
}

/// A script of a test.
pub(crate) fn script(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bot.luau");
    std::fs::write(&path, text).expect("written");
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

/// A script whose bots send numbered messages at `rate` a second, and measure how long each takes to come back, as
/// `echo_ms`. A message that takes longer than `timeout_s` counts as not answered.
pub(crate) fn echo_script(rate: u32, timeout_s: f64, options: &str) -> (tempfile::TempDir, String) {
    script(&format!(
        "local bot = skipstone.bot{{ api = 1, tick = {rate} }}
        local echoes = metrics.requests('echo_ms', {timeout_s})
        skipstone.options{{ {options} }}
        local sequence = 0
        function bot:tick(now)
            sequence += 1
            local packet = buffer.create(4)
            buffer.writeu32(packet, 0, sequence)
            echoes:sent(sequence, now)
            self:send(0, packet, {{ due = now }})
        end
        function bot:message(_, data) echoes:got(buffer.readu32(data, 0)) end"
    ))
}

pub(crate) fn number(result: &Value, path: &str) -> f64 {
    result.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {result:#}"))
}
