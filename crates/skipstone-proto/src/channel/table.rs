//! All channels of a connection: 65,536 ids. Active channels have state, idle ones 8 bytes of counters, except the one
//! that became idle last.

use super::Channel;
use super::footprint::allocated;
use super::incoming::Incoming;
use super::outgoing::Outgoing;
use crate::seq::Seq;
use crate::wire::settings::Settings;
use skipstone_prefetch::{Step, prefetch};

/// Finds a channel's state by its id; creates it at the first use, frees it when idle.
#[derive(Debug, Default)]
pub(crate) struct ChannelTable {
    pages: Vec<Option<Box<Page>>>,
    /// Number of pages.
    page_count: u32,
    slots: Vec<Option<Channel>>,
    free: Vec<u32>,
    active: u32,
    /// The slot that was used last: most connections use one channel more than all others.
    last: u32,
    /// A channel that has become idle and keeps its state until another one becomes idle: most wake again soon.
    resting: Option<u32>,
    /// Room for a freed state, so that channels that wake in turn allocate nothing.
    recycled: Option<Box<Option<Channel>>>,
}

/// 64 channels: the counters of the idle ones, the slots of the active ones.
#[derive(Debug)]
struct Page {
    /// Bit by channel: whether its entry is a slot.
    active: u64,
    entries: [IdleCounters; PAGE],
}

/// Idle: the next sequences to send and to receive. Active: the slot only.
#[derive(Clone, Copy, Debug, Default)]
struct IdleCounters(u32, u32);

const PAGE: usize = 64;

impl ChannelTable {
    /// The slot of a channel that is active.
    pub(crate) fn find(&self, id: u16) -> Option<u32> {
        // A fast path that avoids reading the pages, which are elsewhere in memory.
        if self.slots.get(self.last as usize).is_some_and(|slot| slot.as_ref().is_some_and(|channel| channel.id == id))
        {
            return Some(self.last);
        }
        let page = self.pages.get(usize::from(id) / PAGE)?.as_ref()?;
        let place = usize::from(id) % PAGE;
        (page.active >> place & 1 == 1).then(|| page.entries[place].0)
    }

    /// Prefetches the channel that was used last; if that is cached, its queues.
    pub(crate) fn prefetch(&self, step: Step) {
        let Some(slot) = self.slots.get(self.last as usize) else { return };
        if step != Step::Beyond {
            // The fetched cache line shows whether there is one.
            prefetch(slot);
        } else if let Some(channel) = slot {
            channel.outgoing.prefetch();
        }
    }

    /// The slot of a channel, which becomes active if it was not. `None` if no rule covers it.
    pub(crate) fn activate(&mut self, id: u16, settings: &Settings) -> Option<u32> {
        if let Some(slot) = self.find(id) {
            self.last = slot;
            return Some(slot);
        }
        let rule_index = settings.channels.iter().position(|rule| (rule.first..=rule.last).contains(&id))?;
        let rule = &settings.channels[rule_index];
        let (page, place) = (usize::from(id) / PAGE, usize::from(id) % PAGE);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| {
            self.page_count += 1;
            Box::new(Page { active: 0, entries: [IdleCounters(0, 0); PAGE] })
        });
        let IdleCounters(send, receive) = page.entries[place];
        let incoming = Incoming::new(rule.mode, Seq(receive));
        let redundancy = settings.redundancy_of(rule);
        let channel = match self.recycled.as_mut().and_then(|room| room.take()) {
            Some(mut channel) => {
                channel.outgoing.reuse(id, rule, redundancy, Seq(send));
                Channel { id, rule: rule_index as u8, incoming, ..channel }
            }
            None => Channel {
                id,
                rule: rule_index as u8,
                outgoing: Outgoing::new(id, rule, redundancy, Seq(send)),
                incoming,
                is_scheduled: false,
                is_resending: false,
            },
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = Some(channel);
        page.active |= 1 << place;
        page.entries[place] = IdleCounters(slot, 0);
        self.active += 1;
        self.last = slot;
        Some(slot)
    }

