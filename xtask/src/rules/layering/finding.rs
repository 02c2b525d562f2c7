//! The findings of the layering check.

/// A violation of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) kind: FindingKind,
    /// The file, the crate's folder, or `folder::Name` of a name.
    pub(super) path: String,
    /// `path:line: violation`.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindingKind {
    /// A file that is in a circle of sibling files.
    Circle,
    /// A file that is in a circle only because a child names an item of its parent.
    Nested,
    /// An import of a higher module, of one of the same rank, or through the root.
    Upward,
    /// Types that share a name.
    SharedName,
    /// A crate or module without rank, or a rank without module.
    Table,
}

impl Finding {
    /// Its entry in the list of known findings; a table with gaps has none, because it cannot be postponed.
    pub(super) fn entry(&self) -> Option<String> {
        let kind = match self.kind {
            FindingKind::Circle => "circle",
            FindingKind::Nested => "nested",
            FindingKind::Upward => "upward",
            FindingKind::SharedName => "shared-name",
            FindingKind::Table => return None,
        };
        Some(format!("{kind} {}", self.path))
    }
}
