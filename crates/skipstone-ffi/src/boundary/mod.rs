//! The exported functions, grouped by subject, and `raw`, which follows the caller's pointers. Each function checks
//! what can be checked: NULL, alignment, lengths, UTF-8, sizes, handles. It has to trust that a pointer which is not
//! NULL points to what the header states.

mod both;
mod client;
mod client_config;
mod events;
mod groups;
mod library_wide;
mod peers;
mod raw;
mod reconnect;
mod server;
mod server_config;
