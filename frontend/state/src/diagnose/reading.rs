//! What is read out of the texts that were brought. What they mean decides `optimist_diagnose`.

use std::rc::Rc;

use optimist_apiserver::apply::{Manager, Managers, field_set};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::schema::Struct;
use optimist_diagnose::brought::{Brought, NotRecognized, recognize};
use optimist_diagnose::case::{Case, Installed, NotInstalled};
use optimist_diagnose::lanes::RecordedLanes;
use optimist_diagnose::message::ReportedError;
use optimist_diagnose::observed::{
    FieldChange, Fight, ObservedVersion, ReturningField, fights, returning_fields, version_changes,
};
use optimist_diagnose::ownership::ObjectOwnership;
use optimist_diagnose::scene::{GivenParts, MissingPart, NoScene, Scene};
use optimist_diagnose::ways::{ChangeContent, WantedChange};
use optimist_simulation::HistoryTree;
use optimist_text::share::masked;
use serde_json::Value;

use super::recorded::manager_names;

/// What a text is, or why that is not known.
pub(super) type Content = Result<Brought, NotRecognized>;

/// What was brought about one object, and what follows from it.
#[derive(Clone, Debug)]
pub struct CaseReading {
    /// What was brought.
    pub case: Case,
    /// The object on a server of its own, or why it is on none.
    pub installed: Result<Installed, NotInstalled>,
    /// Who owns what in the object. Values that look private are masked.
    pub ownership: Option<ObjectOwnership>,
    /// What happened to it.
    pub history: Option<ObservedHistory>,
    /// How the object was made up from an error message; `None` if it was brought.
    pub scene: Option<SceneReading>,
}

/// How an object was made up from an error message.
#[derive(Clone, Debug)]
pub struct SceneReading {
    /// What the message does not say, with what stands in its place.
    pub missing: Vec<MissingPart>,
    /// The refused change, if it was an apply.
    pub(super) change: Option<WantedChange>,
    /// The history up to the answer with the message.
    pub(super) history: HistoryTree,
}

impl CaseReading {
    /// What follows from what was brought about an object.
    pub(super) fn of(case: Case) -> Self {
        let installed = case.install();
        let root = installed.as_ref().ok().map(|it| &*it.resource().root);
        // The object of the case, not of the server: what was brought is what is shown.
        let ownership = case.live.as_ref().zip(root);
        let ownership = ownership.map(|(object, root)| ObjectOwnership::of(&masked(object), root));
        let history = root.and_then(|root| ObservedHistory::of(&case.versions, root));
        Self {
            ownership,
            history,
            installed,
            case,
            scene: None,
        }
    }

    /// The scene of an error message, with what people add to it.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn of_message(error: &ReportedError, given: &GivenParts) -> Result<Self, NoScene> {
        let scene = Scene::of(error, given)?;
        let none = || NoScene::NotInstalled(NotInstalled::NoObject);
        let object = scene.installed.object().ok_or_else(none)?;
        let ownership = ObjectOwnership::of(object, &scene.installed.resource().root);
        let case = Case {
            errors: vec![error.clone()],
            manifest: scene
                .change
                .as_ref()
                .and_then(|change| match &change.content {
                    ChangeContent::Manifest(manifest) => Some(manifest.clone()),
                    ChangeContent::Edited(_) => None,
                }),
            ..Case::about((**object).clone())
        };
        Ok(Self {
            case,
            ownership: Some(ownership),
            history: None,
            scene: Some(SceneReading {
                missing: scene.missing,
                change: scene.change,
                history: scene.history,
            }),
            installed: Ok(scene.installed),
        })
    }

    /// The lines of the object whose fields have these paths, as messages print them: JSON pointers.
    pub(super) fn pointers(&self, fields: &[String]) -> Vec<String> {
        let (Some(live), Some(ownership)) = (&self.case.live, &self.ownership) else {
            return Vec::new();
        };
        let Ok(installed) = &self.installed else {
            return Vec::new();
        };
        if fields.is_empty() {
            return Vec::new();
        }
        let paths = field_set(live, &installed.resource().root).paths();
        let named = paths.iter().filter(|it| fields.contains(&it.to_string()));
        let values: Vec<&Value> = named.filter_map(|path| path.find(live)).collect();
        let pointers = ownership.lines.iter().map(|line| &line.line.pointer);
        let found = pointers.filter(|pointer| {
            let value = live.pointer(pointer);
            value.is_some_and(|value| values.iter().any(|it| std::ptr::eq(*it, value)))
        });
        found.cloned().collect()
    }
}

