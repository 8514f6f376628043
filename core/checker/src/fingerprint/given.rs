//! Texts from users that look as if the server or a clock had chosen them.

use std::collections::HashSet;

use serde_json::Value;

use super::digest::{DigestPlace, is_time, is_uid};
use optimist_client::{Call, ChangeContent, Editor, Patch, Procedure, SingleRequest, Tool};
use optimist_controller::Controller;
use optimist_controller::program::{Program, Variable};
use optimist_system::{Process, System};

/// The texts that look like times or uids and that the search began with, outside the fields that
/// only the server sets: users gave them, so they count as they are. Every other such text that
/// occurs in a search was made in it, by the server or by the clock of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    texts: HashSet<Box<str>>,
}

impl Given {
    /// Collects the texts of everything that a system begins with.
    pub(super) fn from_start(start: &System) -> Self {
        let mut given = Self::default();
        for (_, _, object) in start.server().store().range("/registry/") {
            given.collect(DigestPlace::Object, "", object);
        }
        for process in start.processes() {
            match process {
                Process::Idle => {}
                Process::Procedure(procedure) => match &**procedure {
                    Procedure::Editor(editor) => given.editor(editor),
                    Procedure::Tool(tool) => given.tool(tool),
                    Procedure::Single(single) => given.single(single),
                },
                Process::Controller(controller) => given.controller(controller),
            }
        }
        given
    }

    fn controller(&mut self, controller: &Controller) {
        self.program(controller.code().program());
        let caches = controller.caches().iter();
        for (_, object) in caches.flat_map(|cache| cache.objects().iter()) {
            self.collect(DigestPlace::Object, "", object);
        }
        let variables = controller.run().into_iter().flat_map(|run| run.variables());
        variables.for_each(|(_, variable)| self.variable(variable));
    }

    fn tool(&mut self, tool: &Tool) {
        let change = &tool.plan().change;
        let (ChangeContent::Manifest(content) | ChangeContent::Edited(content)) = &change.content;
        for object in [Some(content), change.previous.as_ref()] {
            object
                .into_iter()
                .for_each(|object| self.collect(DigestPlace::Object, "", object));
        }
        if let Some(first) = &tool.plan().first {
            self.collect(DigestPlace::Object, "", first);
        }
    }

    fn single(&mut self, single: &SingleRequest) {
        let Some(call) = single.call() else {
            return;
        };
        if let Some(object) = call.written() {
            self.collect(DigestPlace::Object, "", object);
        }
        if let Call::Patch { patch, .. } = call {
            let (Patch::Merge(patch) | Patch::Strategic(patch) | Patch::Json(patch)) = patch;
            self.collect(DigestPlace::Elsewhere, "", patch);
        }
    }

    fn editor(&mut self, editor: &Editor) {
        let copies = [editor.copy().read(), editor.copy().edited()];
        for object in copies.into_iter().flatten() {
            self.collect(DigestPlace::Object, "", object);
        }
        if let Some(intent) = &editor.plan().intent {
            let meant = intent.done_on(&Value::Null);
            self.collect(DigestPlace::Elsewhere, "", &meant);
        }
        let body = editor.plan().write.body.as_deref();
        if let Some(Ok(body)) = body.map(serde_json::from_str) {
            self.collect(DigestPlace::Elsewhere, "", &body);
        }
    }

    /// Returns whether a user gave a text.
    pub(super) fn has(&self, text: &str) -> bool {
        self.texts.contains(text)
    }

    fn program(&mut self, program: &Program) {
        let written = serde_json::to_value(program).unwrap_or_default();
        self.collect(DigestPlace::Elsewhere, "", &written);
    }

    fn variable(&mut self, variable: &Variable) {
        let objects = match variable {
            Variable::Object { object, .. } => std::slice::from_ref(object),
            Variable::List { objects, .. } => objects,
        };
        for object in objects {
            self.collect(DigestPlace::Object, "", object);
        }
    }

    fn collect(&mut self, place: DigestPlace, member: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                let inside = if member.is_empty() {
                    place
                } else {
                    place.member(member)
                };
                for (name, value) in members {
                    self.collect(inside, name, value);
                }
            }
            Value::Array(items) => {
                let inside = place.member(member);
                items.iter().for_each(|item| self.collect(inside, "", item));
            }
            Value::String(text)
                if (is_time(text) || is_uid(text)) && !place.is_set_by_server(member) =>
            {
                self.texts.insert(text.as_str().into());
            }
            _ => {}
        }
    }
}