    /// Marks a channel as resting if it has become idle, and frees the state of the previous resting one; its counters
    /// stay.
    pub(crate) fn release_if_idle(&mut self, slot: u32) {
        let is_idle = self.slots[slot as usize].as_ref().is_some_and(Channel::is_idle);
        if !is_idle || self.resting == Some(slot) && self.slots.len() <= PAGE {
            return;
        }
        if let Some(before) = self.resting.replace(slot).filter(|before| *before != slot) {
            self.free_if_idle(before);
        }
        // The memory of many channels that were active at once is freed with the last of them.
        if self.active == 1 && self.slots.len() > PAGE {
            self.resting = None;
            self.free_if_idle(slot);
        }
    }

    fn free_if_idle(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        if !place.as_ref().is_some_and(Channel::is_idle) {
            return;
        }
        let mut channel = place.take().expect("it is there");
        channel.outgoing.trim();
        let page = self.pages[usize::from(channel.id) / PAGE].as_mut().expect("an active channel has a page");
        page.active &= !(1 << (usize::from(channel.id) % PAGE));
        page.entries[usize::from(channel.id) % PAGE] =
            IdleCounters(channel.outgoing.next().0, channel.incoming.next().0);
        self.free.push(slot);
        self.active -= 1;
        **self.recycled.get_or_insert_default() = Some(channel);
        if self.active == 0 && self.slots.len() > PAGE {
            self.slots = Vec::new();
            self.free = Vec::new();
        }
    }

    /// Frees the resting channel and the state for reuse.
    pub(crate) fn shrink(&mut self) {
        if let Some(slot) = self.resting.take() {
            self.free_if_idle(slot);
        }
        self.recycled = None;
    }

    /// The channel in a slot.
    pub(crate) fn slot(&mut self, slot: u32) -> &mut Channel {
        self.slots[slot as usize].as_mut().expect("a slot in use holds a channel")
    }

    /// The channel of a slot in use.
    pub(crate) fn peek(&self, slot: u32) -> &Channel {
        self.slots[slot as usize].as_ref().expect("a slot in use holds a channel")
    }

    /// Every active channel.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Channel> {
        self.slots.iter().flatten()
    }

    /// Every active channel.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Channel> {
        self.slots.iter_mut().flatten()
    }

    /// How many slots there are, active or not: their numbers are below this.
    pub(crate) fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Whether a slot holds a channel.
    pub(crate) fn is_in_use(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(Option::is_some)
    }

    /// Memory of all channels, without their messages.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let slots = allocated(self.slots.capacity() * size_of::<Option<Channel>>());
        let lists =
            allocated(self.free.capacity() * size_of::<u32>()) + allocated(self.pages.capacity() * size_of::<usize>());
        let recycled = self.recycled.as_ref().map_or(0, |_| allocated(size_of::<Option<Channel>>()));
        slots + lists + recycled + allocated(size_of::<Page>()) * u64::from(self.page_count)
    }

    /// Number of channels that are active and not resting.
    pub(crate) fn active(&self) -> u32 {
        let is_resting = self.resting.is_some_and(|slot| self.peek(slot).is_idle());
        self.active - u32::from(is_resting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_idles_often_is_freed_last_among_busy_ones() {
        let (mut table, settings) = (ChannelTable::default(), Settings::default());
        for id in 0..=PAGE as u16 {
            let slot = table.activate(id, &settings).expect("a rule holds it");
            table.slot(slot).is_scheduled = true;
        }
        let slot = table.activate(1_000, &settings).expect("a rule holds it");
        table.release_if_idle(slot);
        table.release_if_idle(slot);
        assert_eq!((table.find(1_000), table.active()), (Some(slot), PAGE as u32 + 1));
        // Another channel that falls idle frees the first one's state, and keeps its own instead.
        table.slot(0).is_scheduled = false;
        table.release_if_idle(0);
        assert_eq!((table.find(1_000), table.find(0), table.active()), (None, Some(0), PAGE as u32));
        for slot in 1..=PAGE as u32 {
            table.slot(slot).is_scheduled = false;
            table.release_if_idle(slot);
        }
        assert_eq!((table.active(), table.slot_count()), (0, 0), "the memory of many goes with the last of them");
        assert_eq!(table.find(5), None);
    }
}
