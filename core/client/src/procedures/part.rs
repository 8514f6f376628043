//! The parts of the place of a process in its procedure. A search that takes states as the same in which
//! only numbers of versions differ needs to know where these numbers are: in objects and bodies.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::{Call, Editor, Patch};

/// A part of what decides all further steps of a process.
#[derive(Clone, Copy, Debug)]
pub enum ProcedurePart<'a> {
    /// Something that counts as it is, as a hash.
    Plain(u64),
    /// An object as the server gave it, or a body that was made of one.
    Object(&'a Value),
    /// An editor, who does a part of the work.
    Editor(&'a Editor),
}

/// A list of parts that grows.
#[derive(Debug, Default)]
pub(crate) struct PartList<'a>(pub(crate) Vec<ProcedurePart<'a>>);

impl<'a> PartList<'a> {
    pub(crate) fn plain(&mut self, value: impl Hash) {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        self.0.push(ProcedurePart::Plain(hasher.finish()));
    }

    pub(crate) fn object(&mut self, object: &'a Value) {
        self.0.push(ProcedurePart::Object(object));
    }

    pub(crate) fn editor(&mut self, editor: &'a Editor) {
        self.0.push(ProcedurePart::Editor(editor));
    }

    pub(crate) fn call(&mut self, call: &'a Call) {
        self.plain(call.kind() as u8);
        match call {
            Call::Get { namespace, name } => self.plain((namespace, name)),
            Call::List { namespace } => self.plain(namespace),
            Call::Create { namespace, object } => {
                self.plain(namespace);
                self.object(object);
            }
            Call::Update {
                base,
                object,
                subresource,
            } => {
                self.plain(subresource);
                self.object(base);
                self.object(object);
            }
            Call::Patch {
                base,
                patch,
                subresource,
            } => {
                let (Patch::Merge(patch) | Patch::Strategic(patch) | Patch::Json(patch)) = patch;
                self.plain(subresource);
                self.object(base);
                self.object(patch);
            }
            Call::Apply {
                base,
                object,
                force,
                subresource,
            } => {
                self.plain((force, subresource));
                self.object(base);
                self.object(object);
            }
            Call::Delete {
                object,
                preconditions,
                in_background,
            } => {
                self.plain((preconditions, in_background));
                self.object(object);
            }
        }
    }
}
