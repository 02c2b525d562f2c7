//! What the parts share for their tests, and tests of the whole over loopback, a file for each claim.

mod client;
mod closing_ends_sessions_and_frees_the_port;
mod editor;
mod hostile_clients_hurt_nobody;
mod plain_clients_get_clean_lines;
pub(in crate::console) mod random;
mod screen;
mod session;
mod telnet_clients_get_line_editing;
mod token_comes_first;
