//! Edits that were discarded can be had back, until something else is done with the working copy.

use std::rc::Rc;
use std::sync::Arc;

use optimist_client::WorkingCopy;
use optimist_simulation::{ActorId, NodeId};

use super::{RawYaml, State};

/// What was discarded, and where.
#[derive(Clone, Debug)]
pub(super) struct Discarded {
    node: NodeId,
    copy: WorkingCopy,
    raw: Option<RawYaml>,
}

impl State {
    /// Drops the edits of a working copy; [`undo_discard`](Self::undo_discard) brings them back.
    pub(super) fn discard(&mut self, editor: ActorId) {
        self.editing = None;
        let copy = self.world().copy(editor);
        let discarded = Discarded {
            node: self.tree.current(),
            copy: copy.clone(),
            raw: self.raw.get(&editor).cloned(),
        };
        self.discarded.insert(editor, discarded);
        self.world_mut().copy_mut(editor).discard();
        self.write_raw(editor, self.raw.contains_key(&editor));
    }

    /// Whether there are edits to be had back, where they were discarded.
    pub(crate) fn can_undo_discard(&self, editor: ActorId) -> bool {
        self.discarded.get(&editor).is_some_and(|discarded| {
            let copy = self.world().copy(editor);
            let read = copy.read().zip(discarded.copy.read());
            discarded.node == self.tree.current()
                && !copy.is_edited()
                && self.raw.get(&editor).is_none_or(|raw| raw.error.is_none())
                // Another object takes no old edits.
                && read.is_some_and(|(now, then)| Arc::ptr_eq(now, then))
        })
    }

    /// Makes the edits again that were discarded, as text where they were typed as text.
    pub(super) fn undo_discard(&mut self, editor: ActorId) {
        if !self.can_undo_discard(editor) {
            return;
        }
        let Some(discarded) = self.discarded.remove(&editor) else {
            return;
        };
        self.focus = editor;
        *self.world_mut().copy_mut(editor) = discarded.copy;
        let raw = Rc::make_mut(&mut self.raw);
        match discarded.raw {
            Some(text) => raw.insert(editor, text),
            None => raw.remove(&editor),
        };
    }
}
