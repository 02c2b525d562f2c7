//! The operator's doors, console and dashboard: the token that opens them, and who waits before them.

mod places;
mod secret;

pub(crate) use places::{Place, Places, PlacesMax};
pub(crate) use secret::{check_token, same_in_constant_time};
