//! A preview, an object at a time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{Resource, Resources};
use optimist_client::Preset;
use optimist_simulation::{ObjectRef, World};
use serde_json::Value;

use super::cluster::{Cluster, Key, key};
use super::kind_lookup::{self, KindLookup};
use super::refusal::Delivery;
use super::release::{self, KnownRelease};
use super::removed::Removal;
use super::row::{PreviewObject, PreviewOutcome, PreviewRow};
use super::sync_options::{SyncOptions, keep_last};
use super::sync_wave::SyncWave;
use super::unnamed::{self, Treatment, is_unnamed};
use super::written_manifest::WrittenManifest;
use super::{AfterRefusal, Assumed, Hook, Preview, PreviewInput, order, sync_wave};
use crate::case::{Installed, MadeUpIdentity, ObjectId};
use crate::ways::{
    ChangeTable, DeliveredBy, OnOwned, ReleaseMethod, RowProgress, WantedChange, Way,
    helm_applied_last, is_of_release, tracked_as, tracking,
};

/// A preview that runs in parts: an object each. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PreviewRun {
    /// Without the objects of the cluster.
    input: Arc<PreviewInput>,
    cluster: Cluster,
    /// The objects of the cluster that a server can store, until it has them.
    fitted: Vec<Arc<Value>>,
    written: Arc<Written>,
    left: VecDeque<PreviewPart>,
    /// The kinds that the server has before the first write.
    kinds: Resources,
    /// `true` if the tool did not find the kind of an object before the first write.
    kind_not_found: bool,
    /// The number of rows that there will be.
    expected: usize,
    rows: Vec<PreviewRow>,
}

/// The objects that manifests name.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// In the order of the manifests.
    pub(super) order: Vec<Key>,
    keys: HashSet<Key>,
    /// The sync waves of Argo CD, by the positions of the manifests.
    waves: Vec<(usize, SyncWave)>,
    /// The earlier manifests.
    pub(super) earlier: HashMap<Key, Value>,
    /// The rules for the other objects. `None` until all are on the server.
    removal: Option<Removal>,
}

/// A part of a preview.
#[derive(Clone, Debug)]
enum PreviewPart {
    /// An object of the cluster is made such that a server can store it.
    Fit(Arc<Value>),
    /// All of them are known.
    InOrder,
    /// An object gets onto the server.
    Install(Arc<Value>),
    /// The server has all of them.
    Begin,
    /// A manifest, by its position.
    Write(usize),
    /// An object of the cluster that no manifest names, by its position.
    Remove(usize),
}

impl PreviewRun {
    /// A preview of which nothing is done yet.
    pub fn new(mut input: PreviewInput) -> Self {
        let cluster = Cluster::new(&input);
        let prune = input.tool.prune.clone();
        input.next.retain(|manifest| prune.writes(manifest));
        let written: HashSet<Key> = input.next.iter().map(key).collect();
        let live = std::mem::take(&mut input.live);
        let others = live.iter().filter(|object| !written.contains(&key(object)));
        let expected = written.len() + others.count();
        let fit = live
            .into_iter()
            .map(|object| PreviewPart::Fit(Arc::new(object)));
        Self {
            left: fit.chain([PreviewPart::InOrder]).collect(),
            input: Arc::new(input),
            kinds: cluster.server.resources().clone(),
            kind_not_found: false,
            cluster,
            fitted: Vec::new(),
            written: Arc::default(),
            expected,
            rows: Vec::new(),
        }
    }

