//! Reads the texts of the case into objects. `optimist_diagnose` decides their meaning.

use std::rc::Rc;

use optimist_apiserver::apply::{Manager, Managers, field_set};
use optimist_apiserver::object::Metadata;
use optimist_diagnose::case::{
    Case, InstallProgress, Installed, NotInstalled, Note, ObjectId, PartialInstall,
};
use optimist_diagnose::fight_remedy::RemedyRun;
use optimist_diagnose::lanes::RecordedLanes;
use optimist_diagnose::message::ReportedError;
use optimist_diagnose::observed::{
    ChangeReader, FieldChange, Fight, ObservedVersion, ReturningField, fights_of_each,
    returning_fields,
};
use optimist_diagnose::ownership::{ObjectOwnership, OwnershipReader};
use optimist_diagnose::scene::{GivenParts, MessageManifests, NoScene, Scene, UnusedManifest};
use optimist_diagnose::ways::ChangeContent;
use optimist_masking::{masked, with_parts};
use optimist_simulation::World;
use serde_json::Value;

use super::recorded::manager_names;

/// The input about one object, and the facts that follow from it.
#[derive(Clone, Debug)]
pub struct CaseReading {
    /// The input.
    pub case: Rc<Case>,
    /// The object on a server of its own, or why it is on none.
    pub installed: Result<Installed, NotInstalled>,
    /// The owners of the object's fields. Values that look private are masked.
    pub ownership: Option<ObjectOwnership>,
    /// The history of the object.
    pub history: Option<ObservedHistory>,
    /// The scene that made the object from an error message; `None` if the object was in the input.
    pub scene: Option<Scene>,
    /// The parts that people, or the manifest of the case, add to the message of the scene.
    pub(super) given: GivenParts,
    /// The manifests of the input that are not the refused write of the scene.
    pub unused_manifests: Vec<UnusedManifest>,
    /// `true` for the object of the audit log. It has no history here: the log itself says what happened.
    pub(super) is_audited: bool,
}

impl CaseReading {
    /// The identity of the object for a title: what no input says is named by a placeholder.
    pub fn title(&self) -> ObjectId {
        let made_up = self.installed.as_ref().map(|installed| installed.made_up);
        made_up.unwrap_or_default().title(&self.case.id)
    }
}

/// A [`CaseReading`] in the making: the work is done in parts.
#[derive(Debug)]
pub(super) struct PartialReading {
    case: Rc<Case>,
    part: ReadingPart,
    ownership: Option<ObjectOwnership>,
    is_audited: bool,
    /// The parts of the object that look private, if a worker has looked for them.
    masks: Option<Masks>,
}

/// The parts of an object that look private, as [`with_parts`] takes them.
pub(super) type Masks = Rc<[(String, Value)]>;

/// The next part of a reading. Each is short, also for a large object.
#[derive(Debug)]
enum ReadingPart {
    Fit,
    Install(Box<PartialInstall>),
    Follow(Box<Installed>, InstalledPart),
}

/// The next part of what follows from an installed object.
#[derive(Debug)]
enum InstalledPart {
    /// The values of the object that look private are to be masked.
    Mask,
    /// The owners of this object are to be found.
    Own(Value),
    Owners(Box<OwnershipReader>),
    History(Box<PartialHistory>),
}

impl PartialReading {
    /// Before the first part.
    pub(super) fn new(case: Rc<Case>) -> Self {
        Self {
            case,
            part: ReadingPart::Fit,
            ownership: None,
            is_audited: false,
            masks: None,
        }
    }

    /// The same with the parts of the object that look private, if they are known.
    pub(super) fn with_masks(self, masks: Option<Masks>) -> Self {
        Self { masks, ..self }
    }

    /// Before the first part of the reading of the object of the audit log.
    pub(super) fn of_audited(case: Rc<Case>) -> Self {
        Self {
            is_audited: true,
            ..Self::new(case)
        }
    }

    /// Does the next part.
    pub(super) fn advance(mut self) -> Result<CaseReading, Box<Self>> {
        let part = std::mem::replace(&mut self.part, ReadingPart::Fit);
        self.part = match part {
            ReadingPart::Fit => match self.case.begin_install() {
                Ok(begun) => ReadingPart::Install(Box::new(begun)),
                Err(why) => return Ok(self.finish(Err(why), None)),
            },
            ReadingPart::Install(begun) => match begun.advance() {
                Ok(InstallProgress::More(more)) => ReadingPart::Install(more),
                Ok(InstallProgress::Done(mut installed)) => {
                    if self.is_audited {
                        // It has one in the cluster, and the log does not say it.
                        installed.notes.retain(|note| *note != Note::UidMadeUp);
                    }
                    ReadingPart::Follow(installed, InstalledPart::Mask)
                }
                Err(why) => return Ok(self.finish(Err(why), None)),
            },
            ReadingPart::Follow(installed, part) => match self.follow(part, &installed) {
                Ok(next) => ReadingPart::Follow(installed, next),
                Err(history) => return Ok(self.finish(Ok(*installed), history)),
            },
        };
        Err(Box::new(self))
    }

