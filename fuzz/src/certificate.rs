//! The certificate of the servers.

use skipstone::Security;
use std::sync::LazyLock;

/// It is created once.
pub(crate) fn security() -> &'static Security {
    static SECURITY: LazyLock<Security> = LazyLock::new(|| Security::self_signed().expect("the system has entropy"));
    &SECURITY
}
