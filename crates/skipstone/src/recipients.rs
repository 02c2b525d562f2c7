//! The recipients of a broadcast: the members of a group, except a few.

use skipstone_proto::{Group, PeerId};
use std::sync::Arc;

/// The members of a group that receive a message.
#[derive(Clone, Debug)]
pub(crate) struct Recipients {
    pub(crate) group: Group,
    /// Members that do not receive it, each once; `None` for none.
    pub(crate) except: Option<Arc<[PeerId]>>,
}

impl Recipients {
    /// All members except these.
    pub(crate) fn without(group: Group, except: impl IntoIterator<Item = PeerId>) -> Self {
        let mut except: Vec<PeerId> = except.into_iter().collect();
        except.sort_unstable();
        except.dedup();
        Recipients { group, except: (!except.is_empty()).then(|| except.into()) }
    }

    /// Members that do not receive the message.
    pub(crate) fn left_out(&self) -> &[PeerId] {
        self.except.as_deref().unwrap_or_default()
    }
}

impl From<Group> for Recipients {
    fn from(group: Group) -> Self {
        Recipients { group, except: None }
    }
}
