//! The operator's doors, console and dashboard: the token that opens them, and who waits before them.

mod places;
mod secret;

pub(crate) use places::{Place, Places, PlacesMax};
pub(crate) use secret::{Secret, WRONG_TOLD_AFTER, check_reach};
