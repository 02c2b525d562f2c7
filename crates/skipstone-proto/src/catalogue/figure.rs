//! Statistics: the record about each, and the macro that declares them.

use super::unique::is_same;

/// What a statistic counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Packets.
    Packets,
    /// Datagrams.
    Datagrams,
    /// Messages of the application.
    Messages,
    /// Messages, and fragments of longer ones.
    Fragments,
    /// Bytes.
    Bytes,
    /// Acknowledgements.
    Acknowledgements,
    /// Times that something happened.
    Times,
    /// Datagrams, packets or messages that arrived.
    Arrivals,
    /// Rounds of a driver's loop.
    Rounds,
    /// System calls.
    Calls,
    /// Time; a `Duration` in Rust.
    Time,
    /// Whether it is so.
    Flag,
    /// Streams of TCP, in clear or over TLS.
    Streams,
    /// Sessions, and handshakes that become sessions.
    Sessions,
}

impl Unit {
    /// In lower case, as tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Packets => "packets",
            Unit::Datagrams => "datagrams",
            Unit::Messages => "messages",
            Unit::Fragments => "messages and fragments",
            Unit::Bytes => "bytes",
            Unit::Acknowledgements => "acknowledgements",
            Unit::Times => "times",
            Unit::Arrivals => "arrivals",
            Unit::Rounds => "rounds",
            Unit::Calls => "calls",
            Unit::Time => "time",
            Unit::Flag => "yes or no",
            Unit::Streams => "streams",
            Unit::Sessions => "sessions",
        }
    }
}

/// Where `/metrics` of the tool has a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The family's name, without `skipstone_` before it and `_total` after it.
    pub family: &'static str,
    /// Name and value of the label that tells the family's values apart.
    pub label: Option<(&'static str, &'static str)>,
    /// What the family counts, where that is more than this statistic; once in a family.
    pub about: Option<&'static str>,
}

/// A statistic: a counter of 64 bits, and what is said about it wherever it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figure {
    /// The field that holds its group, such as `redundancy`; empty for a field of the outer type.
    pub group: &'static str,
    /// Its field. In the group `drops` it is the name of the reason.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Lines of its documentation, as written in the source.
    pub about: &'static str,
    /// Its name for people, within its group.
    pub label: &'static str,
    /// Its place in `/metrics`, if it is there by itself.
    pub metric: Option<Metric>,
    /// Its name in languages whose statistics have no groups.
    pub flat_name: &'static str,
    /// The version of the C interface that has it first.
    pub since: (u32, u32),
}

impl Figure {
    /// Group and name, with a point between them.
    pub fn path(&self) -> String {
        match self.group {
            "" => self.name.into(),
            group => format!("{group}.{}", self.name),
        }
    }

    /// Its name for people, the direction included: "datagrams sent".
    pub fn title(&self) -> String {
        match self.group {
            direction @ ("sent" | "received") => format!("{} {direction}", self.label),
            _ => self.label.into(),
        }
    }

    /// The first paragraph of its documentation, in one line.
    pub fn summary(&self) -> String {
        super::one_line(self.about)
    }

    const fn in_group(self, group: &'static str, by: Option<&'static str>) -> Figure {
        let metric = match (self.metric, by) {
            (Some(metric), Some(by)) => Some(Metric { label: Some((by, group)), ..metric }),
            (metric, _) => metric,
        };
        Figure { group, metric, ..self }
    }

    /// For [`statistics!`]: a statistic that has been given nothing but its name.
    #[doc(hidden)]
    pub const fn new(name: &'static str, unit: Unit, label: &'static str, about: &'static str) -> Figure {
        Figure { group: "", name, unit, about, label, metric: None, flat_name: name, since: (1, 0) }
    }

    #[doc(hidden)]
    pub const fn metric(self, family: &'static str, label: Option<(&'static str, &'static str)>) -> Figure {
        Figure { metric: Some(Metric { family, label, about: None }), ..self }
    }

    #[doc(hidden)]
    pub const fn family_about(self, about: &'static str) -> Figure {
        match self.metric {
            Some(metric) => Figure { metric: Some(Metric { about: Some(about), ..metric }), ..self },
            None => panic!("only a statistic with a metric describes its family"),
        }
    }

    #[doc(hidden)]
    pub const fn flat(self, flat_name: &'static str) -> Figure {
        Figure { flat_name, ..self }
    }

