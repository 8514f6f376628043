//! The edits that the user types into the working copies: a value in place, or the whole as a text.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use optimist_apiserver::apply::Path;
use optimist_client::{
    AlignedRow, Fold, ItemNotation, Preset, Strategy, WorkingCopy, Write, add_typed, edit_scalar,
    item_notation, remove_at, without_empty,
};
use optimist_simulation::{ActorId, NodeId};

use crate::cards::{CardObjects, aligned_rows};
use crate::session::SessionState;
use crate::view::{ObjectView, ViewState};

/// The id of the field in which a value is typed in place.
pub const FIELD: &str = "typing-field";

/// The kind of an edit in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// A value.
    Value,
    /// An item to add to a map or list.
    Addition,
}

/// An edit in place, and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Editing {
    /// The actor of the working copy.
    pub editor: ActorId,
    /// A value, or an addition.
    pub typing: Typing,
    /// The JSON pointer of the value, or of the map or list that gets the addition.
    pub pointer: String,
    /// The text to begin with.
    pub text: String,
    /// The reason why the text cannot be taken.
    pub error: Option<String>,
    /// The notation for an item of a list, apart from YAML.
    pub notation: Option<ItemNotation>,
}

/// A working copy that is typed as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct RawYaml {
    /// The text.
    pub text: String,
    /// The reason why the text is no object; the working copy is as it was before then.
    pub error: Option<String>,
}

/// Edits that were discarded, and their position in the history.
#[derive(Clone, Debug)]
struct Discarded {
    node: NodeId,
    copy: WorkingCopy,
    raw: Option<RawYaml>,
}

/// The edits that the user types.
#[derive(Clone, Debug, Default)]
pub struct EditingState {
    /// The value that is typed in place.
    pub in_place: Option<Editing>,
    /// The value that was added last: the actor of the working copy, and the JSON pointer.
    pub added: Option<(ActorId, String)>,
    /// The working copies that are typed as a whole.
    pub raw: Rc<BTreeMap<ActorId, RawYaml>>,
    /// Edits that were discarded, as long as nothing was done to their working copy since.
    discarded: BTreeMap<ActorId, Discarded>,
}

/// A message about the working copies.
#[derive(Clone, Debug)]
pub enum EditMsg {
    /// Begins to type in place: the editor, the kind of typing, the pointer and the text.
    Start(ActorId, Typing, String, String),
    /// Takes the text that was typed in place.
    Commit(String),
    /// Leaves the value as it was.
    Cancel,
    /// Removes the value at a pointer.
    Remove(ActorId, String),
    /// An apply declares an unchanged value, or no longer does.
    Own(ActorId, String),
    /// Types a working copy as a whole, or (`false`) no longer.
    Raw(ActorId, bool),
    /// The text of a working copy that is typed as a whole.
    RawText(ActorId, String),
    /// Drops the edits of a working copy.
    Discard(ActorId),
    /// Takes back that edits were discarded.
    Undo(ActorId),
    /// Selects the write method of an editor.
    Strategy(ActorId, Strategy),
    /// The same with all options.
    Write(ActorId, Write),
    /// Lets an actor that is added be a tool.
    Tool(ActorId, Preset),
    /// Lets a person act for an actor that is added.
    Editor(ActorId),
    /// Lets an actor that is added be somebody who deletes.
    Deleter(ActorId),
}

impl EditingState {
    pub(crate) fn update(
        &mut self,
        msg: EditMsg,
        session: &mut SessionState,
        view: &mut ViewState,
    ) {
        match msg {
            EditMsg::Start(editor, typing, pointer, text) => {
                session.playing = false;
                view.focus = editor;
                self.close_empty(session);
                if typing == Typing::Addition {
                    unfold(session, view, editor, &pointer);
                }
                self.start(session, editor, typing, pointer, text);
            }
            EditMsg::Commit(text) => self.commit(text, session, view),
            EditMsg::Cancel => self.close_empty(session),
            EditMsg::Remove(editor, pointer) => {
                session.playing = false;
                view.focus = editor;
                self.in_place = None;
                let edited = session.world().copy(editor).edited();
                if let Some(Ok(edited)) = edited.map(|object| remove_at(object, &pointer)) {
                    session.world_mut().copy_mut(editor).edit(edited);
                }
            }
            EditMsg::Own(editor, pointer) => {
                view.focus = editor;
                own(session, editor, &pointer);
            }
            EditMsg::Raw(editor, on) => {
                view.focus = editor;
                self.in_place = None;
                // A text that is no object yet is nowhere else.
                if on || !self.is_wrong(editor) {
                    self.write_raw(session, editor, on);
                }
            }
            EditMsg::RawText(editor, text) => self.type_raw(session, editor, text),
            EditMsg::Discard(editor) => self.discard(session, editor),
            EditMsg::Undo(editor) => self.undo_discard(session, view, editor),
            EditMsg::Strategy(..)
            | EditMsg::Write(..)
            | EditMsg::Tool(..)
            | EditMsg::Editor(_)
            | EditMsg::Deleter(_) => choose_way(msg, session, view),
        }
    }

