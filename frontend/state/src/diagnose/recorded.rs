//! The recorded history of the case, stepped through: which step is selected, and the object then.

use std::collections::BTreeMap;
use std::rc::Rc;

use optimist_apiserver::apply::{Manager, field_set};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::schema::Struct;
use optimist_apiserver::status::causes;
use optimist_diagnose::audit::AuditEvent;
use optimist_diagnose::audit::recorded::KnownObject;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::lanes::RecordedLanes;
use optimist_diagnose::observed::FieldChange;
use optimist_diagnose::ownership::ObjectOwnership;
use optimist_masking::masked;
use serde_json::{Value, json};

use super::{AuditReplay, DiagnoseState, ObservedHistory, OwnerFilter};

/// The source of a recorded history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedSource {
    /// The audit log of the case.
    AuditLog,
    /// The versions of the object that is looked at.
    Versions,
}

/// A step of a recorded history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedStep {
    /// The history.
    pub source: RecordedSource,
    /// The position of its row.
    pub row: usize,
}

/// The step to which people go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMove {
    /// The first one.
    First,
    /// The one before.
    Back,
    /// The next one.
    Forward,
    /// The last one.
    Last,
}

/// The object as it was at a step. Values that look private are masked.
#[derive(Clone, Debug)]
pub struct StepObject {
    /// The step.
    pub step: SelectedStep,
    /// The id of the object; `None` if it is not known.
    pub id: Option<ObjectId>,
    /// The source from which it is known.
    pub known: KnownObject,
    /// Its `resourceVersion`, if that was observed.
    pub version: Option<String>,
    /// The owners of its fields at this step; `None` if there was no object, or if they are not
    /// known.
    pub ownership: Option<ObjectOwnership>,
    /// The lines that the step changed, by their JSON pointers.
    pub changed: BTreeMap<String, FieldChange>,
    /// The lines for which the step was refused, as JSON pointers.
    pub refused: Rc<Vec<String>>,
}

/// The recorded facts about a step, from which a [`StepObject`] is made.
struct StepFacts<'a> {
    object: Option<&'a Value>,
    root: Option<&'a Struct>,
    known: KnownObject,
    version: Option<&'a str>,
    /// The changes of the step, masked.
    changes: Vec<&'a FieldChange>,
    /// The fields that the answer names.
    refused: Vec<&'a str>,
}

impl StepObject {
    fn new(step: SelectedStep, facts: &StepFacts<'_>) -> Self {
        let ownership = facts.object.zip(facts.root);
        let made_up: Vec<String> = facts.known.made_up().iter().map(in_metadata).collect();
        let ownership = ownership.map(|(object, root)| {
            let mut all = ObjectOwnership::read(&masked(object), root);
            all.lines.retain(|it| !made_up.contains(&it.line.pointer));
            all
        });
        let (mut changed, mut refused) = (BTreeMap::new(), Vec::new());
        if let (Some(object), Some(ownership)) = (facts.object, &ownership) {
            let mut lines: BTreeMap<*const Value, &str> = BTreeMap::new();
            for line in &ownership.lines {
                if let Some(value) = object.pointer(&line.line.pointer) {
                    lines
                        .entry(std::ptr::from_ref(value))
                        .or_insert(&line.line.pointer);
                }
            }
            let line_of = |value: &Value| lines.get(&std::ptr::from_ref(value)).copied();
            for change in &facts.changes {
                if let Some(line) = change.field.find(object).and_then(line_of) {
                    changed.insert(line.to_owned(), (*change).clone());
                }
            }
            if let Some(root) = facts.root.filter(|_| !facts.refused.is_empty()) {
                let paths = field_set(object, root).paths();
                let named = paths.iter().filter(|path| {
                    let printed = path.to_string();
                    facts.refused.contains(&printed.as_str())
                });
                let found = named.filter_map(|path| line_of(path.find(object)?));
                refused.extend(found.map(str::to_owned));
            }
        }
        Self {
            step,
            id: facts.object.map(ObjectId::from_object),
            known: facts.known,
            version: facts.version.map(str::to_owned),
            ownership,
            changed,
            refused: Rc::new(refused),
        }
    }
}

