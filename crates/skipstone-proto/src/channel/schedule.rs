//! The order in which channels send: by priority, then class by class, one packet each, then round robin with weights
//! inside one class of a priority.

use super::classes::ClassId;
use std::collections::VecDeque;

/// Channels with new messages to send. It holds nothing for the others.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// By priority; inside one, the class whose turn it is comes first.
    levels: Vec<PriorityLevel>,
}

/// The channels of one priority and class.
#[derive(Debug)]
struct PriorityLevel {
    priority: u8,
    class: ClassId,
    /// The packet under construction has messages of it.
    is_served: bool,
    slots: VecDeque<u32>,
    /// Bytes that the channel at the front may still send in its turn; 0 if its turn has not begun.
    turn: i64,
}

/// Bytes that a channel of weight 1 sends before the next of its priority.
pub(crate) const TURN_BYTES: i64 = 1_200;

impl Schedule {
    /// Puts a channel's slot at the end of its priority and class.
    pub(crate) fn push(&mut self, priority: u8, class: ClassId, slot: u32) {
        let begin = self.levels.partition_point(|level| level.priority < priority);
        let end = begin + self.levels[begin..].partition_point(|level| level.priority == priority);
        let at = begin + self.levels[begin..end].iter().take_while(|level| level.class != class).count();
        if at == end {
            let level = PriorityLevel { priority, class, is_served: false, slots: VecDeque::new(), turn: 0 };
            self.levels.insert(at, level);
        }
        let PriorityLevel { turn, slots, .. } = &mut self.levels[at];
        slots.push_back(slot);
        // A channel that was the only one takes turns from now on, and begins with its own turn.
        if slots.len() == 2 {
            *turn = 0;
        }
    }

    /// The slot whose turn it is: of the most urgent priority (the least number) that has one at or after `level`.
    pub(crate) fn front(&self, level: usize) -> Option<(usize, u32)> {
        let levels = self.levels.iter().enumerate().skip(level);
        levels.filter_map(|(index, level)| Some((index, *level.slots.front()?))).next()
    }

    /// The bytes left of the turn of a level's front, which has this weight. A single channel's turn has no end.
    pub(crate) fn turn(&mut self, level: usize, weight: u8) -> &mut i64 {
        let PriorityLevel { turn, slots, .. } = &mut self.levels[level];
        if *turn <= 0 || slots.len() == 1 {
            *turn = if slots.len() == 1 { i64::MAX } else { TURN_BYTES * i64::from(weight) };
        }
        turn
    }

    /// The front of a level has had its turn and has more to send.
    pub(crate) fn rotate(&mut self, level: usize) {
        let level = &mut self.levels[level];
        level.turn = 0;
        level.slots.rotate_left(1);
    }

    /// The front of a level has nothing left.
    pub(crate) fn pop(&mut self, level: usize) {
        let level = &mut self.levels[level];
        level.turn = 0;
        level.slots.pop_front();
    }

    /// A channel has nothing left, during its turn or not.
    pub(crate) fn remove(&mut self, slot: u32) {
        for level in &mut self.levels {
            if level.slots.front() == Some(&slot) {
                level.turn = 0;
            }
            level.slots.retain(|other| *other != slot);
        }
    }

    /// The packet under construction has messages of this level.
    pub(crate) fn serve(&mut self, level: usize) {
        self.levels[level].is_served = true;
    }

    /// The packet is complete: in the priorities that it served, the other classes are next.
    pub(crate) fn end_packet(&mut self) {
        for at in 0..self.levels.len() {
            if core::mem::take(&mut self.levels[at].is_served) {
                let priority = self.levels[at].priority;
                let others = self.levels[at..].partition_point(|level| level.priority == priority);
                self.levels[at..at + others].rotate_left(1);
            }
        }
    }

    /// The class of a level.
    pub(crate) fn class(&self, level: usize) -> ClassId {
        self.levels[level].class
    }

    /// How many channels wait in a level.
    pub(crate) fn waiting(&self, level: usize) -> usize {
        self.levels[level].slots.len()
    }

    /// The slots that wait in a level, in the order of their turns.
    pub(crate) fn slots(&self, level: usize) -> impl Iterator<Item = u32> + '_ {
        self.levels[level].slots.iter().copied()
    }

    /// The slots of a class that wait.
    pub(crate) fn slots_of(&self, class: ClassId) -> impl Iterator<Item = u32> + '_ {
        let levels = self.levels.iter().filter(move |level| level.class == class);
        levels.flat_map(|level| level.slots.iter().copied())
    }

    /// How many levels there are: the first is the most urgent.
    pub(crate) fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// Whether no channel waits.
    pub(crate) fn is_empty(&self) -> bool {
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
            schedule.push(priority, 0, slot);
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

    #[test]
    fn a_lone_channel_has_an_unlimited_turn_and_takes_turns_among_others() {
        let mut schedule = Schedule::default();
        schedule.push(1, 0, 10);
        assert_eq!(*schedule.turn(0, 8), i64::MAX);
        schedule.push(1, 0, 11);
        *schedule.turn(0, 8) -= 5_000;
        schedule.push(1, 0, 12);
        assert_eq!(*schedule.turn(0, 8), 8 * TURN_BYTES - 5_000, "others that come do not shorten its turn");
    }

    #[test]
    fn classes_of_one_priority_take_turns_packet_by_packet() {
        let mut schedule = Schedule::default();
        for (priority, class, slot) in [(1, 0, 10), (1, 1, 11), (1, 2, 12), (1, 1, 13), (2, 0, 20)] {
            schedule.push(priority, class, slot);
        }
        let mut classes = Vec::new();
        for _ in 0..5 {
            let (level, _) = schedule.front(0).expect("they wait");
            classes.push(schedule.class(level));
            schedule.serve(level);
            schedule.end_packet();
        }
        assert_eq!(classes, [0, 1, 2, 0, 1]);
        assert_eq!(schedule.slots_of(1).collect::<Vec<_>>(), [11, 13]);
        assert_eq!(schedule.front(3), Some((3, 20)), "another priority is another matter");
    }
}
