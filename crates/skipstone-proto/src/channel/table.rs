//! All channels of a connection: 65,536 ids, of which the active ones have state and the idle ones 8 bytes of counters.

use super::Channel;
use super::incoming::Incoming;
use super::outgoing::Outgoing;
use crate::seq::Seq;
use crate::wire::settings::Settings;

/// Finds a channel's state by its id; makes it when first used, frees it when idle.
#[derive(Debug, Default)]
pub struct Table {
    pages: Vec<Option<Box<Page>>>,
    slots: Vec<Option<Channel>>,
    free: Vec<u32>,
    recycled: Vec<Channel>,
    active: u32,
}

/// 64 channels: the counters of the idle ones, the slots of the active ones.
#[derive(Debug)]
struct Page {
    /// Bit by channel: whether its entry is a slot.
    active: u64,
    entries: [Entry; PAGE],
}

/// Idle: the next sequences to send and to receive. Active: the slot, and nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Entry(u32, u32);

const PAGE: usize = 64;
/// Freed states that wait to be used again, so that a channel which wakes each tick allocates nothing.
const RECYCLED_MAX: usize = 2;

impl Table {
    /// The slot of a channel that is active.
    pub fn find(&self, id: u16) -> Option<u32> {
        let page = self.pages.get(usize::from(id) / PAGE)?.as_ref()?;
        let place = usize::from(id) % PAGE;
        (page.active >> place & 1 == 1).then(|| page.entries[place].0)
    }

    /// The slot of a channel, which becomes active if it was not. `None` if no rule holds it.
    pub fn activate(&mut self, id: u16, settings: &Settings) -> Option<u32> {
        if let Some(slot) = self.find(id) {
            return Some(slot);
        }
        let rule_index = settings.channels.iter().position(|rule| (rule.first..=rule.last).contains(&id))?;
        let rule = &settings.channels[rule_index];
        let (page, place) = (usize::from(id) / PAGE, usize::from(id) % PAGE);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new(Page { active: 0, entries: [Entry(0, 0); PAGE] }));
        let Entry(send, receive) = page.entries[place];
        let incoming = Incoming::new(rule.mode, Seq(receive));
        let channel = match self.recycled.pop() {
            Some(mut channel) => {
                channel.outgoing.reuse(rule, Seq(send));
                Channel { id, rule: rule_index as u8, incoming, ..channel }
            }
            None => Channel {
                id,
                rule: rule_index as u8,
                outgoing: Outgoing::new(rule, Seq(send)),
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
        page.entries[place] = Entry(slot, 0);
        self.active += 1;
        Some(slot)
    }

    /// Frees the state of a channel that has become idle; its counters stay.
    pub fn release_if_idle(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        if !place.as_ref().is_some_and(Channel::is_idle) {
            return;
        }
        let channel = place.take().expect("it is there");
        let page = self.pages[usize::from(channel.id) / PAGE].as_mut().expect("an active channel has a page");
        page.active &= !(1 << (usize::from(channel.id) % PAGE));
        page.entries[usize::from(channel.id) % PAGE] = Entry(channel.outgoing.next().0, channel.incoming.next().0);
        self.free.push(slot);
        self.active -= 1;
        if self.recycled.len() < RECYCLED_MAX {
            self.recycled.push(channel);
        }
        if self.active == 0 && self.slots.len() > PAGE {
            self.slots = Vec::new();
            self.free = Vec::new();
        }
    }

    /// Lets go of freed states that wait to be used again.
    pub fn forget_spare(&mut self) {
        self.recycled = Vec::new();
    }

    /// The channel in a slot.
    pub fn slot(&mut self, slot: u32) -> &mut Channel {
        self.slots[slot as usize].as_mut().expect("a slot in use holds a channel")
    }

    /// The channel of a slot in use.
    pub fn peek(&self, slot: u32) -> &Channel {
        self.slots[slot as usize].as_ref().expect("a slot in use holds a channel")
    }

    /// Every active channel.
    pub fn iter(&self) -> impl Iterator<Item = &Channel> {
        self.slots.iter().flatten()
    }

    /// Every active channel.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Channel> {
        self.slots.iter_mut().flatten()
    }

    /// How many slots there are, active or not: their numbers are below this.
    pub fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Whether a slot holds a channel.
    pub fn is_in_use(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(Option::is_some)
    }

    /// How many channels are active.
    pub fn active(&self) -> u32 {
        self.active
    }
}