/// The place of a member of the metadata.
fn in_metadata(member: &&str) -> String {
    format!("/metadata/{member}")
}

/// The fields that the answer to a refused apply names.
fn refused_fields(event: &AuditEvent) -> Vec<&str> {
    let causes = event.response.as_deref().into_iter().flat_map(causes);
    causes.map(|cause| text(cause, "field")).collect()
}

/// The names of all managers of a recorded history: those with lanes first. Their positions choose
/// their colours and patterns, which stay the same at each step.
pub(super) fn manager_names<'a>(
    lanes: &RecordedLanes,
    objects: impl IntoIterator<Item = &'a Value>,
) -> Rc<Vec<String>> {
    let clients = lanes.lanes.iter().flat_map(|lane| &lane.clients);
    let (writers, readers): (Vec<_>, Vec<_>) = clients.partition(|client| client.writes > 0);
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    writers.iter().for_each(|client| add(&client.manager));
    for object in objects {
        let entries = object.managed_entries().iter();
        entries.for_each(|entry| add(text(entry, "manager")));
    }
    readers.iter().for_each(|client| add(&client.manager));
    Rc::new(names)
}

impl AuditReplay {
    fn step_facts(&self, row: usize) -> Option<StepFacts<'_>> {
        let step = self.history.steps.get(row)?;
        let event = self.log.events.get(step.event)?;
        let changes = self.findings.changes_of(row);
        Some(StepFacts {
            object: step.after.as_deref(),
            root: self.history.resource().map(|resource| &**resource.root),
            known: step.known_after,
            version: step.version_after(),
            changes: changes.iter().map(|(_, change)| change).collect(),
            refused: refused_fields(event),
        })
    }
}

impl DiagnoseState {
    /// Returns the replay of the audit log.
    pub fn replay(&self) -> Option<&Rc<AuditReplay>> {
        self.audit.as_ref()?.replay.as_ref()
    }

    /// Returns the history of the selected object, from its versions.
    pub fn observed(&self) -> Option<&ObservedHistory> {
        self.reading()?.history.as_ref()
    }

    /// The lanes of a recorded history.
    pub fn lanes(&self, source: RecordedSource) -> Option<&RecordedLanes> {
        match source {
            RecordedSource::AuditLog => self.replay().map(|replay| &replay.lanes),
            RecordedSource::Versions => self.observed().map(|history| &history.lanes),
        }
    }

    /// Returns whether there are steps to go to.
    pub fn has_steps(&self) -> bool {
        let known = [RecordedSource::AuditLog, RecordedSource::Versions];
        known.into_iter().any(|source| self.lanes(source).is_some())
    }

    /// The names whose positions choose colours and patterns of managers; empty without a recorded
    /// history.
    pub fn manager_names(&self) -> Rc<Vec<String>> {
        let selected = self.step.map(|step| step.source);
        let names = match (selected, self.observed(), self.replay()) {
            (Some(RecordedSource::AuditLog) | None, None, Some(replay))
            | (Some(RecordedSource::AuditLog), _, Some(replay)) => Some(&replay.manager_names),
            (_, Some(history), _) => Some(&history.manager_names),
            _ => None,
        };
        names.cloned().unwrap_or_default()
    }

    /// The step that is selected; `None` while its history is not there.
    pub fn selected_step(&self) -> Option<SelectedStep> {
        self.step_object.as_ref().map(|object| object.step)
    }

