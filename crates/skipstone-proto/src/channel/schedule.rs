//! Whose turn it is to send: by priority, then round robin with weights inside one priority.

use std::collections::VecDeque;

/// Channels that have something new to send. Holds nothing for the others.
#[derive(Debug, Default)]
pub struct Schedule {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    priority: u8,
    slots: VecDeque<u32>,
    /// Bytes that the channel at the front may still send in its turn; 0 if its turn has not begun.
    turn: i64,
}

/// Bytes that a channel of weight 1 sends before the next of its priority.
pub const TURN_BYTES: i64 = 1_200;

impl Schedule {
    /// Puts a channel's slot at the end of its priority.
    pub fn push(&mut self, priority: u8, slot: u32) {
        let at = self.levels.partition_point(|level| level.priority < priority);
        if self.levels.get(at).is_none_or(|level| level.priority != priority) {
            self.levels.insert(at, Level { priority, slots: VecDeque::new(), turn: 0 });
        }
        self.levels[at].slots.push_back(slot);
    }

    /// The slot whose turn it is: of the most urgent priority (the least number) that has one at or after `level`.
    pub fn front(&self, level: usize) -> Option<(usize, u32)> {
        let levels = self.levels.iter().enumerate().skip(level);
        levels.filter_map(|(index, level)| Some((index, *level.slots.front()?))).next()
    }

    /// The bytes left of the turn of a level's front, which has this weight.
    pub fn turn(&mut self, level: usize, weight: u8) -> &mut i64 {
        let turn = &mut self.levels[level].turn;
        if *turn <= 0 {
            *turn = TURN_BYTES * i64::from(weight);
        }
        turn
    }

    /// The front of a level has had its turn and wants another.
    pub fn rotate(&mut self, level: usize) {
        let level = &mut self.levels[level];
        level.turn = 0;
        level.slots.rotate_left(1);
    }

    /// The front of a level has nothing left.
    pub fn pop(&mut self, level: usize) {
        let level = &mut self.levels[level];
        level.turn = 0;
        level.slots.pop_front();
    }

    /// How many channels wait in a level.
    pub fn waiting(&self, level: usize) -> usize {
        self.levels[level].slots.len()
    }

    /// Every slot that waits.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.levels.iter().flat_map(|level| level.slots.iter().copied())
    }

    /// Whether no channel waits.
    pub fn is_empty(&self) -> bool {
        self.levels.iter().all(|level| level.slots.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgent_channels_go_first_and_equals_take_turns() {
        let mut schedule = Schedule::default();
        for (priority, slot) in [(2, 20), (1, 10), (1, 11), (0, 0)] {
            schedule.push(priority, slot);
        }
        assert_eq!(schedule.front(0), Some((0, 0)));
        schedule.pop(0);
        let (level, slot) = schedule.front(0).expect("more wait");
        assert_eq!(slot, 10);
        schedule.rotate(level);
        assert_eq!(schedule.front(0), Some((level, 11)));
        assert_eq!(schedule.front(level + 1).map(|(_, slot)| slot), Some(20));
        assert_eq!(*schedule.turn(level, 3), 3 * TURN_BYTES);
    }
}
