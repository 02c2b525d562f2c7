//! The operator's doors, console and dashboard: the token that opens them, and who waits before them.

mod places;
mod secret;

pub(crate) use places::{STRANGERS_MAX, Seat, Seats, make_room};
pub(crate) use secret::{check_token, same_in_constant_time};
