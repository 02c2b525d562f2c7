//! Claims about every engine. SQLite is always tested; servers of MariaDB and PostgreSQL, started by these tests in
//! folders of their own, if `SKIPSTONE_TEST_SERVERS` is set: `cargo xtask test --only databases` does that.

mod a_stalled_database_delays_no_caller;
mod acknowledged_batches_survive_kill;
mod bad_databases_are_refused_with_a_remedy;
mod engines_agree_row_by_row;
mod recording_continues;
mod servers;
