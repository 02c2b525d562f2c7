//! The promises of the library over real sockets and real cryptography, one module per claim.
//!
//! One program, because each program costs a link of its own. A test that needs its own process is a program next to
//! this folder, and its first comment says why.
//!
//! A test that needs a feature is left out where that feature is off:
//! `cargo test -p skipstone --features dtls,simulate,webtransport` runs all of it.

#![cfg(all(feature = "__tls", feature = "self-signed"))]

use std::time::{Duration, Instant};

#[cfg(feature = "websocket")]
mod a_certificate_is_renewed_under_players;
mod a_client_closes_with_a_code_of_its_own;
#[cfg(feature = "simulate")]
mod a_client_moves_between_servers;
mod a_client_reads_the_servers_clock;
mod a_client_survives_a_change_of_port;
#[cfg(feature = "simulate")]
mod a_configuration_out_of_range_is_an_error_at_the_start;
mod a_dead_server_is_detected_at_once;
#[cfg(all(feature = "simulate", feature = "dtls"))]
mod a_failed_session_ends_no_other;
mod a_game_loop_keeps_its_tick;
#[cfg(unix)]
mod a_key_that_others_can_read_is_named;
#[cfg(feature = "simulate")]
mod a_local_client_is_a_client_like_any_other;
#[cfg(feature = "websocket")]
mod a_restarted_server_is_found_again;
mod a_server_is_authenticated_by_the_url;
mod a_server_limits_what_clients_send;
mod a_server_names_its_players;
#[cfg(feature = "simulate")]
mod a_server_simulates_a_bad_network_per_client;
#[cfg(feature = "simulate")]
mod a_slow_path_loses_nothing_that_was_accepted;
#[cfg(all(feature = "websocket", feature = "webtransport", feature = "dtls", target_os = "linux"))]
mod a_wildcard_server_answers_from_the_requested_address;
#[cfg(feature = "simulate")]
mod an_invalid_send_is_an_error_of_the_call;
mod denied_addresses_are_ignored;
#[cfg(feature = "simulate")]
mod durations_and_codes_of_any_size_are_handled;
#[cfg(feature = "simulate")]
mod encryption_works_over_a_simulated_network;
#[cfg(feature = "websocket")]
mod enter;
mod every_carrier_reaches_the_server;
#[cfg(feature = "simulate")]
mod handles_are_send_and_sync;
#[cfg(feature = "websocket")]
mod idle_streams_block_no_client;
#[cfg(feature = "simulate")]
mod long_messages_show_their_progress;
#[cfg(feature = "dtls")]
mod openssl_interoperates;
#[cfg(feature = "webtransport")]
mod pages_are_players;
mod servers_answer_queries;
#[cfg(feature = "simulate")]
mod shards_are_one_server;
mod texts_are_independent_of_the_language;
mod the_simulated_suite_matches_the_real_sizes;
#[cfg(feature = "websocket")]
mod the_tcp_port_accepts_all_protocols_and_trusts_few;
#[cfg(feature = "websocket")]
mod unauthenticated_streams_stall_no_client;
#[cfg(feature = "webtransport")]
mod web_player;
#[cfg(feature = "simulate")]
mod what_send_accepts_is_accounted_for;

/// Waits until published statistics fulfil `is_so`: they are up to 50 ms old, and older on a busy machine.
fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