    /// Names the manifests as the tool does, and orders the writes.
    fn prepare(&mut self) {
        self.kinds = self.cluster.server.resources().clone();
        let input = Arc::make_mut(&mut self.input);
        let mut made_up = Vec::new();
        for manifest in &mut input.next {
            let given = input.namespace.as_deref();
            made_up.extend(named(&self.cluster, manifest, given).map(|it| (key(manifest), it)));
            input.tool.prune.label(manifest);
        }
        if input.tool.preset.is_argo_cd() {
            keep_last(&mut input.next);
        }
        let mut earlier = HashMap::new();
        for mut manifest in input.earlier.clone().unwrap_or_default() {
            named(&self.cluster, &mut manifest, input.namespace.as_deref());
            earlier.insert(key(&manifest), manifest);
        }
        self.cluster.make_namespaces(input);
        for (key, namespace) in made_up {
            let assumed = self.cluster.assumed.entry(key).or_default();
            assumed.push(Assumed::Namespace { namespace });
        }
        let order: Vec<Key> = input.next.iter().map(key).collect();
        let keys: HashSet<Key> = order.iter().cloned().collect();
        let removal = Removal::read(input, &self.cluster, &keys);
        let waves = match input.tool.preset.is_argo_cd() {
            true => sync_wave::of_manifests(&input.next, input.namespace.as_deref()),
            false => Vec::new(),
        };
        let writes = order::of_writes(input.tool.preset, &input.next, &waves);
        self.left.extend(writes.into_iter().map(PreviewPart::Write));
        let others = self.cluster.objects.iter().enumerate();
        let others = others.filter(|(_, (key, _))| !keys.contains(key));
        self.left
            .extend(others.map(|(at, _)| PreviewPart::Remove(at)));
        self.expected = self.left.len();
        self.written = Arc::new(Written {
            order,
            keys,
            waves,
            earlier,
            removal: Some(removal),
        });
    }

    /// Returns the number of objects that are done, and the number of all.
    pub fn progress(&self) -> (usize, usize) {
        (self.rows.len(), self.expected)
    }

    /// The rows so far, in the order in which the tool writes.
    pub fn rows(&self) -> &[PreviewRow] {
        &self.rows
    }

    /// Does the next part. Returns whether there is more.
    pub fn advance(&mut self) -> bool {
        match self.next_part() {
            NextPart::Nothing => return false,
            NextPart::Prepared => {}
            NextPart::Row(row) => self.rows.push(*row),
            NextPart::Written(written) => self.rows.push(written.row()),
        }
        !self.left.is_empty()
    }

    /// Does the part of it that later parts need.
    pub(super) fn next_part(&mut self) -> NextPart {
        match self.left.pop_front() {
            None => return NextPart::Nothing,
            Some(PreviewPart::Fit(object)) => {
                let fitted = self.cluster.fitted(&object);
                self.fitted.extend(fitted.map(Arc::new));
            }
            Some(PreviewPart::InOrder) => {
                let fitted = std::mem::take(&mut self.fitted);
                let ready = self.cluster.in_order(fitted, &self.input.next);
                self.left
                    .extend(ready.into_iter().map(PreviewPart::Install));
                self.left.push_back(PreviewPart::Begin);
            }
            Some(PreviewPart::Install(object)) => self.cluster.install(object),
            Some(PreviewPart::Begin) => self.prepare(),
            Some(PreviewPart::Write(at)) => return self.write(at),
            Some(PreviewPart::Remove(at)) => return NextPart::row(self.remove(at)),
        }
        NextPart::Prepared
    }

    /// Returns the preview with rows that were made elsewhere, each with its position.
    pub(super) fn finish_with(mut self, mut rows: Vec<(usize, PreviewRow)>) -> Preview {
        rows.sort_by_key(|(at, _)| *at);
        self.rows = rows.into_iter().map(|(_, row)| row).collect();
        self.finish()
    }

    /// Returns whether Helm has a release before this write; `None` if nothing says it.
    fn knows_release(&self) -> Option<bool> {
        let removal = self.written.removal.as_ref()?;
        removal.knows_release(&self.input)
    }

