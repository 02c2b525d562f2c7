//! The catalogue: every statistic, setting and close code is declared once, by a macro that makes the type and a table
//! about it. The crate `skipstone-catalogue` writes the other languages' types and the guide's tables from these
//! tables.

mod close_code;
mod figure;
mod setting;
mod unique;

pub use close_code::CloseCode;
pub use figure::{Figure, Metric, Unit};
pub use setting::{Setting, SettingNumber, SettingUnit};
pub use unique::{are_codes_ascending, are_figures_unique, are_ids_unique};

/// The first paragraph of lines as doc comments have them, in one line.
fn one_line(about: &str) -> String {
    let paragraph = about.lines().map(str::trim).take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<_>>().join(" ")
}