/// Versions of one object, and what changed between them.
#[derive(Clone, Debug)]
pub struct ObservedHistory {
    /// The `resourceVersion` of each, oldest first.
    pub versions: Vec<String>,
    /// The changes between them. Values that look private are masked.
    pub changes: Vec<FieldChange>,
    /// The position of the version of each change.
    pub rows: Vec<usize>,
    /// When each of the changes was made, as `managedFields` says: `2026-11-22T06:05:08Z`.
    pub times: Vec<Option<String>>,
    /// The fields that managers fight over.
    pub fights: Vec<Fight>,
    /// The fields that came back to an earlier value, where it is not known who wrote.
    pub returning: Vec<ReturningField>,
    /// Whether a version says who owns a field.
    pub owned: bool,
    /// What is wrong with the `managedFields` of a version.
    pub problem: Option<String>,
    /// The versions in lanes.
    pub lanes: RecordedLanes,
    /// The names of all managers. Their positions choose their colours and patterns.
    pub manager_names: Rc<Vec<String>>,
}

impl ObservedHistory {
    fn of(versions: &[ObservedVersion], root: &Struct) -> Option<Self> {
        if versions.is_empty() {
            return None;
        }
        let (found, problem) = match version_changes(versions, root) {
            Ok(changes) => (changes, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        // Fields are compared as they are, and shown masked.
        let times = found.iter().map(|one| time(one, versions)).collect();
        let lanes = RecordedLanes::of_versions(versions, &found);
        let (rows, mut changes): (Vec<usize>, Vec<FieldChange>) = found.into_iter().unzip();
        let fights = fights(&changes);
        let returning = returning_fields(&changes);
        let entries = |it: &ObservedVersion| it.object.pointer("/metadata/managedFields").is_some();
        let owned = versions.iter().any(entries);
        let shown: Vec<Value> = versions.iter().map(|it| masked(&it.object)).collect();
        for (at, change) in rows.iter().zip(&mut changes) {
            change.after = shown.get(*at).and_then(|it| change.field.find(it)).cloned();
            let before = at.checked_sub(1).and_then(|before| shown.get(before));
            change.before = before.and_then(|it| change.field.find(it)).cloned();
        }
        let managers = manager_names(&lanes, versions.iter().map(|it| &it.object));
        let versions = versions.iter().map(|it| it.object.resource_version());
        Some(Self {
            versions: versions.map(str::to_owned).collect(),
            changes,
            rows,
            times,
            fights,
            returning,
            owned,
            problem,
            lanes,
            manager_names: managers,
        })
    }

    /// The changes of the version at a position.
    pub fn changes_of(&self, row: usize) -> &[FieldChange] {
        let begin = self.rows.partition_point(|of| *of < row);
        let end = self.rows.partition_point(|of| *of <= row);
        self.changes.get(begin..end).unwrap_or_default()
    }

    /// The managers that made changes or whose values were changed, in the order of their first one.
    pub fn managers(&self) -> Vec<&Manager> {
        let mut managers: Vec<&Manager> = Vec::new();
        for change in &self.changes {
            for manager in change.owner_before.iter().chain(&change.by) {
                if !managers.contains(&manager) {
                    managers.push(manager);
                }
            }
        }
        managers
    }
}

/// When a change was made: the time of its manager's entry.
fn time((at, change): &(usize, FieldChange), versions: &[ObservedVersion]) -> Option<String> {
    let by = change.by.as_ref()?;
    let object = &versions.get(*at)?.object;
    let managers = Managers::decode(object["metadata"].get("managedFields")).ok()?;
    Some(managers.get(by)?.time?.to_string())
}

/// What is in a text: each thing with its own part of the text.
pub(super) fn read(whole: &Rc<str>) -> Vec<(Rc<str>, Content)> {
    match recognize(whole) {
        Ok(Brought::Several(several)) => several
            .into_iter()
            .map(|one| (one.to_text().into(), Ok(one)))
            .collect(),
        content => vec![(Rc::clone(whole), content)],
    }
}