    /// Returns the preview of the parts that are done.
    pub fn finish(self) -> Preview {
        let release = self.knows_release();
        let mut rows = self.rows;
        tell_parent(&mut rows, &self.input, &self.cluster);
        let tool = &self.input.tool;
        let by_tool = |unnamed: bool| {
            let mut refused = rows.iter().filter(|row| row.is_refused_by_tool());
            refused.any(|row| row.object.id().is_generated() == unnamed)
        };
        let of_unnamed = unnamed::after_refusal(tool.preset).filter(|_| by_tool(true));
        let after = match of_unnamed {
            Some(after) => after,
            None if self.kind_not_found && !tool.preset.is_kubectl() => AfterRefusal::ReadsAllFirst,
            None if tool.preset.is_helm() && by_tool(false) => AfterRefusal::ChecksFirst,
            // `helm.sh/helm/v4/pkg/kube/client.go perform`, v4.2: it tries to create all.
            None if tool.preset.is_helm() && release != Some(true) => AfterRefusal::GoesOn,
            None => tool.after_refusal(),
        };
        if let Some(removal) = &self.written.removal {
            let manifests = self.written.order.iter().zip(&self.input.next);
            let objects = self.cluster.objects.iter();
            let waves = self.written.waves.iter();
            let delivery = Delivery {
                after,
                waves: waves
                    .filter_map(|(at, wave)| Some((self.written.order.get(*at)?, *wave)))
                    .collect(),
                manifests: manifests.collect(),
                objects: objects.map(|(key, object)| (key, &**object)).collect(),
                removal,
            };
            delivery.keep_unreached(&mut rows);
            delivery.tell_stop(&mut rows);
        }
        Preview::counted(rows, after)
    }

    fn remove(&mut self, at: usize) -> PreviewRow {
        let Some((key, object)) = self.cluster.objects.get(at) else {
            return PreviewRow::new(
                PreviewObject::from_manifest(&Value::Null),
                PreviewOutcome::NotTouched,
            );
        };
        if let Some(why) = self.cluster.failed.get(key) {
            return PreviewRow::not_run(PreviewObject::from_manifest(object), why.clone());
        }
        let Some(removal) = &self.written.removal else {
            return PreviewRow::new(
                PreviewObject::from_manifest(object),
                PreviewOutcome::NotTouched,
            );
        };
        let mut row = removal.row(&mut self.cluster.server.clone(), object);
        let own = self.cluster.assumed.get(key).into_iter().flatten();
        if row.outcome != PreviewOutcome::NotTouched {
            row.assumed.extend(own.cloned());
        }
        let id = row.object.id();
        if self.input.left_out.iter().any(|it| it.may_be(&id)) {
            row.assumed.push(Assumed::LeftOut);
        }
        row
    }

    /// A manifest, written by the tool.
    fn write(&mut self, at: usize) -> NextPart {
        let manifest = &self.input.next[at];
        let (object, key) = (
            PreviewObject::from_manifest(manifest),
            &self.written.order[at],
        );
        if let Some(why) = self.cluster.failed.get(key) {
            return NextPart::row(PreviewRow::not_run(object, why.clone()));
        }
        let server = &self.cluster.server;
        let resource = server.resources();
        let resource = resource.by_kind(text(manifest, "apiVersion"), text(manifest, "kind"));
        let Some(resource) = resource.cloned() else {
            let why = format!(
                "The server has no kind {} in {}.",
                object.kind, object.api_version
            );
            return NextPart::row(PreviewRow::not_run(object, why));
        };
        let options = SyncOptions::read(self.input.tool.preset, manifest, self.cluster.object(key));
        if let Some(row) = self.row_without_apply(at, &resource, options) {
            return NextPart::row(row);
        }
        let (manifest, key) = (&self.input.next[at], &self.written.order[at]);
        let table = self.table(manifest, key, &resource);
        // Argo CD applies server-side always with `--force-conflicts`, and without `--force`.
        let has_option = !options.preset.always_forces() || options.preset == Preset::Flux;
        let on_owned = match has_option && self.input.tool.force {
            true => OnOwned::Force,
            false => OnOwned::Usual,
        };
        let way = Way::Client(options.preset, on_owned);
        let RowProgress::More(row) = table.advance(table.begin_row(way)) else {
            let why = "The tool cannot write this object.".to_owned();
            return NextPart::row(PreviewRow::not_run(object, why));
        };
        self.cluster.server = row.server().clone();
        NextPart::Written(Box::new(WrittenManifest {
            at,
            input: Arc::clone(&self.input),
            written: Arc::clone(&self.written),
            resource,
            table,
            preset: options.preset,
            row: *row,
            assumed: self.cluster.assumed.get(key).cloned().unwrap_or_default(),
            namespace_is_assumed: self.cluster.namespaces.contains(&key.2),
        }))
    }

