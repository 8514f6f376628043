//! A preview, an object at a time.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use optimist_apiserver::apply::LAST_APPLIED;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::Resource;
use optimist_client::Preset;
use optimist_simulation::{ObjectRef, World};
use optimist_text::private::Masking;
use serde_json::Value;

use super::cluster::{Cluster, Key, key};
use super::removed::Removal;
use super::row::{self, Earlier, Outcome, PreviewObject, PreviewRow, Trouble};
use super::{Assumed, Preview, PreviewInput, hand_over, order};
use crate::case::Installed;
use crate::ways::{self, ChangeTable, OnOwned, WantedChange, Way, helm_updates, tracked_as};

/// A preview that runs in parts: an object each.
#[derive(Clone, Debug)]
pub struct PreviewRun {
    input: PreviewInput,
    cluster: Cluster,
    /// The objects that manifests name.
    written: Vec<Key>,
    /// The earlier manifests.
    earlier: HashMap<Key, Value>,
    left: VecDeque<Part>,
    rows: Vec<PreviewRow>,
}

/// A part of a preview.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// A manifest, by its position.
    Write(usize),
    /// An object of the cluster that no manifest names, by its position.
    Remove(usize),
}

impl PreviewRun {
    /// Puts what the cluster has on a server. Nothing is written yet.
    pub fn new(mut input: PreviewInput) -> Self {
        let cluster = Cluster::of(&input);
        // The server and the cluster have them now.
        input.live = Vec::new();
        let mut made_up = Vec::new();
        let named = |object: &mut Value, made_up: &mut Vec<Key>| {
            let resource = cluster.server.resources();
            let resource = resource.by_kind(text(object, "apiVersion"), text(object, "kind"));
            let namespaced = resource.is_none_or(|resource| resource.namespaced);
            if namespaced && object.namespace().is_empty() {
                let given = input.namespace.as_deref();
                let (namespace, is_said) = cluster.namespace_of(object, given);
                object.set_meta("namespace", namespace);
                if !is_said {
                    made_up.push(key(object));
                }
            }
        };
        let mut next = std::mem::take(&mut input.next);
        next.iter_mut()
            .for_each(|object| named(object, &mut made_up));
        let mut earlier = input.earlier.clone().unwrap_or_default();
        earlier
            .iter_mut()
            .for_each(|object| named(object, &mut Vec::new()));
        input.next = next;
        let mut run = Self {
            written: input.next.iter().map(key).collect(),
            earlier: earlier
                .into_iter()
                .map(|object| (key(&object), object))
                .collect(),
            left: VecDeque::new(),
            rows: Vec::new(),
            cluster,
            input,
        };
        for key in made_up {
            let namespace = key.2.clone();
            let assumed = run.cluster.assumed.entry(key).or_default();
            assumed.push(Assumed::Namespace { namespace });
        }
        let order = order::of_writes(run.input.tool.preset, &run.input.next);
        run.left.extend(order.into_iter().map(Part::Write));
        let others = run.cluster.objects.iter().enumerate();
        let others = others.filter(|(_, (key, _))| !run.written.contains(key));
        run.left.extend(others.map(|(at, _)| Part::Remove(at)));
        run
    }

