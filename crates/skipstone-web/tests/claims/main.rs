//! What the core of a page's client promises, called natively. The exports are tested from JavaScript, in clients/web/tests.

mod an_invalid_call_is_refused;
mod every_kind_of_event_reaches_the_page;
