//! What a run must keep to: `latency.p99<50ms`, `messages.lost==0`, `carriers.udp.latency.max<=0.1s`.
//! The path names a number of the JSON result; `latency` stands for `latency_ms`.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::units::error::UnitError;
use crate::units::number::split_unit;
use crate::units::threshold::path::{Found, find, nearest};

mod path;

/// One condition on one number of the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Threshold {
    path: String,
    operator: Operator,
    limit: f64,
    unit: Option<Unit>,
}

/// How a number did against its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    /// Whether the condition holds.
    pub(crate) passed: bool,
    /// The number, in the unit of the result.
    pub(crate) actual: f64,
}

/// Why a threshold could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ThresholdError {
    /// The result has nothing of this name.
    Unknown {
        /// What was asked for.
        path: String,
        /// The most alike that exists.
        nearest: Option<String>,
    },
    /// The name exists and stands for no number: a text, or a group of numbers.
    NotANumber {
        /// What was asked for.
        path: String,
        /// A number that may be meant.
        nearest: Option<String>,
    },
    /// The number exists and was not measured: of a remote server, or when nothing arrived.
    NotMeasured {
        /// What was asked for.
        path: String,
    },
    /// The threshold's unit does not suit the number.
    WrongUnit {
        /// What was asked for.
        path: String,
        /// The unit that was written.
        unit: &'static str,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    LessOrEqual,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Less,
    Greater,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Microseconds,
    Milliseconds,
    Seconds,
    Percent,
}

impl Threshold {
    /// Whether the result keeps to it.
    pub(crate) fn evaluate(&self, result: &Value) -> Result<Outcome, ThresholdError> {
        let path = self.path.clone();
        match find(result, &self.path) {
            Found::Number(actual, field) => {
                let limit = self.limit_in(Unit::of_field(&field))?;
                Ok(Outcome { passed: self.operator.holds(actual, limit), actual })
            }
            Found::Null(field) => {
                self.limit_in(Unit::of_field(&field))?;
                Err(ThresholdError::NotMeasured { path })
            }
            Found::Other => Err(ThresholdError::NotANumber { nearest: nearest(result, &path), path }),
            Found::Nothing => Err(ThresholdError::Unknown { nearest: nearest(result, &path), path }),
        }
    }

    /// The same condition on another number.
    pub(crate) fn about(&self, path: impl Into<String>) -> Threshold {
        Threshold { path: path.into(), ..self.clone() }
    }

    /// Which number of the result it is about, as written.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The limit in the unit of the number; one without a unit is taken to be in that unit.
    fn limit_in(&self, target: Option<Unit>) -> Result<f64, ThresholdError> {
        let Some(unit) = self.unit else {
            return Ok(self.limit);
        };
        match (unit.microseconds(), target.and_then(Unit::microseconds)) {
            (Some(from), Some(to)) => Ok(self.limit * from / to),
            _ if target == Some(unit) => Ok(self.limit),
            _ => Err(ThresholdError::WrongUnit { path: self.path.clone(), unit: unit.name() }),
        }
    }
}

impl Operator {
    /// Longer signs first, so that `<=` is not read as `<`.
    const ALL: [Operator; 6] = [
        Operator::LessOrEqual,
        Operator::GreaterOrEqual,
        Operator::Equal,
        Operator::NotEqual,
        Operator::Less,
        Operator::Greater,
    ];

    fn sign(self) -> &'static str {
        match self {
            Operator::LessOrEqual => "<=",
            Operator::GreaterOrEqual => ">=",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::Greater => ">",
        }
    }

    fn holds(self, actual: f64, limit: f64) -> bool {
        match self {
            Operator::LessOrEqual => actual <= limit,
            Operator::GreaterOrEqual => actual >= limit,
            Operator::Equal => actual == limit,
            Operator::NotEqual => actual != limit,
            Operator::Less => actual < limit,
            Operator::Greater => actual > limit,
        }
    }
}

impl Unit {
    const ALL: [Unit; 4] = [Unit::Microseconds, Unit::Milliseconds, Unit::Seconds, Unit::Percent];

    fn name(self) -> &'static str {
        match self {
            Unit::Microseconds => "us",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Percent => "%",
        }
    }

    fn microseconds(self) -> Option<f64> {
        match self {
            Unit::Microseconds => Some(1.0),
            Unit::Milliseconds => Some(1_000.0),
            Unit::Seconds => Some(1_000_000.0),
            Unit::Percent => None,
        }
    }

    /// The unit that ends a field's name; that of its group where the field itself has none, as in `latency_ms.p99`.
    fn of_field(field: &str) -> Option<Unit> {
        field.rsplit('.').find_map(|name| {
            let last = name.split("_per_").next().unwrap_or(name).rsplit('_').next()?;
            match last {
                "us" => Some(Unit::Microseconds),
                "ms" => Some(Unit::Milliseconds),
                "s" => Some(Unit::Seconds),
                "percent" => Some(Unit::Percent),
                _ => None,
            }
        })
    }
}

impl FromStr for Threshold {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Threshold, UnitError> {
        let examples = "latency.p99<50ms or messages.lost==0";
        parse(text.trim()).map_err(|cause| UnitError::new("a threshold", text, cause, examples))
    }
}

fn parse(text: &str) -> Result<Threshold, String> {
    let Some(at) = text.find(['<', '>', '=', '!']) else {
        return Err("it compares nothing; there are <, <=, >, >=, == and !=".into());
    };
    let (path, rest) = text.split_at(at);
    let path = path.trim_end();
    let Some(operator) = Operator::ALL.into_iter().find(|operator| rest.starts_with(operator.sign())) else {
        return Err("its comparison is none of <, <=, >, >=, == and !=".into());
    };
    let named = !path.is_empty() && path.split('.').all(|name| !name.is_empty());
    if !named || !path.chars().all(|c| c.is_ascii_alphanumeric() || "_.-:+".contains(c)) {
        return Err(format!("\"{path}\" is no name of a figure"));
    }
    let value = rest[operator.sign().len()..].trim_start();
    let (negative, value) = value.strip_prefix('-').map_or((false, value), |value| (true, value));
    let (number, unit) = split_unit(value);
    let limit: f64 = number.parse().map_err(|_| format!("\"{value}\" does not begin with a number"))?;
    let unit = match unit {
        "" => None,
        name => Some(
            Unit::ALL
                .into_iter()
                .find(|unit| unit.name() == name)
                .ok_or_else(|| format!("\"{name}\" is no unit; there are us, ms, s and %"))?,
        ),
    };
    Ok(Threshold { path: path.to_owned(), operator, limit: if negative { -limit } else { limit }, unit })
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit.map_or("", Unit::name);
        write!(f, "{}{}{}{unit}", self.path, self.operator.sign(), self.limit)
    }
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = |nearest: &Option<String>| match nearest {
            Some(nearest) => format!("; did you mean {nearest}?"),
            None => String::new(),
        };
        match self {
            ThresholdError::Unknown { path, nearest } => write!(f, "the result has no \"{path}\"{}", hint(nearest)),
            ThresholdError::NotANumber { path, nearest } => write!(f, "\"{path}\" is no number{}", hint(nearest)),
            ThresholdError::NotMeasured { path } => write!(f, "\"{path}\" was not measured in this run"),
            ThresholdError::WrongUnit { path, unit } => write!(f, "\"{path}\" is not measured in {unit}"),
        }
    }
}

impl std::error::Error for ThresholdError {}

#[cfg(test)]
mod tests;