    fn start(
        &mut self,
        session: &SessionState,
        editor: ActorId,
        typing: Typing,
        pointer: String,
        text: String,
    ) {
        let root = &session.world().resource().root;
        let notation = (typing == Typing::Addition).then(|| item_notation(root, &pointer));
        self.in_place = Some(Editing {
            editor,
            typing,
            pointer,
            text,
            error: None,
            notation: notation.flatten(),
        });
    }

    /// Types nothing more. A map or list that was opened to add to it, and stayed empty, goes.
    pub(crate) fn close_empty(&mut self, session: &mut SessionState) {
        let Some(editing) = self.in_place.take() else {
            return;
        };
        let copy = session.world().copy(editing.editor);
        let both = copy.edited().zip(copy.read());
        let closed = both
            .filter(|_| editing.typing == Typing::Addition)
            .and_then(|(edited, read)| without_empty(edited, read, &editing.pointer));
        if let Some(closed) = closed {
            session.world_mut().copy_mut(editing.editor).edit(closed);
        }
    }

    /// Returns whether the text of a whole working copy is not an object.
    pub(crate) fn is_wrong(&self, editor: ActorId) -> bool {
        self.raw.get(&editor).is_some_and(|raw| raw.error.is_some())
    }

    /// Another session is shown.
    pub(crate) fn enter(&mut self) {
        *self = Self::default();
    }

    fn commit(&mut self, typed: String, session: &mut SessionState, view: &mut ViewState) {
        let adds = |editing: &Editing| editing.typing == Typing::Addition;
        if typed.trim().is_empty() && self.in_place.as_ref().is_some_and(adds) {
            return self.close_empty(session);
        }
        let Some(editing) = self.in_place.take() else {
            return;
        };
        if editing.typing == Typing::Addition {
            return self.add(editing, typed, session, view);
        }
        let Some(object) = session.world().copy(editing.editor).edited() else {
            return;
        };
        match edit_scalar(object, &editing.pointer, &typed) {
            Ok(edited) if edited == **object => {}
            Ok(edited) => session.world_mut().copy_mut(editing.editor).edit(edited),
            Err(error) => {
                self.in_place = Some(Editing {
                    text: typed,
                    error: Some(error.to_string()),
                    ..editing
                });
            }
        }
    }

    /// Adds the typed value. In a map or list that is empty now, the next addition is typed.
    fn add(
        &mut self,
        editing: Editing,
        typed: String,
        session: &mut SessionState,
        view: &mut ViewState,
    ) {
        let Some(object) = session.world().copy(editing.editor).edited() else {
            return;
        };
        let root = &session.world().resource().root;
        match add_typed(object, root, &editing.pointer, &typed) {
            Ok(addition) => {
                let editor = editing.editor;
                session.world_mut().copy_mut(editor).edit(addition.object);
                // A list that was empty had no fold, and may have one now.
                unfold(session, view, editor, &editing.pointer);
                self.added = Some((editor, addition.pointer.clone()));
                if addition.is_empty {
                    let pointer = addition.pointer;
                    self.start(session, editor, Typing::Addition, pointer, String::new());
                }
            }
            Err(error) => {
                self.in_place = Some(Editing {
                    text: typed,
                    error: Some(error.to_string()),
                    ..editing
                });
            }
        }
    }

    /// Takes the text of a working copy that is typed as a whole.
    pub(crate) fn type_raw(&mut self, session: &mut SessionState, editor: ActorId, text: String) {
        session.playing = false;
        let typed = session.world_mut().copy_mut(editor).edit_text(&text);
        let error = typed.err().map(|error| error.to_string());
        self.insert_raw(editor, RawYaml { text, error });
    }

    pub(crate) fn insert_raw(&mut self, editor: ActorId, raw: RawYaml) {
        Rc::make_mut(&mut self.raw).insert(editor, raw);
    }

