//! `skipstone.options`, read and checked: numbers of bots, times, stages and thresholds.

use super::shared::number_of;
use crate::plan::{ScriptOptions, Stage};
use mlua::Value;
use skipstone_lab::units::{Rate, Span, Threshold};
use std::time::Duration;

/// Reads the table of a script.
///
/// # Errors
/// One sentence, with the field that is wrong.
pub(super) fn read(value: &Value) -> Result<ScriptOptions, String> {
    let Value::Table(table) = value else {
        return Err(format!("skipstone.options takes a table, not {}", value.type_name()));
    };
    let mut options = ScriptOptions::default();
    for pair in table.pairs::<Value, Value>() {
        let (name, value) = pair.map_err(|error| error.to_string())?;
        let name = name.to_string().unwrap_or_default();
        let wrong = |why: String| format!("skipstone.options: {name}: {why}");
        match name.as_str() {
            "clients" => options.clients = Some(clients(&value).map_err(wrong)?),
            "duration" => options.duration = Some(span(&value).map_err(wrong)?),
            "ramp" => options.ramp = Some(span(&value).map_err(wrong)?),
            "stages" => options.stages = stages(&value).map_err(wrong)?,
            "thresholds" => options.thresholds = thresholds(&value).map_err(wrong)?,
            _ => return Err(wrong("there are clients, duration, ramp, stages and thresholds".into())),
        }
    }
    if !options.stages.is_empty() && (options.clients.is_some() || options.duration.is_some() || options.ramp.is_some())
    {
        return Err(
            "skipstone.options: stages say how many bots there are and for how long: leave out clients, duration \
                    and ramp"
                .into(),
        );
    }
    Ok(options)
}

fn clients(value: &Value) -> Result<u32, String> {
    let number = number_of(value).filter(|number| number.fract() == 0.0 && (0.0..=CLIENTS_MAX).contains(number));
    number.map(|number| number as u32).ok_or_else(|| format!("a whole number of 0 to {CLIENTS_MAX} is needed"))
}

/// Seconds as a number, or a text such as "1m30s".
fn span(value: &Value) -> Result<Duration, String> {
    match value {
        Value::String(text) => {
            text.to_string_lossy().parse::<Span>().map(|span| span.0).map_err(|error| error.to_string())
        }
        other => {
            let seconds = number_of(other).filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds));
            let wrong = || "a time such as \"1m30s\", or a number of seconds, is needed".to_owned();
            seconds.map(Duration::from_secs_f64).ok_or_else(wrong)
        }
    }
}

fn stages(value: &Value) -> Result<Vec<Stage>, String> {
    let Value::Table(list) = value else { return Err("a list of stages is needed".into()) };
    let stages: Result<Vec<Stage>, String> = list
        .sequence_values::<Value>()
        .enumerate()
        .map(|(at, value)| {
            let value = value.map_err(|error| error.to_string())?;
            stage(&value).map_err(|why| format!("stage {}: {why}", at + 1))
        })
        .collect();
    stages.and_then(|stages| if stages.is_empty() { Err("a stage is needed".into()) } else { Ok(stages) })
}

fn stage(value: &Value) -> Result<Stage, String> {
    let Value::Table(table) = value else { return Err(STAGES.into()) };
    let field = |name: &str| table.raw_get::<Value>(name).map_err(|error| error.to_string());
    let (to, hold, arrive, over) = (field("to")?, field("hold")?, field("arrive")?, field("over")?);
    match (to.is_nil(), hold.is_nil(), arrive.is_nil()) {
        (false, true, true) => {
            let over = if over.is_nil() { Duration::ZERO } else { span(&over)? };
            Ok(Stage::To { clients: clients(&to)?, over })
        }
        (true, false, true) => Ok(Stage::Hold(span(&hold)?)),
        (true, true, false) => {
            let text = arrive
                .as_string()
                .map(|text| text.to_string_lossy())
                .ok_or("arrive: a rate such as \"20/s\" is needed")?;
            let rate: Rate = text.parse().map_err(|error: skipstone_lab::units::UnitError| error.to_string())?;
            Ok(Stage::Arrive { per_s: rate.per_second(), over: span(&over)? })
        }
        _ => Err(STAGES.into()),
    }
}

/// A list of conditions, or a table of figures and what they must keep.
fn thresholds(value: &Value) -> Result<Vec<Threshold>, String> {
    let Value::Table(table) = value else { return Err("a list such as { \"spawn_ms.p99<200ms\" } is needed".into()) };
    let mut texts = Vec::new();
    for pair in table.pairs::<Value, Value>() {
        let (figure, condition) = pair.map_err(|error| error.to_string())?;
        let condition = condition.as_string().ok_or("each is a text such as \"spawn_ms.p99<200ms\"")?.to_string_lossy();
        texts.push(match figure.as_string() {
            Some(figure) => figure.to_string_lossy() + &condition,
            None => condition,
        });
    }
    // The order of a table's names is not the script's.
    texts.sort();
    texts.iter().map(|text| text.parse::<Threshold>().map_err(|error| error.to_string())).collect()
}

const STAGES: &str =
    "{ to = 100, over = \"10s\" }, { hold = \"1m\" } or { arrive = \"20/s\", over = \"1m\" } is needed";
const CLIENTS_MAX: f64 = 1_000_000.0;
const SECONDS_MAX: f64 = 30.0 * 86_400.0;