    /// Makes the row of a manifest that the tool does not apply.
    fn row_without_apply(
        &mut self,
        at: usize,
        resource: &Resource,
        options: SyncOptions,
    ) -> Option<PreviewRow> {
        let (manifest, key) = (&self.input.next[at], &self.written.order[at]);
        let (object, preset) = (
            PreviewObject::from_manifest(manifest),
            self.input.tool.preset,
        );
        let release = self.knows_release();
        if let Some(hook) = Hook::read(&self.input.tool, manifest, release) {
            return Some(PreviewRow::of_hook(object, hook));
        }
        let kind = self.kinds.by_kind(&object.api_version, &object.kind);
        let lookup = kind.is_none().then(|| KindLookup::read(preset, release));
        if let Some(KindLookup::Refuses) = lookup {
            self.kind_not_found = true;
            return Some(kind_lookup::not_found(preset, object));
        }
        if let Some(assumed) = lookup.and_then(|lookup| lookup.assumed()) {
            let all = self.cluster.assumed.entry(key.clone()).or_default();
            all.push(assumed);
        }
        if options.replace && self.cluster.object(key).is_some() {
            let why = "Argo CD replaces this object (Replace=true). That is not run here.";
            return Some(PreviewRow::not_run(object, why.to_owned()));
        }
        let is_named = !is_unnamed(manifest);
        if preset.is_helm() && is_named && self.is_created_before(at) {
            let by = (preset, release == Some(true));
            return Some(PreviewRow::created_twice(object, resource, by));
        }
        if options.replace || !is_named {
            let treatment = Treatment::read(preset, manifest, release);
            let on = (&mut self.cluster.server, resource);
            let mut row = treatment.row(object, manifest, preset, on);
            if !row.outcome.is_refusal() {
                row.assumed
                    .extend(self.cluster.assumed.get(key).into_iter().flatten().cloned());
            }
            return Some(row);
        }
        if self.is_outside_of_state(key) {
            return Some(PreviewRow::exists_already(object));
        }
        let (stored, release) = self.outside_of_release(key)?;
        Some(release::not_of_release(object, stored, &release))
    }

    /// Returns whether an earlier manifest created the object of this one.
    fn is_created_before(&self, at: usize) -> bool {
        let key = &self.written.order[at];
        self.cluster.object(key).is_none() && self.written.order[..at].contains(key)
    }

    /// Returns whether Terraform would have to create an object that exists: its state does not have the object.
    fn is_outside_of_state(&self, key: &Key) -> bool {
        let exists = || self.cluster.object(key).is_some();
        self.input.tool.preset == Preset::Terraform
            && self.input.earlier.is_some()
            && !self.written.earlier.contains_key(key)
            && exists()
    }

    /// Returns the object that Helm would have to create and that exists, with the release: the last release does not
    /// have the object, and its labels and annotations do not name the release. `None` if Helm writes it.
    fn outside_of_release(&self, key: &Key) -> Option<(&Value, KnownRelease)> {
        let earlier = &self.written.earlier;
        let known = self.input.earlier.is_some() && self.input.tool.preset.is_helm();
        if !known || earlier.contains_key(key) {
            return None;
        }
        let mut own = self.cluster.objects.iter();
        let release = own.find_map(|(it, object)| {
            let delivered = DeliveredBy::from_objects(&[object]);
            delivered.release.filter(|_| earlier.contains_key(it))
        });
        let mut objects = self.cluster.objects.iter();
        let (_, stored) =
            objects.find(|(it, object)| it == key && !is_of_release(object, release.as_ref()))?;
        let (name, namespace) = release.unzip();
        let release = KnownRelease {
            name,
            namespace: namespace.or_else(|| self.input.namespace.clone()),
        };
        Some((stored, release))
    }

