//! Runs of `skipstone bots` against small servers of these tests, which are no Skipstone. Nothing here depends on how
//! fast the machine is: a late generator makes a run invalid, and its figures are compared all the same.

mod examples_run;
mod framings;
mod hostile_protocols;
mod hostile_servers;
mod limits_are_found;
mod lobby;
mod logins;
mod recordings;
mod runs;
mod same_seed_same_bytes;
mod scripts_with_mistakes;
mod secure_streams;
mod servers;
mod skipstone_servers;
mod slow_readers;
mod stalls_are_found;
mod the_guide;
mod tls_servers;
mod types_agree;
