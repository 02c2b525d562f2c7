//! A build without WebTransport.

pub(super) use super::absent_sessions::AbsentSessions as QuicGuests;
