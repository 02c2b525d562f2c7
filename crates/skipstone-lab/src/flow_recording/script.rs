//! The script of a bot that does what a client of a recording did: a skeleton, and data files beside it.

use super::fields::findings;
use super::player::{PlayedPacket, Player};
use super::reader::FlowRecording;
use std::fmt::Write;
use std::time::Duration;

/// A script and its data files, which are beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotScriptFiles {
    /// The script in Luau.
    pub script: String,
    /// Times, sizes and answers: `NAME.json`.
    pub schedule: String,
    /// The packets' bytes, one after the other: `NAME.bin`.
    pub bytes: Vec<u8>,
}

/// What a file of a script has at most.
const FILE_BYTES_MAX: usize = 64 << 20;

/// The files of a client. `name` is that of the script, without its ending.
///
/// # Errors
/// The client sent nothing, or too much: one sentence.
pub fn files_of(recording: &FlowRecording, player: &Player, name: &str) -> Result<BotScriptFiles, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !name.chars().all(is_plain) {
        return Err(format!("the script's name {name:?} has characters other than letters, digits, points and dashes"));
    }
    if player.packets.is_empty() {
        return Err("the client of this flow sent nothing".into());
    }
    let bytes = player.packets.iter().flat_map(|packet| packet.bytes.iter().copied()).collect::<Vec<u8>>();
    let schedule = schedule(&player.packets);
    let size = bytes.len().max(schedule.len());
    if size > FILE_BYTES_MAX {
        return Err(format!(
            "the client's packets take {size} bytes, and a file of a script has at most {FILE_BYTES_MAX}: --until 60s \
             leaves out what comes later"
        ));
    }
    Ok(BotScriptFiles { script: script(recording, player, name), schedule, bytes })
}

fn schedule(packets: &[PlayedPacket]) -> String {
    let line = |packet: &PlayedPacket| {
        let (at, size) = (packet.at.as_secs_f64(), packet.bytes.len());
        let answer = packet.answers.map_or(String::new(), |(first, took)| {
            format!(", \"answers\": {first}, \"reaction\": {:.6}", took.as_secs_f64())
        });
        format!("{{ \"at\": {at:.6}, \"size\": {size}{answer} }}")
    };
    format!("[\n{}\n]\n", packets.iter().map(line).collect::<Vec<_>>().join(",\n"))
}

fn script(recording: &FlowRecording, player: &Player, name: &str) -> String {
    let waits = player.packets.iter().any(|packet| packet.answers.is_some());
    let last = player.packets.last().map_or(Duration::ZERO, |packet| packet.at);
    let mut fields = String::new();
    for found in findings(recording, player) {
        let _ = writeln!(fields, "--   {found}");
    }
    if fields.is_empty() {
        fields.push_str("--   the recording shows no field that counts or differs between clients\n");
    }
    let mut text = String::new();
    for (at, part) in TEMPLATE.split("@@").enumerate() {
        let value = match (at % 2, part) {
            (0, text) => text.to_owned(),
            (_, "SUMMARY") => summary(player, last),
            (_, "URL") => format!("{}://{}", player.flow.protocol.name(), place(&recording.server)),
            (_, "SECONDS") => (last.as_secs() + 2).to_string(),
            (_, "THRESHOLDS") if waits => "\"answered.share==1\", \"answer_ms.p99<500ms\"".to_owned(),
            (_, "THRESHOLDS") => "\"bots.dropped==0\"".to_owned(),
            (_, "NAME") => name.to_owned(),
            (_, "FIELDS") => fields.clone(),
            (_, "HEARD") => heard(player),
            (_, "END") => end(player).to_owned(),
            (_, other) => unreachable!("the template has no place {other}"),
        };
        text.push_str(&value);
    }
    text
}

fn summary(player: &Player, last: Duration) -> String {
    let (count, protocol) = (player.packets.len(), player.flow.protocol.name());
    format!("{count} packets in {:.1} s over {protocol}", last.as_secs_f64())
}

/// The server's address, or the place for one: a recording is any file, and a script is code.
fn place(server: &str) -> &str {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".:-_[]".contains(c);
    if !server.is_empty() && server.chars().all(is_plain) { server } else { "127.0.0.1:9000" }
}

/// What the server sent, for the comment at `message`.
fn heard(player: &Player) -> String {
    let mut kinds: Vec<_> = player.heard.iter().collect();
    kinds.sort_by_key(|(_, (count, ..))| std::cmp::Reverse(*count));
    let mut text = String::new();
    for (first, (count, least, most)) in kinds.into_iter().take(KINDS_MAX) {
        let sizes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let _ = writeln!(text, "--   first byte {first}: {count} of {sizes} bytes");
    }
    if text.is_empty() { "--   nothing\n".into() } else { text }
}

fn end(player: &Player) -> &'static str {
    match (player.closes, player.is_closed) {
        (true, _) => "    self:close()\nend\n",
        (_, true) => "end\n\n-- The server ended the connection in the recording, too.\nfunction bot:closed() end\n",
        _ => "end\n",
    }
}

/// Kinds of messages that a comment names.
const KINDS_MAX: usize = 12;

const TEMPLATE: &str = include_str!("script.luau");
