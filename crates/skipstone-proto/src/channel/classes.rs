//! Redundancy classes: channels whose rules name the same mode share a class, and only channels of one class share
//! packets of new messages.

use crate::wire::redundancy::RedundancyMode;
use crate::wire::settings::Settings;

/// A class, by its place among the modes of the settings.
pub(crate) type ClassId = u8;

/// The class of each rule's channels.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    /// By rule; empty if there is one class for all.
    by_rule: Box<[ClassId]>,
}

impl Classes {
    /// The classes of a channel table.
    pub(crate) fn new(settings: &Settings) -> Self {
        let modes = modes(settings);
        if modes.len() == 1 {
            return Classes::default();
        }
        let class = |mode| modes.iter().position(|known| *known == mode).expect("these are all modes") as ClassId;
        Classes { by_rule: rule_modes(settings).map(class).collect() }
    }

    /// The class of the channels of this rule.
    pub(crate) fn of(&self, rule: u8) -> ClassId {
        self.by_rule.get(usize::from(rule)).copied().unwrap_or(0)
    }

    /// Whether all channels are of one class.
    pub(crate) fn is_one(&self) -> bool {
        self.by_rule.is_empty()
    }
}

/// The mode of each class: at least one, and no more than there are rules.
pub(crate) fn modes(settings: &Settings) -> Vec<RedundancyMode> {
    let mut modes = Vec::with_capacity(1);
    for mode in rule_modes(settings) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    if modes.is_empty() {
        modes.push(settings.redundancy.mode);
    }
    modes
}

fn rule_modes(settings: &Settings) -> impl Iterator<Item = RedundancyMode> {
    settings.channels.iter().map(|rule| settings.redundancy_of(rule))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::settings::{ChannelRule, DeliveryMode};

    fn settings(of_rules: &[Option<RedundancyMode>]) -> Settings {
        let rule = |redundancy: &Option<RedundancyMode>| ChannelRule {
            redundancy: *redundancy,
            ..ChannelRule::new(0..=9, DeliveryMode::ReliableOrdered)
        };
        Settings { channels: of_rules.iter().map(rule).collect(), ..Settings::default() }
    }

    #[test]
    fn rules_with_the_same_mode_share_a_class() {
        let (off, lean) = (RedundancyMode::Off, RedundancyMode::Lean);
        let mixed = settings(&[Some(off), None, Some(lean), Some(RedundancyMode::Adaptive), Some(off)]);
        assert_eq!(modes(&mixed), [off, RedundancyMode::Adaptive, lean]);
        let classes = Classes::new(&mixed);
        assert_eq!([0, 1, 2, 3, 4].map(|rule| classes.of(rule)), [0, 1, 2, 1, 0]);
    }

    #[test]
    fn rules_equal_to_the_settings_add_no_class() {
        for rules in [&[][..], &[None, None], &[None, Some(RedundancyMode::Adaptive)]] {
            assert_eq!(modes(&settings(rules)), [RedundancyMode::Adaptive]);
            assert!(Classes::new(&settings(rules)).is_one());
        }
    }
}