    #[doc(hidden)]
    pub const fn since(self, major: u32, minor: u32) -> Figure {
        Figure { since: (major, minor), ..self }
    }
}

/// For [`statistics!`]: the records about a structure, as they are put together.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct FigureTable<const COUNT: usize> {
    figures: [Figure; COUNT],
    filled: usize,
}

impl<const COUNT: usize> FigureTable<COUNT> {
    #[expect(clippy::new_without_default, reason = "only a macro makes it")]
    pub const fn new() -> FigureTable<COUNT> {
        FigureTable { figures: [Figure::new("", Unit::Times, "", ""); COUNT], filled: 0 }
    }

    /// With the members of a group, whose name is the value of the label `by`, if there is one.
    pub const fn group(mut self, members: &[Figure], group: &'static str, by: &[&'static str]) -> FigureTable<COUNT> {
        let by = if let [by] = by { Some(*by) } else { None };
        let mut member = 0;
        while member < members.len() {
            self = self.line(members[member].in_group(group, by));
            member += 1;
        }
        self
    }

    pub const fn line(mut self, figure: Figure) -> FigureTable<COUNT> {
        self.figures[self.filled] = figure;
        self.filled += 1;
        self
    }

    /// # Panics
    /// A place is empty.
    pub const fn complete(self) -> [Figure; COUNT] {
        assert!(self.filled == COUNT, "every field has its figure");
        self.figures
    }
}

/// Whether no two statistics share their place in the structure, their name for people or their place in `/metrics`.
pub const fn are_figures_unique(figures: &[Figure]) -> bool {
    let mut at = 0;
    while at < figures.len() {
        let mut other = at + 1;
        while other < figures.len() {
            if collide(&figures[at], &figures[other]) {
                return false;
            }
            other += 1;
        }
        at += 1;
    }
    true
}

const fn collide(one: &Figure, other: &Figure) -> bool {
    let in_one_group = is_same(one.group, other.group);
    if in_one_group && (is_same(one.name, other.name) || is_same(one.label, other.label)) {
        return true;
    }
    match (one.metric, other.metric) {
        (Some(one), Some(other)) => is_same(one.family, other.family) && has_same_label(&one, &other),
        _ => false,
    }
}

const fn has_same_label(one: &Metric, other: &Metric) -> bool {
    match (one.label, other.label) {
        (Some((_, one)), Some((_, other))) => is_same(one, other),
        // A family of which only some values have a label cannot be shown.
        _ => true,
    }
}

