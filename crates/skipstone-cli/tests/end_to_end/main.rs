//! The tool as its users run it: processes, sockets, pipes and terminals. Each module is a claim about it.

mod common;
#[cfg(target_os = "linux")]
mod hostile;

#[cfg(unix)]
mod a_capture_of_a_run_contains_none_of_its_sentences;
#[cfg(target_os = "linux")]
mod a_dashboards_viewer_costs_a_server_little;
#[cfg(unix)]
mod a_flood_disturbs_no_client;
#[cfg(target_os = "linux")]
mod a_hundred_hostile_clients_on_each_carrier;
#[cfg(target_os = "linux")]
mod a_restart_loses_no_reliable_message;
#[cfg(unix)]
mod a_restart_refuses_no_client;
#[cfg(unix)]
mod a_second_implementation_interoperates;
#[cfg(unix)]
mod bad_configuration_is_refused_with_a_remedy;
#[cfg(unix)]
mod bench_delivers_every_line;
#[cfg(unix)]
mod bench_reports_mistakes;
mod bench_starts_other_servers;
#[cfg(unix)]
mod bots_on_several_machines;
mod compare_fills_a_bottleneck;
mod compare_gives_the_same_figures_every_time;
mod compare_jitter_is_no_queue;
mod compare_proves_every_update;
mod compare_reports_mistakes;
#[cfg(target_os = "linux")]
mod compare_runs_for_real;
mod compare_writes_reports;
#[cfg(unix)]
mod encryption_is_the_default;
mod help_has_examples;
#[cfg(unix)]
mod hostile_clients_harm_no_client;
#[cfg(unix)]
mod idle_streams_cost_a_server_little;
mod logs_of_packets_are_written;
#[cfg(target_os = "linux")]
mod netem_leaves_no_leftovers;
#[cfg(unix)]
mod network_text_cannot_control_a_terminal;
#[cfg(target_os = "linux")]
mod no_attack_of_the_siege_costs_a_client_a_line;
#[cfg(unix)]
mod output_works_on_any_stream;
#[cfg(target_os = "linux")]
mod programs_join_a_comparison;
#[cfg(unix)]
mod recordings_are_replayed;
mod redundancy_is_a_setting_of_the_server;
#[cfg(unix)]
mod reports_fit_a_phone;
#[cfg(unix)]
mod runs_share_a_server;
#[cfg(unix)]
mod serve_runs_under_agones;
#[cfg(unix)]
mod serve_shuts_down_cleanly;
#[cfg(unix)]
mod servers_are_one_fleet;
mod simulated_figures_are_those_of_a_run;
#[cfg(unix)]
mod stress_and_bench_write_reports;
#[cfg(unix)]
mod stress_on_several_machines;
mod stress_proves_every_line;
#[cfg(unix)]
mod stress_reports_failures;
mod sweep_judges_what_it_draws;
#[cfg(unix)]
mod the_console_controls_a_running_server;
#[cfg(all(unix, feature = "dashboard"))]
mod the_dashboard_listens_only_on_allowed_addresses;
