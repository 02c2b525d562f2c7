//! Close codes: the record about each, and the macro that declares them.

/// A close code of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CloseCode {
    /// The constant's name: `IDLE_TIMEOUT`.
    pub name: &'static str,
    /// The number on the wire.
    pub value: u64,
    /// Lines of its documentation, as written in the source.
    pub about: &'static str,
}

impl CloseCode {
    /// For [`close_codes!`].
    #[doc(hidden)]
    pub const fn new(name: &'static str, value: u64, about: &'static str) -> CloseCode {
        CloseCode { name, value, about }
    }

    /// Its documentation, in one line.
    pub fn summary(&self) -> String {
        super::one_line(self.about)
    }
}

/// Whether close codes ascend, and none has the name of another.
pub const fn are_codes_ascending(codes: &[CloseCode]) -> bool {
    let mut at = 1;
    while at < codes.len() {
        if codes[at - 1].value >= codes[at].value {
            return false;
        }
        at += 1;
    }
    true
}

/// Declares the close codes: a constant for each, and the table `ALL`. Codes ascend; two of one number do not compile.
///
/// ```
/// mod code {
///     skipstone_proto::close_codes! {
///         /// The lift is full.
///         FULL = 1;
///     }
/// }
/// assert_eq!((code::ALL[0].name, code::FULL), ("FULL", 1));
/// ```
/// ```compile_fail,E0080
/// skipstone_proto::close_codes! {
///     /// The lift is full.
///     FULL = 1;
///     /// The lift stands.
///     STANDS = 1;
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! close_codes {
    ($($(#[doc = $about:literal])+ $name:ident = $value:literal;)+) => {
        $($(#[doc = $about])+ pub const $name: u64 = $value;)+

        /// All of them, in ascending order.
        pub const ALL: &[$crate::catalogue::CloseCode] =
            &[$($crate::catalogue::CloseCode::new(stringify!($name), $value, concat!($($about, "\n"),+))),+];

        const _: () =
            assert!($crate::catalogue::are_codes_ascending(ALL), "close codes are in ascending order, each once");
    };
}
