//! The memory of a VM, by the bot that allocated it: Luau counts it in categories, of which it has 256. With more bots
//! than that in a VM, several share one.
#![expect(unsafe_code, reason = "mlua names categories by text, which costs too much at each call")]

use mlua::{Lua, ffi};

/// The counters of a VM; used no longer than it.
pub(super) struct Memory {
    state: *mut ffi::lua_State,
}

impl Memory {
    pub(super) fn of(lua: &Lua) -> Self {
        Memory { state: lua.state() }
    }

    /// From now on, what is allocated is this bot's.
    pub(super) fn enter(&self, bot: u32) {
        // SAFETY: the state is that of the VM, which outlives this value, in its only thread; categories are 0 to 255.
        unsafe { ffi::lua_setmemcat(self.state, i32::from(category(bot))) }
    }

    /// Bytes of this bot, and of those that share its category.
    pub(super) fn of_bot(&self, bot: u32) -> usize {
        self.of_category(category(bot))
    }

    /// The category with the most bytes, if it has far more than the others have: a bot in it holds too much.
    pub(super) fn hoard(&self) -> Option<Hoard> {
        let sizes = (1..=CATEGORIES).map(|category| (self.of_category(category), category));
        let used: Vec<(usize, u8)> = sizes.filter(|(bytes, _)| *bytes > 0).collect();
        let (bytes, category) = used.iter().max().copied()?;
        let others: usize = used.iter().map(|(bytes, _)| bytes).sum::<usize>() - bytes;
        let usual = others / (used.len() - 1).max(1);
        (bytes > HOARD_MIN && bytes / HOARD_TIMES > usual).then_some(Hoard { category, bytes })
    }

    fn of_category(&self, category: u8) -> usize {
        // SAFETY: as above.
        unsafe { ffi::lua_totalbytes(self.state, i32::from(category)) }
    }
}

/// A category that has far more than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hoard {
    category: u8,
    /// How much it has.
    pub(crate) bytes: usize,
}

impl Hoard {
    /// Whether this bot's memory is counted there.
    pub(crate) fn may_be_of(self, bot: u32) -> bool {
        category(bot) == self.category
    }
}

/// 0 is what belongs to no bot.
fn category(bot: u32) -> u8 {
    (bot % u32::from(CATEGORIES)) as u8 + 1
}

const CATEGORIES: u8 = 255;
/// Less is no hoard, whatever the others have.
const HOARD_MIN: usize = 8 << 20;
/// Bots of one script need about the same.
const HOARD_TIMES: usize = 8;
