//! The promises of the library over real sockets and real cryptography, one module per claim.
//!
//! One program, because each program costs a link of its own. A test that needs a process of its own is a program next
//! to this folder, and its first comment says why.
//!
//! A test that needs a feature is left out where that feature is off:
//! `cargo test -p skipstone --features dtls,simulate,webtransport` runs all of it.

#![cfg(all(feature = "__tls", feature = "self-signed"))]

use std::time::{Duration, Instant};

#[cfg(feature = "websocket")]
mod a_certificate_is_renewed_under_players;
mod a_client_closes_with_a_code_of_its_own;
mod a_client_goes_on_from_another_port;
mod a_client_reads_the_servers_clock;
#[cfg(feature = "simulate")]
mod a_configuration_out_of_range_is_an_error_at_the_start;
#[cfg(all(feature = "simulate", feature = "dtls"))]
mod a_failed_session_ends_itself_alone;
#[cfg(unix)]
mod a_key_that_others_can_read_is_named;
#[cfg(feature = "simulate")]
mod a_local_client_is_a_client_like_any_other;
mod a_loop_keeps_its_tick;
#[cfg(feature = "websocket")]
mod a_restarted_server_is_found_again;
mod a_server_is_who_the_url_says;
mod a_server_limits_what_clients_send;
mod a_server_names_its_players;
#[cfg(all(feature = "websocket", feature = "webtransport", feature = "dtls", target_os = "linux"))]
mod a_server_on_all_addresses_answers_from_the_one_that_was_asked;
#[cfg(feature = "simulate")]
mod a_server_plays_a_bad_network_for_each_client;
mod a_server_that_is_gone_is_noticed_at_once;
#[cfg(feature = "simulate")]
mod a_slow_path_loses_nothing_that_was_accepted;
#[cfg(feature = "simulate")]
mod a_wrong_send_is_an_error_at_the_call;
mod denied_addresses_are_not_heard;
#[cfg(feature = "simulate")]
mod encryption_stands_in_a_model_network;
#[cfg(feature = "websocket")]
mod enter;
mod every_carrier_reaches_the_server;
#[cfg(feature = "simulate")]
mod handles_go_wherever_a_game_engine_wants_them;
#[cfg(feature = "websocket")]
mod idle_streams_keep_nobody_out;
#[cfg(feature = "simulate")]
mod long_messages_show_their_progress;
#[cfg(feature = "dtls")]
mod openssl_is_a_player;
#[cfg(feature = "webtransport")]
mod pages_are_players;
mod servers_answer_queries;
#[cfg(feature = "simulate")]
mod shards_are_one_server;
#[cfg(feature = "simulate")]
mod spans_and_codes_of_any_size_have_an_answer;
#[cfg(feature = "websocket")]
mod strangers_streams_freeze_nobody;
mod texts_are_for_every_language;
mod the_stand_in_measures_what_is_real;
#[cfg(feature = "websocket")]
mod the_tcp_port_takes_all_and_believes_few;
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
