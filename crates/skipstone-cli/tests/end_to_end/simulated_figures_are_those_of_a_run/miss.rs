//! Missed thresholds: as printed by the tool and as recorded in a plan, which differ only in the words
//! around it.

/// One threshold, missed by one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Miss {
    /// The threshold as it was written.
    pub(super) threshold: String,
    /// Figure and row: `useful_share of skipstone off seed 1`.
    pub(super) of: String,
    pub(super) figure: String,
}

impl Miss {
    /// Of a line of a plan: `#   missed: skipstone.useful>=90%: useful_share of skipstone off seed 1 is 0.894`.
    fn of_comment(line: &str) -> Option<Self> {
        let (threshold, rest) = line.strip_prefix(COMMENT)?.split_once(": ")?;
        Self::new(threshold, rest)
    }

    /// The misses that a plan's text records.
    pub(super) fn all_of(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::of_comment).collect()
    }

    /// Of what the tool says: `The threshold … was missed: useful_share of skipstone off seed 1 is 0.894.`
    pub(super) fn of_reason(reason: &str) -> Option<Self> {
        let (threshold, rest) = reason.split_once("The threshold ")?.1.split_once(" was missed: ")?;
        Self::new(threshold, rest.strip_suffix('.')?)
    }

    fn new(threshold: &str, rest: &str) -> Option<Self> {
        let (of, figure) = rest.rsplit_once(" is ")?;
        Some(Self { threshold: threshold.to_owned(), of: of.to_owned(), figure: figure.to_owned() })
    }

    /// The line of a plan.
    fn comment(&self) -> String {
        format!("{COMMENT}{}: {} is {}", self.threshold, self.of, self.figure)
    }

    fn is_of(&self, other: &Self) -> bool {
        self.threshold == other.threshold && self.of == other.of
    }
}

/// How the misses that a run found differ from those that its plan records, a sentence each.
pub(super) fn differences(recorded: &[Miss], found: &[Miss]) -> Vec<String> {
    let news = found.iter().filter_map(|miss| match recorded.iter().find(|record| record.is_of(miss)) {
        None => Some(format!("the threshold {} is missed: {} is {}", miss.threshold, miss.of, miss.figure)),
        Some(record) if record.figure != miss.figure => {
            Some(format!("{}: {} is recorded as {}, and is {}", miss.threshold, miss.of, record.figure, miss.figure))
        }
        Some(_) => None,
    });
    let kept = recorded.iter().filter(|record| !found.iter().any(|miss| miss.is_of(record)));
    let kept =
        kept.map(|record| format!("{} is kept now: {}, recorded as {}", record.threshold, record.of, record.figure));
    news.chain(kept).collect()
}

/// The plan's text with the misses that were found in place of those that it records. A threshold that no record names
/// is not recorded: a new miss is a failure until it is recorded by hand.
pub(super) fn renewed(text: &str, found: &[Miss]) -> String {
    let mut told: Vec<String> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some(record) = Miss::of_comment(line) else {
            lines.push(line.to_owned());
            continue;
        };
        if !told.contains(&record.threshold) {
            lines.extend(found.iter().filter(|miss| miss.threshold == record.threshold).map(Miss::comment));
            told.push(record.threshold);
        }
    }
    lines.join("\n") + "\n"
}

const COMMENT: &str = "#   missed: ";

#[test]
fn a_changed_miss_is_reported_in_both_directions() {
    let miss = |threshold: &str, of: &str, figure: &str| Miss::new(threshold, &format!("{of} is {figure}")).unwrap();
    let recorded = [miss("a<=30", "a of x seed 1", "44")];
    let told = |found: &[Miss]| differences(&recorded, found).join("; ");
    assert_eq!(told(&recorded), "");
    assert_eq!(told(&[miss("a<=30", "a of x seed 1", "45")]), "a<=30: a of x seed 1 is recorded as 44, and is 45");
    assert_eq!(told(&[miss("a<=30", "a of x seed 1", "43")]), "a<=30: a of x seed 1 is recorded as 44, and is 43");
    assert_eq!(told(&[]), "a<=30 is kept now: a of x seed 1, recorded as 44");
    let other = [recorded[0].clone(), miss("a<=30", "a of x seed 2", "31"), miss("b<1", "b of x seed 1", "2")];
    assert!(told(&other).contains("a of x seed 2 is 31; the threshold b<1 is missed"), "{}", told(&other));
}

#[test]
fn an_update_records_only_previously_missed_thresholds() {
    let reason = |threshold: &str, seed: u64, figure: u64| {
        let told = format!("skipstone compare: The threshold {threshold} was missed: a of x seed {seed} is {figure}.");
        Miss::of_reason(&told).expect("the tool's words")
    };
    let plan = "# A plan.\n#   missed: a<=30: a of x seed 1 is 44\n#   missed: c<9: c of x is 10\n\nname = \"p\"\n";
    let found = [reason("a<=30", 1, 41), reason("a<=30", 2, 31), reason("b<1", 1, 2)];
    let expected =
        "# A plan.\n#   missed: a<=30: a of x seed 1 is 41\n#   missed: a<=30: a of x seed 2 is 31\n\nname = \"p\"\n";
    assert_eq!(renewed(plan, &found), expected);
}
