//! Settings: the record about each, and the macro that declares them.

use std::time::Duration;

/// What a setting's number on the wire counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingUnit {
    /// Milliseconds; a `Duration` in Rust.
    Milliseconds,
    /// Microseconds; a `Duration` in Rust.
    Microseconds,
    /// Bytes, below 2^32.
    Bytes,
    /// Bytes of a datagram, below 2^16.
    DatagramBytes,
    /// A channel's number, below 2^16, or 2^16 for none.
    Channel,
}

impl SettingUnit {
    /// As tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            SettingUnit::Milliseconds => "ms",
            SettingUnit::Microseconds => "µs",
            SettingUnit::Bytes | SettingUnit::DatagramBytes => "bytes",
            SettingUnit::Channel => "channel",
        }
    }

    /// Whether it is a time.
    pub const fn is_time(self) -> bool {
        matches!(self, SettingUnit::Milliseconds | SettingUnit::Microseconds)
    }

    /// A number of this unit, for people: the greatest whole unit of time.
    fn text(self, value: u64) -> String {
        let span = match self {
            SettingUnit::Milliseconds => Duration::from_millis(value),
            SettingUnit::Microseconds => Duration::from_micros(value),
            SettingUnit::Bytes | SettingUnit::DatagramBytes | SettingUnit::Channel => return value.to_string(),
        };
        match span.as_secs() {
            _ if span.is_zero() => "0".into(),
            seconds if seconds > 0 && seconds.is_multiple_of(3_600) => format!("{} h", seconds / 3_600),
            _ => format!("{span:?}").replace("ms", " ms").replace("µs", " µs"),
        }
    }
}

/// A setting of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// Its id on the wire (WIRE.md section 5).
    pub id: u64,
    /// Its field.
    pub name: &'static str,
    /// Lines of its documentation, as written in the source.
    pub about: &'static str,
    /// Its number; `None` for a setting that is more than a number.
    pub number: Option<SettingNumber>,
    /// Its limits, as WIRE.md has them, where they are more than the number's.
    pub limits: Option<&'static str>,
    /// Its default, as WIRE.md has it, where it is no number.
    pub default: Option<&'static str>,
    /// The version of the C interface that has it first.
    pub since: (u32, u32),
}

/// The number that a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingNumber {
    /// What it counts.
    pub unit: SettingUnit,
    /// Its minimum.
    pub min: u64,
    /// Its maximum.
    pub max: u64,
    /// Its default.
    pub default: u64,
}

impl SettingNumber {
    /// The range for people: "100 ms to 24 h".
    pub fn range(&self) -> String {
        let unit = match self.unit {
            SettingUnit::Bytes | SettingUnit::DatagramBytes => " bytes",
            SettingUnit::Milliseconds | SettingUnit::Microseconds | SettingUnit::Channel => "",
        };
        format!("{} to {}{unit}", self.unit.text(self.min), self.unit.text(self.max))
    }

    /// For [`settings!`].
    ///
    /// # Panics
    /// The default is out of the range.
    #[doc(hidden)]
    pub const fn new(unit: SettingUnit, min: u64, max: u64, default: u64) -> SettingNumber {
        assert!(min <= default && default <= max, "a setting's default is out of its range");
        SettingNumber { unit, min, max, default }
    }
}

impl Setting {
    /// The first paragraph of its documentation, in one line.
    pub fn summary(&self) -> String {
        super::one_line(self.about)
    }

    /// For [`settings!`].
    #[doc(hidden)]
    pub const fn new(id: u64, name: &'static str, about: &'static str, number: Option<SettingNumber>) -> Setting {
        Setting { id, name, about, number, limits: None, default: None, since: (1, 0) }
    }

    #[doc(hidden)]
    pub const fn limits(self, limits: &'static str) -> Setting {
        Setting { limits: Some(limits), ..self }
    }

    #[doc(hidden)]
    pub const fn default(self, default: &'static str) -> Setting {
        Setting { default: Some(default), ..self }
    }

    #[doc(hidden)]
    pub const fn since(self, major: u32, minor: u32) -> Setting {
        Setting { since: (major, minor), ..self }
    }
}

/// Whether no two settings have one id.
pub const fn are_ids_unique(settings: &[Setting]) -> bool {
    let mut at = 0;
    while at < settings.len() {
        let mut other = at + 1;
        while other < settings.len() {
            if settings[at].id == settings[other].id {
                return false;
            }
            other += 1;
        }
        at += 1;
    }
    true
}

/// A number of a unit as the field has it.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_value {
    (Milliseconds, $value:expr) => {
        ::std::time::Duration::from_millis($value)
    };
    (Microseconds, $value:expr) => {
        ::std::time::Duration::from_micros($value)
    };
    ($unit:ident, $value:expr) => {
        $value
    };
}

/// A field as a number of its unit.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_number {
    (Milliseconds, $value:expr) => {
        $value.as_millis() as u64
    };
    (Microseconds, $value:expr) => {
        $value.as_micros() as u64
    };
    ($unit:ident, $value:expr) => {
        u64::from($value)
    };
}

