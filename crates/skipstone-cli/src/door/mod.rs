//! Authentication of console and dashboard: the token, and the places of connections that have not given it.

mod places;
mod secret;

pub(crate) use places::{Place, Places, PlacesMax};
pub(crate) use secret::{Secret, WRONG_TOLD_AFTER, check_reach};
