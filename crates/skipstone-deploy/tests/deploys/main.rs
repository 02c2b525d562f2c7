//! Deployments to a real sshd on the loopback interface, with real rsync. `cargo xtask test --only deploy` builds the
//! tool, and says where it is (SKIPSTONE_TEST_TOOL); without that nothing is tested here.

mod a_fleet_is_deployed_in_waves;
mod bad_input_leaves_current_where_it_was;
mod builds_contain_committed_files_only;
mod players_survive_releases;
mod yard;

/// Held by tests whose players must be served in time: two at once would load the machine twice.
static TIMELY: std::sync::Mutex<()> = std::sync::Mutex::new(());
