//! The promises of the page's core, called natively. The exports are tested from JavaScript, in clients/web/tests.

mod an_invalid_call_is_refused;
mod every_kind_of_event_reaches_the_page;