    /// How many objects are done, and how many there are.
    pub fn progress(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.len() + self.left.len())
    }

    /// The rows so far, in the order in which the tool writes.
    pub fn rows(&self) -> &[PreviewRow] {
        &self.rows
    }

    /// Does the next object. Whether there is more.
    pub fn advance(&mut self) -> bool {
        let row = match self.left.pop_front() {
            None => return false,
            Some(Part::Write(at)) => self.write(at),
            Some(Part::Remove(at)) => self.remove(at),
        };
        self.rows.push(row);
        !self.left.is_empty()
    }

    /// The preview of what is done.
    pub fn finish(self) -> Preview {
        Preview::counted(self.rows, self.input.tool.after_refusal())
    }

    fn remove(&mut self, at: usize) -> PreviewRow {
        let Some((key, object)) = self.cluster.objects.get(at) else {
            return PreviewRow::new(PreviewObject::of(&Value::Null), Outcome::NotTouched);
        };
        if let Some(why) = self.cluster.failed.get(key) {
            return PreviewRow::not_run(PreviewObject::of(object), why.clone());
        }
        let removal = Removal::of(&self.input, &self.cluster, &self.written);
        let mut row = removal.row(&mut self.cluster.server.clone(), object);
        let own = self.cluster.assumed.get(key).into_iter().flatten();
        if row.outcome != Outcome::NotTouched {
            row.assumed.extend(own.cloned());
        }
        row
    }

    /// A manifest, written by the tool.
    fn write(&mut self, at: usize) -> PreviewRow {
        let manifest = &self.input.next[at];
        let (object, key) = (PreviewObject::of(manifest), &self.written[at]);
        if let Some(why) = self.cluster.failed.get(key) {
            return PreviewRow::not_run(object, why.clone());
        }
        let server = &self.cluster.server;
        let resource = server.resources();
        let resource = resource.by_kind(text(manifest, "apiVersion"), text(manifest, "kind"));
        let Some(resource) = resource.cloned() else {
            let why = format!(
                "The server has no kind {} in {}.",
                object.kind, object.api_version
            );
            return PreviewRow::not_run(object, why);
        };
        let table = self.table(manifest, key, &resource);
        let preset = self.input.tool.preset;
        let on_owned = match self.input.tool.force {
            true => OnOwned::Force,
            false => OnOwned::Usual,
        };
        let way = Way::Client(preset, on_owned);
        let Some((run, after)) = table.row_and_server(way) else {
            let why = "The tool cannot write this object.".to_owned();
            return PreviewRow::not_run(object, why);
        };
        let earlier = self.earlier.get(key).map(|earlier| Earlier {
            manifest: earlier,
            next: manifest,
            resource: &resource,
        });
        let mut row = PreviewRow::of(object, &run, earlier.as_ref());
        row.stuck = row::stuck(&run.before, &resource, server.resources());
        if !row.stuck.is_empty() && !self.is_open(key) {
            row.troubles.push(Trouble::StuckVersions);
            row.troubles.sort();
        } else {
            row.stuck.clear();
        }
        row.assumed = self.assumed(key, &table, way, &run);
        if row.outcome == Outcome::Conflict {
            let mut masking = Masking::shown();
            masking.object(&mut manifest.clone());
            row.hand_overs = hand_over::of(&table, preset, masking.is_empty());
        }
        self.cluster.server = after;
        row
    }

    fn table(&self, manifest: &Value, key: &Key, resource: &Arc<Resource>) -> ChangeTable {
        let tool = &self.input.tool;
        let subject = ObjectRef::new(resource, manifest);
        let installed = Installed {
            world: World::on_server(self.cluster.server.clone(), subject),
            notes: Vec::new(),
        };
        let exists = installed.object().is_some();
        let sibling = self.cluster.sibling(tool.preset, &self.written);
        let manifest = match sibling.filter(|_| !exists) {
            Some(sibling) => tracked_as(tool.preset, manifest.clone(), sibling),
            None => manifest.clone(),
        };
        let change = WantedChange {
            manager: tool.manager.clone(),
            previous: self.earlier.get(key).cloned(),
            last_release: tool.last_release.unwrap_or_default(),
            ..WantedChange::manifest(manifest)
        };
        ChangeTable::new(&installed, change)
    }

    /// Whether the definition of the kind was not brought.
    fn is_open(&self, key: &Key) -> bool {
        let assumed = self.cluster.assumed.get(key).into_iter().flatten();
        let mut assumed = assumed.filter(|it| **it == Assumed::NoDefinition);
        assumed.next().is_some()
    }

    fn assumed(&self, key: &Key, table: &ChangeTable, way: Way, run: &ways::Row) -> Vec<Assumed> {
        let tool = &self.input.tool;
        let mut all: Vec<Assumed> = self.cluster.assumed.get(key).cloned().unwrap_or_default();
        if self.cluster.namespaces.contains(&key.2) {
            let namespace = key.2.clone();
            all.push(Assumed::NamespaceExists { namespace });
        }
        all.extend(table.assumptions(way).into_iter().map(Assumed::from));
        let exists = !run.before.is_null();
        let helm = tool.preset == Preset::Helm4 && exists;
        let unsaid = tool.last_release.is_none();
        if helm && unsaid && helm_updates(&run.before) {
            all.push(Assumed::ClientSideRelease);
        }
        let annotations = run
            .before
            .metadata()
            .and_then(|meta| meta.get("annotations"));
        let has_last = annotations.is_some_and(|all| all.get(LAST_APPLIED).is_some());
        let in_the_client = matches!(tool.preset, Preset::KubectlApply | Preset::ArgoCdClientSide);
        if in_the_client && exists && !has_last {
            all.push(Assumed::NoLastApplied);
        }
        if run.values_not_checked && !all.contains(&Assumed::ValuesNotChecked) {
            all.push(Assumed::ValuesNotChecked);
        }
        all.dedup();
        all
    }
}
