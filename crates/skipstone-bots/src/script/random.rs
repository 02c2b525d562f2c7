//! `math.random` of a bot: the same numbers in each run of the seed, whatever other bots do.

use super::host::Host;
use mlua::{Function, Lua, Number, Value};
use std::rc::Rc;

/// The function that replaces Luau's own, whose state all bots would share.
pub(super) fn function(lua: &Lua, host: Rc<dyn Host>) -> mlua::Result<Function> {
    lua.create_function(move |_, (low, high): (Option<Number>, Option<Number>)| {
        let (low, high) = match (low, high) {
            (None, _) => return Ok(Value::Number(share(host.random()))),
            (Some(high), None) => (1.0, high),
            (Some(low), Some(high)) => (low, high),
        };
        let (low, high) = (low.floor(), high.floor());
        if !(low <= high && low.abs() <= WHOLE_MAX && high.abs() <= WHOLE_MAX) {
            return Err(mlua::Error::runtime(format!("math.random: there is no whole number of {low} to {high}")));
        }
        let span = (high - low) as u128 + 1;
        // The high word of a product is even enough: its error is below 1 in 2^10 even of the widest span.
        let offset = ((u128::from(host.random()) * span) >> 64) as f64;
        Ok(Value::Number(low + offset))
    })
}

/// A number of 0 to 1, without 1.
fn share(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

/// Larger whole numbers are not exact.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_share_is_below_one() {
        assert!(share(u64::MAX) < 1.0 && share(0) == 0.0);
    }
}
