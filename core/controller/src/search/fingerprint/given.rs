//! What users gave a search and what looks as if the server or a clock had chosen it.

use std::collections::HashSet;

use serde_json::Value;

use super::digest::{Place, is_time, is_uid};
use crate::program::Variable;
use crate::search::SystemScenario;
use crate::search::state::Editor;

/// The texts that look like times or uids and that the search began with, outside the fields that
/// only the server sets: users gave them, so they count as they are. Every other such text that
/// occurs in a search was made in it, by the server or by the clock of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    texts: HashSet<Box<str>>,
}

impl Given {
    /// Collects the texts of everything that a scenario begins with.
    pub(super) fn of(scenario: &SystemScenario) -> Self {
        let mut given = Self::default();
        let start = scenario.start();
        for (_, _, object) in start.server().store().range("/registry/") {
            given.collect(Place::Object, "", object);
        }
        for controller in start.controllers() {
            given.program(controller.code().program());
            for (_, object) in controller
                .caches()
                .iter()
                .flat_map(|it| it.objects().iter())
            {
                given.collect(Place::Object, "", object);
            }
            for (_, variable) in controller.run().into_iter().flat_map(|run| run.variables()) {
                given.variable(variable);
            }
        }
        for editor in start.editors() {
            match editor {
                Editor::Script(script) => given.program(script.program()),
                Editor::Copy(editor) => {
                    let copies = [editor.copy.read(), editor.copy.edited()];
                    for object in copies.into_iter().flatten() {
                        given.collect(Place::Object, "", object);
                    }
                    if let Some(intent) = &editor.plan.intent {
                        let meant = intent.done_on(&Value::Null);
                        given.collect(Place::Elsewhere, "", &meant);
                    }
                    let body = editor.plan.write.body.as_deref().map(serde_json::from_str);
                    if let Some(Ok(body)) = body {
                        given.collect(Place::Elsewhere, "", &body);
                    }
                }
            }
        }
        given
    }

    /// Whether a user gave a text.
    pub(super) fn has(&self, text: &str) -> bool {
        self.texts.contains(text)
    }

    fn program(&mut self, program: &crate::program::Program) {
        let written = serde_json::to_value(program).unwrap_or_default();
        self.collect(Place::Elsewhere, "", &written);
    }

    fn variable(&mut self, variable: &Variable) {
        let objects = match variable {
            Variable::Object { object, .. } => std::slice::from_ref(object),
            Variable::List { objects, .. } => objects,
        };
        for object in objects {
            self.collect(Place::Object, "", object);
        }
    }

    fn collect(&mut self, place: Place, member: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                let inside = if member.is_empty() {
                    place
                } else {
                    place.of(member)
                };
                for (name, value) in members {
                    self.collect(inside, name, value);
                }
            }
            Value::Array(items) => {
                let inside = place.of(member);
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
