//! Configurations: the record about each field that every language has, and the macro that declares them.

/// How a field of a configuration is written in other languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigKind {
    /// A `Duration`.
    Time,
    /// A `u32`.
    Number32,
    /// A `u64`.
    Number64,
    /// An `Option<u32>`; 0 is none.
    Optional32,
    /// An `Option<u64>`; 0 is none.
    Optional64,
    /// A `bool`.
    Flag,
    /// A list of texts.
    Texts,
    /// Bytes, or none.
    Bytes,
}

impl ConfigKind {
    /// As tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            ConfigKind::Time => "time",
            ConfigKind::Number32 | ConfigKind::Number64 => "number",
            ConfigKind::Optional32 | ConfigKind::Optional64 => "number or none",
            ConfigKind::Flag => "yes or no",
            ConfigKind::Texts => "texts",
            ConfigKind::Bytes => "bytes or none",
        }
    }
}

/// A field of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigField {
    /// The field.
    pub field: &'static str,
    /// Its name in other languages.
    pub name: &'static str,
    /// Lines of its documentation, as written in the source.
    pub about: &'static str,
    /// What it is in other languages; `None` for a field that each of them writes in its own way.
    pub kind: Option<ConfigKind>,
    /// The version of the C interface that has it first.
    pub since: (u32, u32),
}

impl ConfigField {
    /// The first paragraph of its documentation, in one line.
    pub fn summary(&self) -> String {
        super::one_line(self.about)
    }

    /// For [`configuration!`].
    #[doc(hidden)]
    pub const fn new(field: &'static str, about: &'static str) -> ConfigField {
        ConfigField { field, name: field, about, kind: None, since: (1, 0) }
    }

    #[doc(hidden)]
    pub const fn kind(self, kind: ConfigKind) -> ConfigField {
        ConfigField { kind: Some(kind), ..self }
    }

    #[doc(hidden)]
    pub const fn named(self, name: &'static str) -> ConfigField {
        ConfigField { name, ..self }
    }

    #[doc(hidden)]
    pub const fn since(self, major: u32, minor: u32) -> ConfigField {
        ConfigField { since: (major, minor), ..self }
    }
}

/// Declares a configuration: each line is `field: type`, for a field that all languages have `as Kind`, and then, as
/// they apply, `named("its name in other languages")` and `since(1, 5)`. It makes the structure and the table `FIELDS`.
/// The first paragraph of a field's documentation goes to all languages.
///
/// ```
/// skipstone_proto::configuration! {
///     /// Configuration of a lift.
///     #[derive(Debug, Default)]
///     pub struct Lift {
///         /// The time that doors stay open.
///         open_for: std::time::Duration as Time;
///         /// Its motor.
///         motor: Option<Vec<u8>>;
///     }
/// }
/// assert_eq!(Lift::FIELDS[0].summary(), "The time that doors stay open.");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! configuration {
    (
        $(#[$about:meta])+
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[cfg($($condition:tt)+)])?
                $field:ident: $type:ty $(as $kind:ident)? $(, $attribute:ident($($argument:tt)+))*;
            )+
        }
    ) => {
        $(#[$about])+
        pub struct $name {
            $(
                $(#[doc = $doc])+
                $(#[cfg($($condition)+)])?
                pub $field: $type,
            )+
        }

        impl $name {
            /// What is known about each field, for the other languages.
            #[doc(hidden)]
            pub const FIELDS: &[$crate::catalogue::ConfigField] = &[$(
                $crate::catalogue::ConfigField::new(stringify!($field), concat!($($doc, "\n"),+))
                    $(.kind($crate::catalogue::ConfigKind::$kind))?
                    $(.$attribute($($argument)+))*
            ),+];
        }
    };
}