    /// Selects a step, or none.
    pub(super) fn select_step(&mut self, step: Option<SelectedStep>) {
        let owner = self.owner.and_then(|filter| self.owner_of(filter));
        self.step = step;
        self.look_at_step();
        self.owner = match (self.owner, owner) {
            (Some(OwnerFilter::NoOwner), _) => Some(OwnerFilter::NoOwner),
            (_, Some(manager)) => self.filter_of(&manager),
            (_, None) => None,
        };
    }

    /// The manager whose lines alone are shown.
    fn owner_of(&self, filter: OwnerFilter) -> Option<Manager> {
        let OwnerFilter::Manager(number) = filter else {
            return None;
        };
        let entry = self.shown_ownership()?.managers.get(number)?;
        Some(entry.manager.clone())
    }

    fn filter_of(&self, manager: &Manager) -> Option<OwnerFilter> {
        let mut managers = self.shown_ownership()?.managers.iter();
        let number = managers.position(|entry| entry.manager == *manager)?;
        Some(OwnerFilter::Manager(number))
    }

    /// Returns the owners in the displayed object: at the step, or in the newest version.
    fn shown_ownership(&self) -> Option<&ObjectOwnership> {
        match &self.step_object {
            Some(step) => step.ownership.as_ref(),
            None => self.reading()?.ownership.as_ref(),
        }
    }

    /// Goes to another step of the history that is stepped through, or of the only one.
    pub(super) fn move_step(&mut self, to: StepMove) {
        let known = [RecordedSource::AuditLog, RecordedSource::Versions];
        let known = known
            .into_iter()
            .find(|source| self.lanes(*source).is_some());
        let Some(source) = self.selected_step().map(|step| step.source).or(known) else {
            return;
        };
        let rows = self.lanes(source).map_or(0, |lanes| lanes.rows.len());
        let Some(last) = rows.checked_sub(1) else {
            return;
        };
        let here = self.selected_step().map(|step| step.row);
        let row = match (to, here) {
            (StepMove::First, _) | (StepMove::Forward, None) => 0,
            (StepMove::Last, _) | (StepMove::Back, None) => last,
            (StepMove::Back, Some(here)) => here.saturating_sub(1),
            (StepMove::Forward, Some(here)) => (here + 1).min(last),
        };
        self.select_step(Some(SelectedStep { source, row }));
    }

    /// Looks again at the object of the step, after the case or the step has changed.
    pub(super) fn look_at_step(&mut self) {
        let made = self.step.and_then(|step| self.object_at(step));
        self.step_object = made.map(Rc::new);
    }

    fn object_at(&self, step: SelectedStep) -> Option<StepObject> {
        match step.source {
            RecordedSource::AuditLog => {
                let facts = self.replay()?.step_facts(step.row)?;
                Some(StepObject::new(step, &facts))
            }
            RecordedSource::Versions => {
                let reading = self.reading()?;
                let version = reading.case.versions.get(step.row)?;
                let history = reading.history.as_ref()?;
                let installed = reading.installed.as_ref().ok();
                let facts = StepFacts {
                    object: Some(&version.object),
                    root: installed.map(|it| &**it.resource().root),
                    known: KnownObject::Recorded,
                    version: Some(version.object.resource_version()),
                    changes: history.changes_of(step.row).iter().collect(),
                    refused: Vec::new(),
                };
                Some(StepObject::new(step, &facts))
            }
        }
    }
}

impl SelectedStep {
    /// From the JSON of a case that is kept; `None` if it says none.
    pub(super) fn parse(json: &Value) -> Option<Self> {
        let source = match json["of"].as_str()? {
            "log" => RecordedSource::AuditLog,
            "versions" => RecordedSource::Versions,
            _ => return None,
        };
        let row = usize::try_from(json["row"].as_u64()?).ok()?;
        Some(Self { source, row })
    }

    /// Writes the selection as a kept case has it.
    pub(super) fn to_json(self) -> Value {
        let source = match self.source {
            RecordedSource::AuditLog => "log",
            RecordedSource::Versions => "versions",
        };
        json!({"of": source, "row": self.row})
    }
}
