//! QUIC that quinn's transports and the clients over WebTransport share.

pub(crate) mod certificate;
pub(crate) mod pages;
