//! What the compiler checks in the tables: no name is there twice, codes ascend.

use super::{CloseCode, Figure, Metric, Setting};

/// Whether no two statistics share their place in the structure, their name for people or their place in `/metrics`.
pub const fn are_figures_unique(figures: &[Figure]) -> bool {
    let mut at = 0;
    while at < figures.len() {
        let mut other = at + 1;
        while other < figures.len() {
            if collide(&figures[at], &figures[other]) {
                return false;
            }
            other += 1;
        }
        at += 1;
    }
    true
}

/// Whether close codes ascend, and none has the name of another.
pub const fn are_codes_ascending(codes: &[CloseCode]) -> bool {
    let mut at = 1;
    while at < codes.len() {
        if codes[at - 1].value >= codes[at].value {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether no two settings have one id.
pub const fn are_ids_unique(settings: &[Setting]) -> bool {
    let mut at = 0;
    while at < settings.len() {
        let mut other = at + 1;
        while other < settings.len() {
            if settings[at].id == settings[other].id {
                return false;
            }
            other += 1;
        }
        at += 1;
    }
    true
}

const fn collide(one: &Figure, other: &Figure) -> bool {
    let in_one_group = is_same(one.group, other.group);
    if in_one_group && (is_same(one.name, other.name) || is_same(one.label, other.label)) {
        return true;
    }
    match (one.metric, other.metric) {
        (Some(one), Some(other)) => is_same(one.family, other.family) && has_same_label(&one, &other),
        _ => false,
    }
}

const fn has_same_label(one: &Metric, other: &Metric) -> bool {
    match (one.label, other.label) {
        (Some((_, one)), Some((_, other))) => is_same(one, other),
        // A family of which only some values have a label cannot be shown.
        _ => true,
    }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}
