//! A build without the feature `dtls`.

pub(super) use super::absent_sessions::AbsentSessions as DtlsGuests;
