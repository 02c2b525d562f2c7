//! Conditions that a run must keep: `latency.p99<50ms`, `messages.lost==0`, `carriers.udp.latency.max<=0.1s`.
//! The path names a number of the JSON result; `latency` stands for `latency_ms`.

use serde_json::Value;

use self::path::{Found, find, nearest};
use super::error::read_by;
use super::number::split_unit;

mod path;

/// One condition on one number of the result.
#[derive(Debug, Clone, derive_more::Display)]
#[display("{path}{}{limit}{}", operator.0, unit.map_or("", |unit| unit.name))]
pub struct Threshold {
    path: String,
    operator: Operator,
    limit: f64,
    unit: Option<FigureUnit>,
}

/// How a number did against its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// Whether the condition holds.
    pub passed: bool,
    /// The number, in the unit of the result.
    pub actual: f64,
    /// The threshold's unit; `None` for a count.
    pub unit: Option<FigureUnit>,
}

/// Why a threshold could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// The threshold can never be evaluated: there is no such number, or its unit is another. One sentence.
    #[error("{0}")]
    Wrong(String),
    /// The number exists and was not measured: of a remote server, or when nothing arrived. Its name.
    #[error("\"{0}\" was not measured in this run")]
    NotMeasured(String),
}

/// A comparison: its sign, and when it holds.
type Operator = (&'static str, fn(&f64, &f64) -> bool);

/// The unit of a number: its name, and how many microseconds it is if it is one of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureUnit {
    name: &'static str,
    microseconds: Option<f64>,
}

impl Threshold {
    /// Whether the result keeps to it.
    pub fn evaluate(&self, result: &Value) -> Result<Evaluation, ThresholdError> {
        let path = &self.path;
        let wrong = |what: String| {
            let meant = nearest(result, path).map_or(String::new(), |nearest| format!("; did you mean {nearest}?"));
            Err(ThresholdError::Wrong(what + &meant))
        };
        match find(result, path) {
            Found::Number(actual, field) => {
                let unit = FigureUnit::of_field(&field);
                Ok(Evaluation { passed: self.compare(actual, unit)?, actual, unit })
            }
            Found::Null(field) => {
                self.compare(0.0, FigureUnit::of_field(&field))?;
                Err(ThresholdError::NotMeasured(path.clone()))
            }
            Found::Other => wrong(format!("\"{path}\" is not a number")),
            Found::Nothing => wrong(format!("the result has no \"{path}\"")),
        }
    }

    /// Whether the condition holds for this number of this unit. A limit without a unit is taken to be in that unit.
    pub fn compare(&self, actual: f64, target: Option<FigureUnit>) -> Result<bool, ThresholdError> {
        let limit = match (self.unit, target) {
            (None, _) => self.limit,
            (Some(unit), Some(target)) if unit == target => self.limit,
            (Some(PERCENT), Some(SHARE)) => self.limit / 100.0,
            (Some(unit), target) => match (unit.microseconds, target.and_then(|target| target.microseconds)) {
                (Some(from), Some(to)) => self.limit * from / to,
                _ => {
                    return Err(ThresholdError::Wrong(format!("\"{}\" is not measured in {}", self.path, unit.name)));
                }
            },
        };
        Ok((self.operator.1)(&actual, &limit))
    }

    /// Which number of the result it is about, as written.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl FigureUnit {
    /// The unit of a row's figure: milliseconds if it is one of these, else as its name says.
    pub fn of(figure: &str, times: &[&str]) -> Option<Self> {
        if times.contains(&figure) { Some(MILLISECONDS) } else { Self::of_field(figure) }
    }

    /// Its symbol, as `ms`; `None` of a share, which is a plain number.
    pub fn symbol(self) -> Option<&'static str> {
        (self != SHARE).then_some(self.name)
    }

    /// The unit that ends a field's name, or else its group's name, as in `latency_ms.p99`.
    fn of_field(field: &str) -> Option<Self> {
        field.rsplit('.').find_map(|name| {
            let last = name.split("_per_").next().unwrap_or(name).rsplit('_').next()?;
            let last = if last == "percent" { "%" } else { last };
            UNITS.into_iter().chain([SHARE]).find(|unit| unit.name == last)
        })
    }
}

read_by!(parse => Threshold, "a threshold", "latency.p99<50ms or messages.lost==0");

fn parse(text: &str) -> Result<Threshold, String> {
    let Some(at) = text.find(['<', '>', '=', '!']) else {
        return Err("it has no comparison; there are <, <=, >, >=, == and !=".into());
    };
    let (path, rest) = text.split_at(at);
    let path = path.trim_end();
    let Some(operator) = OPERATORS.into_iter().find(|(sign, _)| rest.starts_with(sign)) else {
        return Err("its comparison is none of <, <=, >, >=, == and !=".into());
    };
    let named = !path.is_empty() && path.split('.').all(|name| !name.is_empty());
    if !named || !path.chars().all(|c| c.is_ascii_alphanumeric() || "_.-:+".contains(c)) {
        return Err(format!("\"{path}\" is not the name of a figure"));
    }
    let value = rest[operator.0.len()..].trim_start();
    let (sign, digits) = value.strip_prefix('-').map_or((1.0, value), |digits| (-1.0, digits));
    let (number, unit) = split_unit(digits);
    let limit: f64 = number.parse().map_err(|_| format!("\"{value}\" does not begin with a number"))?;
    let known = UNITS.into_iter().find(|known| known.name == unit);
    if known.is_none() && !unit.is_empty() {
        return Err(format!("\"{unit}\" is not a unit; there are us, ms, s and %"));
    }
    Ok(Threshold { path: path.to_owned(), operator, limit: sign * limit, unit: known })
}

/// Longer signs first, so that `<=` is not read as `<`.
const OPERATORS: [Operator; 6] =
    [("<=", f64::le), (">=", f64::ge), ("==", f64::eq), ("!=", f64::ne), ("<", f64::lt), (">", f64::gt)];
const MILLISECONDS: FigureUnit = FigureUnit { name: "ms", microseconds: Some(1e3) };
const PERCENT: FigureUnit = FigureUnit { name: "%", microseconds: None };
/// Of 1, as results have them; a limit may be in percent.
const SHARE: FigureUnit = FigureUnit { name: "share", microseconds: None };
const UNITS: [FigureUnit; 4] = [
    FigureUnit { name: "us", microseconds: Some(1.0) },
    MILLISECONDS,
    FigureUnit { name: "s", microseconds: Some(1e6) },
    PERCENT,
];

#[cfg(test)]
mod tests;
