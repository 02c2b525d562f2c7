//! What the checks know of an item: its kind, its lines, its name, and whether it exists only in tests.

use std::ops::RangeInclusive;

/// One item, or one method of an `impl` or `trait`.
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    /// Empty for an `impl` and for a `use`.
    pub(crate) name: String,
    /// From its first attribute or doc comment to its last brace or semicolon.
    pub(crate) lines: RangeInclusive<usize>,
    /// Names of the inline modules around it, outermost first.
    pub(crate) modules: Vec<String>,
    pub(crate) visibility: Visible,
    /// Whether the item, or something around it, is behind `#[cfg(test)]` or `#[test]`.
    pub(crate) is_test: bool,
}

impl Item {
    pub(crate) fn is_module(&self) -> bool {
        matches!(self.kind, ItemKind::Module { .. })
    }
}

/// The kinds that the checks tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    Function {
        /// From its signature to its last brace.
        lines: usize,
        /// The type whose own `impl` block it is in.
        of: Option<String>,
    },
    Struct {
        /// Fields that have names.
        fields: usize,
    },
    /// An enum, a union, a trait or an alias.
    OtherType,
    Module {
        is_inline: bool,
    },
    Implementation {
        /// The type, unless the block is generic or implements a trait.
        of: Option<String>,
    },
    Use {
        names: usize,
    },
    /// A constant, a static or a macro.
    Other,
}

/// The code that may name an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visible {
    /// Written without `pub`.
    Private,
    /// `pub(crate)`, `pub(super)` and `pub(in path)`.
    Restricted,
    /// `pub` without a restriction.
    Public,
}

impl From<&syn::Visibility> for Visible {
    fn from(written: &syn::Visibility) -> Self {
        match written {
            syn::Visibility::Public(_) => Self::Public,
            syn::Visibility::Restricted(_) => Self::Restricted,
            syn::Visibility::Inherited => Self::Private,
        }
    }
}
