//! The recorded costs of the paths: a file with a section for each kind of processor.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::machine::tree::Tree;

pub(super) const FILE: &str = "crates/skipstone-proto/benches/instructions.toml";

const HEAD: &str = "\
# Instructions that each scenario of instructions.rs costs, a unit of its work, by processor.
# `cargo xtask instructions --update` writes it; `cargo xtask test` fails when one costs 10% more.
";

/// Instructions a unit, by scenario.
pub(super) type Counts = BTreeMap<&'static str, f64>;

/// The content of the record file.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Counts by name, by architecture.
    sections: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Record {
    /// The record; empty if there is no file.
    pub(super) fn read(tree: &Tree) -> Result<Record, String> {
        match std::fs::read_to_string(tree.root().join(FILE)) {
            Ok(text) => Record::parse(&text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Record::default()),
            Err(error) => Err(format!("{FILE} cannot be read: {error}")),
        }
    }

    fn parse(text: &str) -> Result<Record, String> {
        let (mut record, mut section) = (Record::default(), String::new());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = name.to_owned();
            } else if !line.is_empty() {
                let entry =
                    line.split_once('=').and_then(|(name, count)| Some((name.trim(), count.trim().parse().ok()?)));
                let (name, count) = entry.ok_or_else(|| format!("{FILE}:{number}: not a name and a count: {line}"))?;
                record.sections.entry(section.clone()).or_default().insert(name.to_owned(), count);
            }
        }
        Ok(record)
    }

    /// Whether it has nothing for this kind of processor.
    pub(super) fn is_empty(&self) -> bool {
        !self.sections.contains_key(std::env::consts::ARCH)
    }

    /// Instructions a unit.
    pub(super) fn count(&self, name: &str) -> Option<f64> {
        self.sections.get(std::env::consts::ARCH)?.get(name).copied()
    }

    /// Replaces the counts of this kind of processor, and keeps counts that this machine cannot measure.
    pub(super) fn set(&mut self, counts: &Counts) {
        let section = self.sections.entry(std::env::consts::ARCH.to_owned()).or_default();
        section.extend(counts.iter().map(|(name, count)| ((*name).to_owned(), *count)));
    }

    pub(super) fn write(&self, tree: &Tree) -> Result<(), String> {
        std::fs::write(tree.root().join(FILE), self.text())
            .map_err(|error| format!("{FILE} cannot be written: {error}"))
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (arch, counts) in &self.sections {
            let _ = write!(text, "\n[{arch}]\n");
            for (name, count) in counts {
                let _ = writeln!(text, "{name} = {count:.1}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_is_written_and_other_processors_stay() {
        let mut record = Record::parse("# why\n[other]\nfanout = 7.5\n").unwrap();
        assert!(record.is_empty());
        record.set(&Counts::from([("fanout", 1_234.5), ("acks", 10.0)]));
        let again = Record::parse(&record.text()).unwrap();
        assert_eq!(again.sections, record.sections);
        assert_eq!((again.count("fanout"), again.count("none")), (Some(1_234.5), None));
        assert_eq!(again.sections["other"]["fanout"], 7.5);
        assert!(Record::parse("fanout\n").unwrap_err().contains(":1:"));
    }
}
