//! Recordings by `netem relay --record`: what is in one, and the script of a bot that does what a client did.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::flow_recording::{FlowEntry, FlowEvent, FlowId, FlowRecording, Player, files_of};
use crate::report::format::{counted, thousands};
use crate::report::output;

/// The JSON of `skipstone record show --json`.
#[derive(Debug, Serialize)]
struct FlowsSummary {
    server: String,
    seconds: f64,
    /// Why it is not complete; null if it is.
    cut: Option<&'static str>,
    /// Packets that are missing because the disk was too slow.
    missed: u64,
    flows: Vec<FlowSummary>,
}

#[derive(Debug, Default, Serialize)]
struct FlowSummary {
    /// By which `record script --flow` names it.
    number: usize,
    protocol: &'static str,
    begins_s: f64,
    ends_s: f64,
    packets_up: u64,
    bytes_up: u64,
    packets_down: u64,
    bytes_down: u64,
}

impl FlowsSummary {
    fn of(recording: &FlowRecording) -> FlowsSummary {
        let mut flows: Vec<FlowSummary> = Vec::new();
        let mut places: HashMap<FlowId, usize> = HashMap::new();
        for entry in &recording.entries {
            let place = *places.entry(entry.flow).or_insert_with(|| {
                flows.push(FlowSummary::begin(flows.len() + 1, entry));
                flows.len() - 1
            });
            flows[place].add(entry);
        }
        FlowsSummary {
            server: recording.server.clone(),
            seconds: recording.entries.last().map_or(0.0, |entry| entry.at.as_secs_f64()),
            cut: recording.cut,
            missed: recording.missed,
            flows,
        }
    }
}

impl FlowSummary {
    fn begin(number: usize, entry: &FlowEntry) -> FlowSummary {
        let (protocol, begins_s) = (entry.flow.protocol.name(), entry.at.as_secs_f64());
        FlowSummary { number, protocol, begins_s, ..FlowSummary::default() }
    }

    fn add(&mut self, entry: &FlowEntry) {
        self.ends_s = entry.at.as_secs_f64();
        let (packets, bytes) = match entry.event {
            FlowEvent::Up => (&mut self.packets_up, &mut self.bytes_up),
            FlowEvent::Down => (&mut self.packets_down, &mut self.bytes_down),
            FlowEvent::Opened | FlowEvent::UpEnded | FlowEvent::DownEnded => return,
        };
        *packets += 1;
        *bytes += entry.size() as u64;
    }
}

/// Lists the clients of a recording.
pub(super) fn show_flows(file: &str, is_json: bool) -> Result<(), String> {
    let summary = FlowsSummary::of(&FlowRecording::read(file)?);
    if is_json {
        output::say(serde_json::to_string_pretty(&summary).expect("its keys are text"));
        return Ok(());
    }
    let clients = counted(summary.flows.len() as u64, "client");
    output::say(format_args!("{file}: {:.1} s of {clients} of {}", summary.seconds, summary.server));
    if let Some(cut) = summary.cut {
        output::say(format_args!("it ends early: {cut}"));
    }
    if summary.missed > 0 {
        output::say(format_args!("{} are missing: the disk was too slow", counted(summary.missed, "packet")));
    }
    output::say(format_args!("{:>6}  {:<8}{:>18}{:>30}{:>30}", "client", "over", "seconds", "up", "down"));
    for flow in &summary.flows {
        let of = |packets, bytes| format!("{} of {} bytes", thousands(packets), thousands(bytes));
        let (up, down) = (of(flow.packets_up, flow.bytes_up), of(flow.packets_down, flow.bytes_down));
        let span = format!("{:.1} to {:.1}", flow.begins_s, flow.ends_s);
        output::say(format_args!("{:>6}  {:<8}{span:>18}{up:>30}{down:>30}", flow.number, flow.protocol));
    }
    Ok(())
}

/// Writes the script of a client, and its data files.
pub(super) fn bot_script(
    file: &str,
    output: &str,
    number: Option<usize>,
    until: Option<Duration>,
) -> Result<(), String> {
    let recording = FlowRecording::read(file)?;
    let flow = chosen(&recording, number).map_err(|why| format!("{file}: {why}"))?;
    let player = Player::of(&recording, flow, until);
    let path = Path::new(output);
    if path.extension().is_none_or(|ending| ending != "luau") {
        return Err(format!("--output {output}: the name of a script ends with .luau"));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let files = files_of(&recording, &player, &name)?;
    write_new(path, files.script.as_bytes())?;
    write_new(&path.with_extension("json"), files.schedule.as_bytes())?;
    write_new(&path.with_extension("bin"), &files.bytes)?;
    let packets = counted(player.packets.len() as u64, "packet");
    output::say(format_args!("{output}: {packets}; try `skipstone bots {output}`, and look for YOUR in it"));
    Ok(())
}

fn chosen(recording: &FlowRecording, number: Option<usize>) -> Result<FlowId, String> {
    let flows = FlowsSummary::of(recording).flows;
    let ids = recording.flows();
    match number {
        Some(number) => ids.get(number.wrapping_sub(1)).copied().ok_or_else(|| {
            format!("there is no client {number}: it has {}, see `record show`", counted(ids.len() as u64, "client"))
        }),
        None => {
            let most = flows.iter().rev().max_by_key(|flow| flow.packets_up);
            most.map(|flow| ids[flow.number - 1]).ok_or_else(|| "it has no client: none came to the relay".into())
        }
    }
}

/// A script that somebody has changed is never overwritten.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let cannot = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{} exists already: give another name by --output, or delete it", path.display())
        }
        _ => format!("cannot write {}: {error}", path.display()),
    };
    let mut file = std::fs::File::create_new(path).map_err(cannot)?;
    file.write_all(bytes).map_err(cannot)
}
