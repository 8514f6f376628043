//! The manifests of an input beside an error message: which one is the refused write, and why the others are not.

use super::{GivenParts, Scene, path};
use crate::case::{Case, ObjectId};
use crate::message::{PrintedError, ReportedError};

/// A manifest of the input that is not the refused write of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnusedManifest {
    /// There are manifests of several objects, and the message does not say which one it is about.
    OfSeveral(ObjectId),
    /// It is of another object than the message is about.
    OtherObject(ObjectId),
    /// A later manifest of the object is the refused write. This one counts as the write before it.
    Earlier(ObjectId),
    /// It does not have this field, which the message names.
    WithoutField(ObjectId, String),
}

/// The manifests of an input, as a message takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageManifests {
    /// The parts of the refused write, with the manifest if there is one.
    pub given: GivenParts,
    /// The other manifests. Of an object with several, the last two count.
    pub unused: Vec<UnusedManifest>,
}

impl MessageManifests {
    /// Adds the manifest of the refused write to the parts that a person has given. The cases have no live object.
    pub fn of_cases<'a>(
        error: &ReportedError,
        given: &GivenParts,
        cases: impl IntoIterator<Item = &'a Case>,
    ) -> Self {
        if !matches!(error.error, PrintedError::Apply(_)) {
            // No other message is about the fields of a manifest.
            let cases = cases.into_iter().filter(|case| case.errors.contains(error));
            let about: Vec<&Case> = cases.filter(|case| case.manifest.is_some()).collect();
            return Self {
                given: Self::with_manifest(given, &about),
                unused: Vec::new(),
            };
        }
        let with_manifest = cases.into_iter().filter(|case| case.manifest.is_some());
        let (about, others): (Vec<&Case>, Vec<&Case>) =
            with_manifest.partition(|case| case.errors.contains(error));
        let others = others.into_iter().map(|case| case.id.clone());
        let mut unused: Vec<UnusedManifest> = others.map(UnusedManifest::OtherObject).collect();
        match &about[..] {
            [case] => {
                let earlier = case.previous_manifest.as_ref();
                unused.extend(earlier.map(|_| UnusedManifest::Earlier(case.id.clone())));
            }
            several => {
                let several = several.iter().map(|case| case.id.clone());
                unused.extend(several.map(UnusedManifest::OfSeveral));
            }
        }
        Self {
            given: Self::with_manifest(given, &about),
            unused,
        }
    }

    /// The parts with the manifests of the one object that a message can be about.
    fn with_manifest(given: &GivenParts, about: &[&Case]) -> GivenParts {
        let [case] = about else {
            return given.clone();
        };
        let given = given.clone();
        let given = match &case.manifest {
            Some(manifest) => given.or_of_manifest(manifest),
            None => given,
        };
        GivenParts {
            previous_manifest: case.previous_manifest.clone(),
            ..given
        }
    }

    /// Looks at the scene that was made: its refused write may send none of the manifests.
    pub fn tried_in(&mut self, scene: &Scene, error: &ReportedError) {
        if !scene.has_manifest() {
            let is_other = |it: &UnusedManifest| !matches!(it, UnusedManifest::Earlier(_));
            self.unused.retain(is_other);
        }
        self.unused
            .extend(scene.unused_manifest(error, &self.given));
    }
}

impl Scene {
    /// Returns why the manifest that was given is not the refused write. `None` if it is, or no error about fields
    /// tells.
    fn unused_manifest(&self, error: &ReportedError, given: &GivenParts) -> Option<UnusedManifest> {
        let manifest = given.manifest.as_ref().filter(|_| !self.has_manifest())?;
        let PrintedError::Apply(conflicts) = &error.error else {
            return None;
        };
        let root = &self.installed.resource().root;
        let mut fields = conflicts.iter().flat_map(|conflict| &conflict.fields);
        let missing = fields.find(|field| {
            let path = path::parse(field, Some(root));
            path.is_none_or(|path| path.find(manifest).is_none())
        })?;
        let id = ObjectId::from_object(manifest);
        Some(UnusedManifest::WithoutField(id, missing.clone()))
    }
}