    /// Does a part of what follows from the installed object. Returns the part after it; in
    /// place of an error the history, if all is done.
    fn follow(
        &mut self,
        part: InstalledPart,
        installed: &Installed,
    ) -> Result<InstalledPart, Option<ObservedHistory>> {
        let (versions, root) = (&self.case.versions, &installed.resource().root);
        Ok(match part {
            // The object of the case, not of the server: what was brought is what is shown.
            InstalledPart::Mask => match (&self.case.live, &self.masks) {
                (Some(live), Some(masks)) => InstalledPart::Own(with_parts(live, masks)),
                (Some(live), None) => InstalledPart::Own(masked(live)),
                (None, _) => InstalledPart::History(Box::default()),
            },
            InstalledPart::Own(shown) => {
                InstalledPart::Owners(Box::new(OwnershipReader::new(shown, root)))
            }
            InstalledPart::Owners(mut owners) => {
                if owners.advance(root) {
                    InstalledPart::Owners(owners)
                } else {
                    self.ownership = Some(owners.finish());
                    InstalledPart::History(Box::default())
                }
            }
            InstalledPart::History(_) if versions.is_empty() || self.is_audited => {
                return Err(None);
            }
            InstalledPart::History(mut history) => {
                if history.advance(versions, installed) {
                    InstalledPart::History(history)
                } else {
                    return Err(Some(history.finish(versions)));
                }
            }
        })
    }

    fn finish(
        self,
        installed: Result<Installed, NotInstalled>,
        history: Option<ObservedHistory>,
    ) -> CaseReading {
        CaseReading {
            case: self.case,
            installed,
            ownership: self.ownership,
            history,
            scene: None,
            given: GivenParts::default(),
            unused_manifests: Vec::new(),
            is_audited: self.is_audited,
        }
    }
}

impl CaseReading {
    /// Returns whether it is the reading of an object, and not that of an error message alone.
    pub(super) fn is_of(&self, case: &Case, is_audited: bool) -> bool {
        self.is_audited == is_audited && *self.case == *case && self.scene.is_none()
    }