/// Declares a structure of counters: each line is `name: Unit, "label for people"` and, as they apply,
/// `metric("family")`, `family_about("…")`, `flat("name without groups")`, `since(1, 4)`. First come groups, which are
/// such structures themselves, and gauges: fields that are not added up, `name: type as Unit, "label for people"`. It
/// makes the structure, `FIGURES`, `GAUGES`, `figures`, `from_figures` and the sums of the counters.
///
/// ```
/// skipstone_proto::statistics! {
///     /// Counters of a lift.
///     pub struct Lift {
///         /// Floors that were passed.
///         floors: Times, "floors passed", metric("floors", None);
///         /// Doors that were opened.
///         doors: Times, "doors opened";
///     }
/// }
/// assert_eq!(Lift::FIGURES.map(|figure| figure.name), ["floors", "doors"]);
/// ```
/// Two counters with one label do not compile:
/// ```compile_fail,E0080
/// skipstone_proto::statistics! {
///     /// Counters of a lift.
///     pub struct Lift {
///         /// Floors that were passed.
///         floors: Times, "floors passed";
///         /// Doors that were opened.
///         doors: Times, "floors passed";
///     }
/// }
/// ```
/// Nor do two of one name, nor one without a unit, nor one without documentation:
/// ```compile_fail,E0124
/// skipstone_proto::statistics! {
///     /// Counters of a lift.
///     pub struct Lift {
///         /// Floors that were passed.
///         floors: Times, "floors passed";
///         /// Floors that were reached.
///         floors: Times, "floors reached";
///     }
/// }
/// ```
/// ```compile_fail
/// skipstone_proto::statistics! {
///     /// Counters of a lift.
///     pub struct Lift {
///         /// Floors that were passed.
///         floors, "floors passed";
///     }
/// }
/// ```
/// ```compile_fail
/// skipstone_proto::statistics! {
///     /// Counters of a lift.
///     pub struct Lift {
///         floors: Times, "floors passed";
///     }
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! statistics {
    (
        $(#[$about:meta])+
        pub struct $name:ident {
            $(groups {
                $($(#[doc = $group_about:literal])+ $group:ident: $of:ty $(, by $by:literal)?;)+
            })?
            $(gauges {
                $(
                    $(#[doc = $gauge_about:literal])+
                    $gauge:ident: $kind:ty as $gauge_unit:ident, $gauge_label:literal
                    $(, $gauge_attribute:ident($($gauge_argument:tt)+))*;
                )+
            })?
            $(
                $(#[doc = $line_about:literal])+
                $line:ident: $unit:ident, $label:literal $(, $attribute:ident($($argument:tt)+))*;
            )+
        }
    ) => {
        $(#[$about])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $($($(#[doc = $group_about])+ pub $group: $of,)+)?
            $($($(#[doc = $gauge_about])+ pub $gauge: $kind,)+)?
            $($(#[doc = $line_about])+ pub $line: u64,)+
        }

        impl $name {
            const COUNT: usize = 0 $($(+ <$of>::FIGURES.len())+)? + [$(stringify!($line)),+].len();
            const GAUGE_COUNT: usize =
                0 $($(+ <$of>::GAUGES.len())+)? $(+ <[&str]>::len(&[$(stringify!($gauge)),+]))?;

            /// What is known about each counter, groups first.
            pub const FIGURES: [$crate::catalogue::Figure; Self::COUNT] = $crate::catalogue::FigureTable::new()
                $($(.group(&<$of>::FIGURES, stringify!($group), &[$($by)?]))+)?
                $(.line(
                    $crate::catalogue::Figure::new(
                        stringify!($line), $crate::catalogue::Unit::$unit, $label, concat!($($line_about, "\n"),+),
                    )$(.$attribute($($argument)+))*
                ))+
                .complete();

            /// What is known about each field that is no counter, those of groups first.
            pub const GAUGES: [$crate::catalogue::Figure; Self::GAUGE_COUNT] = $crate::catalogue::FigureTable::new()
                $($(.group(&<$of>::GAUGES, stringify!($group), &[]))+)?
                $($(.line(
                    $crate::catalogue::Figure::new(
                        stringify!($gauge),
                        $crate::catalogue::Unit::$gauge_unit,
                        $gauge_label,
                        concat!($($gauge_about, "\n"),+),
                    )$(.$gauge_attribute($($gauge_argument)+))*
                ))+)?
                .complete();

            /// Every counter, with what is known about it.
            pub fn figures(&self) -> impl Iterator<Item = (&'static $crate::catalogue::Figure, u64)> + use<> {
                const FIGURES: &[$crate::catalogue::Figure] = &$name::FIGURES;
                let mut values = [0; Self::COUNT];
                let mut at = 0;
                $name::default().each(self, &mut |_, value| {
                    values[at] = value;
                    at += 1;
                });
                FIGURES.iter().zip(values)
            }

            /// Group, name and value of each counter; for a module that has no room for all that is known about them.
            #[doc(hidden)]
            pub fn each_named(&self, group: &'static str, see: &mut impl FnMut(&'static str, &'static str, u64)) {
                $($(self.$group.each_named(stringify!($group), see);)+)?
                $(see(group, stringify!($line), self.$line);)+
            }

            /// Counters with these values.
            pub fn from_figures(mut value: impl FnMut(&'static $crate::catalogue::Figure) -> u64) -> $name {
                const FIGURES: &[$crate::catalogue::Figure] = &$name::FIGURES;
                let mut made = $name::default();
                let mut figures = FIGURES.iter();
                made.each(&$name::default(), &mut |counter, _| {
                    *counter = figures.next().map_or(0, &mut value);
                });
                made
            }

            /// Applies `change` to every counter, with the same counter of `other`, in the order of `FIGURES`.
            pub(crate) fn each(&mut self, other: &$name, change: &mut impl FnMut(&mut u64, u64)) {
                $($(self.$group.each(&other.$group, change);)+)?
                $(change(&mut self.$line, other.$line);)+
            }
        }

        const _: () = assert!(
            $crate::catalogue::are_figures_unique(&$name::FIGURES)
                && $crate::catalogue::are_figures_unique(&$name::GAUGES),
            "two statistics of one structure have the same name, label or metric"
        );
    };
}
