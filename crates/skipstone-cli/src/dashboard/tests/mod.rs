//! The dashboard over HTTP, as browsers, scripts and attackers use it.

mod client;
mod only_the_own_page_gives_orders;
mod slow_and_hostile_clients_end;
mod the_metrics_are_those_of_the_guide;
mod the_page_is_kept_to_itself;
mod tokens_are_asked_for;
mod viewers_see_what_happens;
