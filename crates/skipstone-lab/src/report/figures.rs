//! Figures of rows, of which any may be missing.

/// A struct of optional figures, each a count (`u64`) or a measure (`f64`), with operations on all of them.
macro_rules! figures {
    ($(#[$about:meta])* $visibility:vis struct $name:ident { $($(#[$doc:meta])* $figure:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        $visibility struct $name { $($(#[$doc])* $visibility $figure: Option<$type>,)* }

        impl $name {
            /// Combines many results, figure by figure: the choice is made among the values in ascending order.
            #[allow(dead_code, clippy::unnecessary_cast, reason = "counts are chosen from as measures are")]
            $visibility fn each(rows: &[$name], choose: impl Fn(Vec<f64>) -> Option<f64>) -> $name {
                $name { $($figure: {
                    let mut values: Vec<f64> = rows.iter().filter_map(|row| row.$figure).map(|it| it as f64).collect();
                    values.sort_by(f64::total_cmp);
                    choose(values).map(|chosen| chosen as $type)
                },)* }
            }
        }
    };
}

pub(crate) use figures;
