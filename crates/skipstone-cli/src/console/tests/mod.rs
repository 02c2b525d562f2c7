//! Helpers that the parts share for their tests, and tests of the whole over loopback, a file for each claim.

mod client;
mod closing_ends_sessions_and_frees_the_port;
mod hostile_clients_harm_no_client;
mod no_other_protocol_runs_commands;
mod plain_clients_get_clean_lines;
pub(in crate::console) mod random;
mod session;
mod token_comes_first;
