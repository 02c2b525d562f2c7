//! The catalogue: every statistic, setting, field of a configuration and close code is declared once, by a macro that
//! makes the type and a table about it. The crate `skipstone-catalogue` writes the other languages' types and the
//! guide's tables from these tables.

#[macro_use]
mod close_code;
#[macro_use]
mod configuration;
#[macro_use]
mod figure;
#[macro_use]
mod setting;
mod unique;

pub use close_code::{CloseCode, are_codes_ascending};
pub use configuration::{ConfigField, ConfigKind};
pub use figure::{Figure, FigureTable, Metric, Unit, are_figures_unique};
pub use setting::{Setting, SettingNumber, SettingUnit, are_ids_unique, setting_number, setting_value};

/// The first paragraph of lines as doc comments have them, in one line.
fn one_line(about: &str) -> String {
    let paragraph = about.lines().map(str::trim).take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<_>>().join(" ")
}
