//! What the core of a page's client promises, called natively. The exports are tested from JavaScript, in clients/web/tests.

mod a_wrong_call_is_a_refusal;
mod every_kind_of_event_reaches_the_page;