    fn table(&self, manifest: &Value, key: &Key, resource: &Arc<Resource>) -> ChangeTable {
        let tool = &self.input.tool;
        let subject = ObjectRef::new(resource, manifest);
        let installed = Installed {
            world: World::on_server(self.cluster.server.clone(), subject),
            notes: Vec::new(),
            made_up: MadeUpIdentity::default(),
        };
        let live = installed.object();
        // What the tool adds to one object shows what it adds to all.
        let is_known = live.is_some_and(|live| tracking::is_known(tool.preset, manifest, live));
        let sibling = self.cluster.sibling(tool.preset, &self.written.keys);
        let manifest = match sibling.filter(|_| !is_known) {
            Some(sibling) => tracked_as(tool.preset, manifest.clone(), sibling),
            None => manifest.clone(),
        };
        let change = WantedChange {
            manager: tool.manager.clone(),
            previous: self.written.earlier.get(key).cloned(),
            last_release: tool.last_release.unwrap_or_else(|| match live {
                Some(live) if helm_applied_last(live) => ReleaseMethod::ServerSide,
                _ => ReleaseMethod::default(),
            }),
            ..WantedChange::manifest(manifest)
        };
        ChangeTable::new(&installed, change)
    }
}

/// Says what kubectl notes in the parent of its ApplySet.
fn tell_parent(rows: &mut [PreviewRow], input: &PreviewInput, cluster: &Cluster) {
    let refused = rows.iter().any(|row| row.outcome.is_refusal());
    let mut objects = cluster.objects.iter();
    let parent = objects.find_map(|(_, object)| {
        let prune = &input.tool.prune;
        prune.of_parent(object, &input.next, refused)
    });
    let Some(parent) = parent else {
        return;
    };
    let is_left = |row: &&mut PreviewRow| row.outcome == PreviewOutcome::NotTouched;
    let mut left = rows.iter_mut().filter(is_left);
    if let Some(row) = left.find(|row| row.object == parent.object) {
        *row = parent;
    }
}

/// The next part of a preview.
pub(super) enum NextPart {
    /// Nothing is left.
    Nothing,
    /// A part is done that makes no row.
    Prepared,
    /// A row is done.
    Row(Box<PreviewRow>),
    /// The tool wrote a manifest. The next writes do not need its row.
    Written(Box<WrittenManifest>),
}

impl NextPart {
    fn row(row: PreviewRow) -> Self {
        Self::Row(Box::new(row))
    }
}

/// Gives a manifest its namespace. The namespace, if nothing says it.
fn named(cluster: &Cluster, manifest: &mut Value, given: Option<&str>) -> Option<String> {
    let resources = cluster.server.resources();
    let resource = resources.by_kind(text(manifest, "apiVersion"), text(manifest, "kind"));
    // A kind has the same scope in all versions.
    let other_version = || {
        let id = ObjectId::from_object(manifest);
        let is_same =
            |it: &&Arc<Resource>| it.kind == id.kind && it.group_version.group == id.group;
        resources.iter().find(is_same)
    };
    let resource = resource.or_else(other_version);
    let namespaced = resource.is_none_or(|resource| resource.namespaced);
    if !namespaced || !manifest.namespace().is_empty() {
        return None;
    }
    let (namespace, is_said) = cluster.namespace_of(manifest, given);
    manifest.set_meta("namespace", namespace.clone());
    (!is_said).then_some(namespace)
}