    /// Makes the scene of an error message, with the parts that people add to it.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn of_message(
        error: &ReportedError,
        mut manifests: MessageManifests,
    ) -> Result<Self, NoScene> {
        let scene = Scene::rebuild(error, &manifests.given)?;
        manifests.tried_in(&scene, error);
        let given = scene.usable_parts(&manifests.given);
        let none = || NoScene::NotInstalled(NotInstalled::NoObject);
        let object = scene.installed.object().ok_or_else(none)?;
        // It can have the values of a manifest.
        let shown = masked(&scene.installed.shown_object().unwrap_or_default());
        let ownership = ObjectOwnership::read(&shown, &scene.installed.resource().root);
        let case = Case {
            errors: vec![error.clone()],
            manifest: scene
                .change
                .as_ref()
                .and_then(|change| match &change.content {
                    ChangeContent::Manifest(manifest) => Some(manifest.clone()),
                    ChangeContent::Edited(_) => None,
                }),
            previous_manifest: given.previous_manifest.clone(),
            ..Case::about((**object).clone())
        };
        Ok(Self {
            case: Rc::new(case),
            ownership: Some(ownership),
            history: None,
            installed: Ok(scene.installed.clone()),
            scene: Some(scene),
            given,
            unused_manifests: manifests.unused,
            is_audited: false,
        })
    }

    /// Returns whether its refused write is the manifest of a case.
    pub(super) fn has_manifest_of(&self, case: &Case) -> bool {
        case.live.is_none() && self.given.manifest.is_some() && self.given.manifest == case.manifest
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

/// Versions of one object, and the changes between them.
#[derive(Clone, Debug)]
pub struct ObservedHistory {
    /// The `resourceVersion` of each, oldest first.
    pub versions: Vec<String>,
    /// The changes between them. Values that look private are masked.
    pub changes: Vec<FieldChange>,
    /// The position of the version of each change.
    pub rows: Vec<usize>,
    /// The times of the changes, from `managedFields`: `2026-11-22T06:05:08Z`.
    pub times: Vec<Option<String>>,
    /// The fields that managers fight over.
    pub fights: Vec<Fight>,
    /// The fields that came back to an earlier value, where it is not known who wrote.
    pub returning: Vec<ReturningField>,
    /// `true` if a version has owners of fields.
    pub owned: bool,
    /// The error in the `managedFields` of a version.
    pub problem: Option<String>,
    /// The versions in lanes.
    pub lanes: RecordedLanes,
    /// The names of all managers. Their positions choose their colours and patterns.
    pub manager_names: Rc<Vec<String>>,
}

/// An [`ObservedHistory`] in the making: first the changes are found, then they are masked version
/// by version, then the ways out of fights are run.
#[derive(Debug, Default)]
struct PartialHistory {
    reader: ChangeReader,
    problem: Option<String>,
    compared: bool,
    /// The number of changes that are masked. The changes after them are not masked yet.
    masked: usize,
    changes: Vec<FieldChange>,
    times: Vec<Option<String>>,
    /// The last version that was masked, and its position.
    shown: Option<(usize, Value)>,
    /// The fights, once all changes are masked.
    fought: Option<Fought>,
}

/// The fights of a history, while their ways out are run.
#[derive(Debug)]
struct Fought {
    /// The changes as they are.
    changes: Vec<FieldChange>,
    fights: Vec<Fight>,
    run: RemedyRun,
}

impl Fought {
    fn new(found: &[(usize, FieldChange)], versions: &[ObservedVersion]) -> Self {
        let uid = |at: usize| versions.get(at).map(|version| version.object.uid());
        Self {
            fights: fights_of_each(found, uid),
            changes: found.iter().map(|(_, change)| change.clone()).collect(),
            run: RemedyRun::default(),
        }
    }

    fn advance(&mut self, world: &World) -> bool {
        self.run.advance(&mut self.fights, &self.changes, world)
    }
}

impl PartialHistory {
    /// Does the next part. Returns whether there is more.
    fn advance(&mut self, versions: &[ObservedVersion], installed: &Installed) -> bool {
        if let Some(fought) = &mut self.fought {
            return fought.advance(&installed.world);
        }
        if self.compared {
            self.mask_next(versions);
            if self.masked == self.reader.changes.len() {
                self.fought = Some(Fought::new(&self.reader.changes, versions));
            }
            return true;
        }
        match self.reader.advance(versions, &installed.resource().root) {
            Ok(more) => self.compared = !more,
            Err(problem) => {
                self.problem = Some(problem);
                self.reader.changes.clear();
                self.compared = true;
            }
        }
        true
    }

    /// Masks the changes of the next version. Fields are compared as they are, and shown masked.
    fn mask_next(&mut self, versions: &[ObservedVersion]) {
        let Some((at, _)) = self.reader.changes.get(self.masked) else {
            return;
        };
        let at = *at;
        let last = self
            .shown
            .take()
            .filter(|(last, _)| at.checked_sub(1) == Some(*last));
        let show = |at: usize| versions.get(at).map(|version| masked(&version.object));
        let before = last.map(|(_, shown)| shown);
        let before = before.or_else(|| show(at.checked_sub(1)?));
        let after = show(at).unwrap_or_default();
        let version = versions.get(at);
        let managers = version.and_then(|version| Managers::read(&version.object).ok());
        while let Some((_, change)) = self.reader.changes.get(self.masked).filter(|it| it.0 == at) {
            // When the change was made: the time of its manager's entry.
            let entry = change.by.as_ref().zip(managers.as_ref());
            let entry = entry.and_then(|(by, managers)| managers.get(by));
            self.times
                .push(entry.and_then(|entry| Some(entry.time?.to_string())));
            let mut change = change.clone();
            change.after = change.field.find(&after).cloned();
            change.before = before
                .as_ref()
                .and_then(|it| change.field.find(it))
                .cloned();
            self.changes.push(change);
            self.masked += 1;
        }
        self.shown = Some((at, after));
    }

    fn finish(self, versions: &[ObservedVersion]) -> ObservedHistory {
        let found = self.reader.changes;
        let lanes = RecordedLanes::of_versions(versions, &found);
        let managers = manager_names(&lanes, versions.iter().map(|it| &*it.object));
        let rows = found.iter().map(|(row, _)| *row).collect();
        let fought = self.fought.unwrap_or_else(|| Fought::new(&found, versions));
        let entries = |it: &ObservedVersion| it.object.managed_fields().is_some();
        let owned = versions.iter().any(entries);
        let versions = versions.iter().map(|it| it.object.resource_version());
        ObservedHistory {
            versions: versions.map(str::to_owned).collect(),
            changes: self.changes,
            rows,
            times: self.times,
            fights: fought.fights,
            returning: returning_fields(&fought.changes),
            owned,
            problem: self.problem,
            lanes,
            manager_names: managers,
        }
    }
}

impl ObservedHistory {
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
