//! The promises of the simulated network, one module per claim.
//!
//! One program, because each program costs a link. A test that needs its own process is a program next to this folder,
//! and its first comment says why.

#[path = "../common/mod.rs"]
mod common;

mod a_full_queue_drops_the_newest;
mod a_path_has_two_directions;
mod a_recorded_link_is_played_back;
mod an_outage_loses_datagrams_sent_during_it;
mod burst_loss_has_the_given_rate_and_length;
mod configurations_can_change_and_are_checked;
mod corruption_flips_one_to_three_bits;
mod delay_is_exact;
mod duplicates_arrive_twice;
mod every_datagram_is_accounted_for;
mod fades_last_independently_of_traffic;
mod held_back_datagrams_are_overtaken;
mod impairments_are_independent;
mod jitter_keeps_order_by_default;
mod random_loss_has_the_given_rate;
mod rate_spaces_datagrams;
mod the_same_seed_gives_the_same_fates;
mod the_trace_records_each_datagram;
mod too_large_datagrams_are_lost;