/// Declares settings, numbers first: `id field: type as Unit, min to max, default value`, and then those that are more
/// than a number: `id field: type = default`. Either may state `limits("…")`, `default("…")` and `since(1, 5)`. It
/// makes the structure, its defaults, the table `ALL`, and for the numbers: ranges, encoding and decoding.
///
/// ```
/// skipstone_proto::settings! {
///     /// Settings of a lift.
///     pub struct Lift {
///         numbers {
///             /// The time that doors stay open.
///             1 open_for: std::time::Duration as Milliseconds, 100 to 60_000, default 3_000;
///         }
///         others {
///             /// The floors' names.
///             2 floors: Vec<String> = vec!["ground".into()];
///         }
///     }
/// }
/// assert_eq!(Lift::default().open_for.as_secs(), 3);
/// assert_eq!(Lift::ALL.map(|setting| setting.id), [1, 2]);
/// assert!(Lift::default().first_out_of_range().is_none());
/// ```
/// A default that is out of its range does not compile, and neither do two settings of one id:
/// ```compile_fail,E0080
/// skipstone_proto::settings! {
///     /// Settings of a lift.
///     pub struct Lift {
///         numbers {
///             /// The time that doors stay open.
///             1 open_for: std::time::Duration as Milliseconds, 100 to 60_000, default 99;
///         }
///         others {
///             /// The floors' names.
///             2 floors: Vec<String> = Vec::new();
///         }
///     }
/// }
/// ```
/// ```compile_fail,E0080
/// skipstone_proto::settings! {
///     /// Settings of a lift.
///     pub struct Lift {
///         numbers {
///             /// The time that doors stay open.
///             1 open_for: std::time::Duration as Milliseconds, 100 to 60_000, default 3_000;
///         }
///         others {
///             /// The floors' names.
///             1 floors: Vec<String> = Vec::new();
///         }
///     }
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! settings {
    (
        $(#[$about:meta])+
        pub struct $name:ident {
            numbers {
                $(
                    $(#[doc = $doc:literal])+
                    $id:literal $field:ident: $type:ty as $unit:ident,
                    $min:literal to $max:literal, default $default:literal
                    $(, $attribute:ident($($argument:tt)+))*;
                )+
            }
            others {
                $(
                    $(#[doc = $other_doc:literal])+
                    $other_id:literal $other:ident: $other_type:ty = $other_default:expr
                    $(, $other_attribute:ident($($other_argument:tt)+))*;
                )+
            }
        }
    ) => {
        $(#[$about])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                ///
                #[doc = concat!(
                    "From ", stringify!($min), " to ", stringify!($max),
                    ", in whole ", stringify!($unit), " on the wire; ",
                    stringify!($default), " by default."
                )]
                pub $field: $type,
            )+
            $($(#[doc = $other_doc])+ pub $other: $other_type,)+
        }

        impl Default for $name {
            fn default() -> $name {
                $name {
                    $($field: $crate::catalogue::setting_value!($unit, $default),)+
                    $($other: $other_default,)+
                }
            }
        }

        impl $name {
            /// What is known about each setting, numbers first.
            pub const ALL: [$crate::catalogue::Setting; [$($id),+].len() + [$($other_id),+].len()] = [
                $($crate::catalogue::Setting::new(
                    $id,
                    stringify!($field),
                    concat!($($doc, "\n"),+),
                    Some($crate::catalogue::SettingNumber::new(
                        $crate::catalogue::SettingUnit::$unit, $min, $max, $default,
                    )),
                )$(.$attribute($($argument)+))*,)+
                $($crate::catalogue::Setting::new($other_id, stringify!($other), concat!($($other_doc, "\n"),+), None)
                    $(.$other_attribute($($other_argument)+))*,)+
            ];

            /// Whether every number is in its range.
            pub(crate) fn are_numbers_valid(&self) -> bool {
                $(($crate::catalogue::setting_value!($unit, $min)..=$crate::catalogue::setting_value!($unit, $max))
                    .contains(&self.$field))&&+
            }

            /// The first number that is out of its range, as it was given.
            #[doc(hidden)]
            pub fn first_out_of_range(&self) -> Option<(&'static $crate::catalogue::Setting, String)> {
                const ALL: &[$crate::catalogue::Setting] = &$name::ALL;
                $(
                    let range =
                        $crate::catalogue::setting_value!($unit, $min)..=$crate::catalogue::setting_value!($unit, $max);
                    if !range.contains(&self.$field) {
                        let setting = ALL.iter().find(|setting| setting.id == $id);
                        return setting.map(|setting| (setting, format!("{:?}", self.$field)));
                    }
                )+
                None
            }

            /// The number of this id, and its default; `None` for what is more than a number.
            #[doc(hidden)]
            pub fn number(&self, id: u64) -> Option<(u64, u64)> {
                match id {
                    $($id => Some(($crate::catalogue::setting_number!($unit, self.$field), $default)),)+
                    _ => None,
                }
            }

            /// Sets the number of this id; `None` for one that the field cannot hold, or an id that is no number's.
            #[doc(hidden)]
            pub fn set_number(&mut self, id: u64, value: u64) -> Option<()> {
                match id {
                    $($id => self.$field = $crate::catalogue::setting_value!($unit, value.try_into().ok()?),)+
                    _ => return None,
                }
                Some(())
            }
        }

        const _: () = assert!($crate::catalogue::are_ids_unique(&$name::ALL), "two settings have one id");
    };
}

pub use {setting_number, setting_value};