    /// Shows a working copy as a text, or no longer.
    fn write_raw(&mut self, session: &SessionState, editor: ActorId, on: bool) {
        let text = session.world().copy(editor).text().filter(|_| on);
        match text {
            Some(text) => self.insert_raw(editor, RawYaml { text, error: None }),
            None => drop(Rc::make_mut(&mut self.raw).remove(&editor)),
        }
    }

    /// Takes the texts from the working copies again. One that is wrong stays: it is nowhere else.
    pub(crate) fn write_raw_again(&mut self, session: &SessionState) {
        let right = self.raw.iter().filter(|(_, raw)| raw.error.is_none());
        let right: Vec<ActorId> = right.map(|(editor, _)| *editor).collect();
        for editor in right {
            self.write_raw(session, editor, true);
        }
    }

    /// Drops the edits of a working copy; [`undo_discard`](Self::undo_discard) brings them back.
    fn discard(&mut self, session: &mut SessionState, editor: ActorId) {
        self.in_place = None;
        let discarded = Discarded {
            node: session.tree.current(),
            copy: session.world().copy(editor).clone(),
            raw: self.raw.get(&editor).cloned(),
        };
        self.discarded.insert(editor, discarded);
        session.world_mut().copy_mut(editor).discard();
        self.write_raw(session, editor, self.raw.contains_key(&editor));
    }

    /// Returns whether the last discard of an editor can be undone.
    pub(crate) fn can_undo_discard(&self, session: &SessionState, editor: ActorId) -> bool {
        self.discarded.get(&editor).is_some_and(|discarded| {
            let copy = session.world().copy(editor);
            let read = copy.read().zip(discarded.copy.read());
            discarded.node == session.tree.current()
                && !copy.is_edited()
                && !self.is_wrong(editor)
                // Another object takes no old edits.
                && read.is_some_and(|(now, then)| Arc::ptr_eq(now, then))
        })
    }

    /// Brings back the edits that were discarded, as text where they were typed as text.
    fn undo_discard(&mut self, session: &mut SessionState, view: &mut ViewState, editor: ActorId) {
        if !self.can_undo_discard(session, editor) {
            return;
        }
        let Some(discarded) = self.discarded.remove(&editor) else {
            return;
        };
        view.focus = editor;
        *session.world_mut().copy_mut(editor) = discarded.copy;
        match discarded.raw {
            Some(raw) => self.insert_raw(editor, raw),
            None => drop(Rc::make_mut(&mut self.raw).remove(&editor)),
        }
    }
}

/// Lets an actor write in another way, or be somebody else.
fn choose_way(msg: EditMsg, session: &mut SessionState, view: &mut ViewState) {
    let world = session.world_mut();
    view.focus = match msg {
        EditMsg::Strategy(editor, strategy) => {
            world.actor_mut(editor).choose(strategy);
            editor
        }
        EditMsg::Write(editor, write) => {
            world.choose_write(editor, write);
            editor
        }
        EditMsg::Tool(actor, tool) => {
            world.become_tool(actor, tool);
            actor
        }
        EditMsg::Editor(actor) => {
            world.become_editor(actor);
            actor
        }
        EditMsg::Deleter(actor) => {
            world.name_actor(actor, "Deleter");
            actor
        }
        _ => return,
    };
}

/// Opens the folds around a place in a working copy, and its own.
fn unfold(session: &SessionState, view: &mut ViewState, editor: ActorId, pointer: &str) {
    let copy = if editor == ActorId::A { 0 } else { 2 };
    let aligned = aligned_rows(&CardObjects::new(session.world(), view.right));
    let Some(place) = aligned.row_at(copy, pointer) else {
        return;
    };
    let at = aligned.rows.iter().position(|row| row.key == place.key);
    let holds = |(i, row): &(usize, &AlignedRow)| {
        at.is_some_and(|at| *i <= at && at <= i + row.below && row.fold != Fold::None)
    };
    for (_, row) in aligned.rows.iter().enumerate().filter(holds) {
        if row.is_folded_at_first() != view.toggled.contains(ObjectView::Cards, &row.key) {
            view.toggled.toggle(ObjectView::Cards, row.key.clone());
        }
    }
}

/// Declares an unchanged value for the next apply, or no longer.
fn own(session: &mut SessionState, editor: ActorId, pointer: &str) {
    let resource = session.world().resource().clone();
    let copy = session.world_mut().copy_mut(editor);
    let field = copy.edited();
    let field = field.and_then(|object| Path::at(object, pointer, &resource.root));
    match field {
        Some(field) if copy.declared().contains(&field) => copy.undeclare(&field),
        Some(field) => copy.declare(field),
        None => {}
    }
}
