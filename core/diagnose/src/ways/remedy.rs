//! Ways out of a conflict of an apply: each is run, with its effects on the object and its owners.

use std::collections::VecDeque;
use std::sync::Arc;

use optimist_apiserver::apply::{
    ManagedFieldsOperation, Manager, Managers, Owned, Path, covers, from_fields_v1, to_fields_v1,
};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{Fact, Resource};
use optimist_client::{
    Agent, CLIENT_SIDE, Preset, SingleRequest, Tool, client_side_managers, last_applied,
    upgrade_patch,
};
use serde_json::{Value, json};

use super::manifest;
use super::row::{self, PartialRow, Row, RowProgress};
use super::server_words::in_server_words;
use super::{ChangeTable, FieldEffect, FieldOutcome, OnOwned, RunningClient, Way, read};

/// A way out of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemedyKind {
    /// The writer takes the fields over.
    Force,
    /// The writer leaves the fields out of its manifest.
    LeaveOut,
    /// The writer writes the values that the object has, and owns them together with the others.
    Agree,
    /// The writer agrees first, then the others give the fields up, then the writer writes its own
    /// values. An applier gives up by applying without the fields. For any other manager the fields
    /// are taken out of its entry in `managedFields`.
    Transfer,
    /// The entries of client-side apply become the writer's, then it applies
    /// (`k8s.io/client-go/util/csaupgrade`).
    Migrate,
}

/// A way out that was run.
#[derive(Clone, Debug)]
pub struct Remedy {
    /// The kind of the way out.
    pub kind: RemedyKind,
    /// The write and its effects on the object. [`Row::requests`] has every request, also those that the other
    /// managers send.
    pub row: Row,
    /// The manifest that the writer has from now on.
    pub manifest: Value,
    /// `true` if it settles the conflict: all was accepted, the manifest applied once more changes nothing, no
    /// other manager is known to write the fields again, and the fields that others keep are still there. A
    /// writer that agrees on a value with a manager that runs all the time gets the conflict again with its
    /// next value.
    pub settles: bool,
    /// `true` if the fields in conflict keep their values, and each still has an owner beside the apply of
    /// the writer. kubectl makes the entry of client-side apply its own, so that no other is left.
    pub others_own: bool,
    /// `true` if a client-side `kubectl apply` had set a value that the way out changes. It meets no conflict: if
    /// somebody runs it again with its old manifest, it writes its value back.
    pub client_side_may_write: bool,
}

/// Returns whether a client-side `kubectl apply` had set a value that is another one after a row, or gone, and its
/// manifest has another one than the object has now: the manifest of the annotation. Of a manifest that is not known,
/// any changed value counts.
fn client_side_may_write(row: &Row, resource: &Resource) -> bool {
    let old = last_applied(&row.before);
    let is_known = old.as_object().is_some_and(|it| !it.is_empty());
    let old = is_known.then(|| in_server_words(&old, resource));
    let is_client_side = |manager: &Manager| {
        manager.name == CLIENT_SIDE && manager.operation == ManagedFieldsOperation::Update
    };
    let writes = |field: &FieldOutcome| match &old {
        None => true,
        Some(old) => field.field.find(old).is_some_and(|old| {
            let after = field.after.as_ref();
            !after.is_some_and(|after| covers(after, old, &field.field, &resource.root))
        }),
    };
    let changed = [
        FieldEffect::TakenOver,
        FieldEffect::Changed,
        FieldEffect::Removed,
    ];
    let mut fields = row.fields.iter();
    fields.any(|field| {
        changed.contains(&field.effect)
            && field.owners_before.iter().any(is_client_side)
            && writes(field)
    })
}

impl ChangeTable {
    /// The ways out of a conflict that a client gets when it applies; empty if it gets none. Flux and
    /// Argo CD always apply with force, so they get none.
    pub fn remedies(&self, preset: Preset) -> Vec<Remedy> {
        let mut partial = self.begin_ways_out(preset);
        while self.advance_ways_out(&mut partial) {}
        partial.outs
    }

    /// These ways out of a conflict that a row met.
    pub fn ways_out_of(&self, refused: &Row, kinds: &[RemedyKind]) -> Vec<Remedy> {
        let mut partial = PartialWaysOut {
            outs: Vec::new(),
            conflict: RemedyConflict::find(self, refused),
            left: kinds.iter().copied().collect(),
            row: None,
        };
        while self.advance_ways_out(&mut partial) {}
        partial.outs
    }

    /// The ways out, to be run in parts with [`advance_ways_out`](Self::advance_ways_out).
    pub fn begin_ways_out(&self, preset: Preset) -> PartialWaysOut {
        let way = Way::Client(preset, OnOwned::Usual);
        PartialWaysOut {
            outs: Vec::new(),
            conflict: None,
            left: VecDeque::new(),
            row: Some(self.begin_row(way)),
        }
    }

    /// Runs the next part of the ways out. Returns whether there is more.
    pub fn advance_ways_out(&self, partial: &mut PartialWaysOut) -> bool {
        let row = partial.row.take();
        match (&partial.conflict, row) {
            (None, None) => return false,
            (None, Some(row)) => match self.advance(row) {
                RowProgress::More(row) => partial.row = Some(*row),
                RowProgress::Done(refused) => {
                    partial.conflict =
                        refused.and_then(|refused| RemedyConflict::find(self, &refused));
                    partial.left = KINDS.into();
                    return partial.conflict.is_some();
                }
            },
            (Some(conflict), row) => {
                let Some(kind) = partial.left.front().copied() else {
                    return false;
                };
                match conflict.advance(self, kind, row) {
                    RowProgress::More(row) => partial.row = Some(*row),
                    RowProgress::Done(row) => {
                        let out =
                            row.map(|row| conflict.out(kind, *row, self.subject().resource()));
                        partial.outs.extend(out);
                        partial.left.pop_front();
                    }
                }
            }
        }
        true
    }
}

/// In the order of a page.
const KINDS: [RemedyKind; 5] = [
    RemedyKind::LeaveOut,
    RemedyKind::Agree,
    RemedyKind::Transfer,
    RemedyKind::Migrate,
    RemedyKind::Force,
];

/// Ways out of a conflict that are run in parts.
#[derive(Clone, Debug)]
pub struct PartialWaysOut {
    /// Those that are done.
    pub outs: Vec<Remedy>,
    /// The conflict, once the apply was refused.
    conflict: Option<RemedyConflict>,
    left: VecDeque<RemedyKind>,
    /// The row that is run: the apply first, then the first one of those that are left.
    row: Option<PartialRow>,
}

/// The fields that the server named when it refused.
fn conflicts(row: &Row) -> Vec<String> {
    let facts = row.requests.last().into_iter().flat_map(|it| &it.facts);
    let owned = facts.filter_map(|fact| match fact {
        Fact::OwnedByOther { field, .. } => Some(field.clone()),
        _ => None,
    });
    owned.collect()
}

#[derive(Clone, Debug)]
struct RemedyConflict {
    preset: Preset,
    /// The object before.
    live: Arc<Value>,
    /// The manifest that was refused.
    sent: Value,
    writer: String,
    fields: Vec<Path>,
}

impl RemedyConflict {
    /// The conflict of an apply; `None` if it met none.
    fn find(table: &ChangeTable, refused: &Row) -> Option<Self> {
        let Way::Client(preset, _) = refused.way else {
            return None;
        };
        let conflicts = conflicts(refused);
        let sent = refused.requests.last()?;
        table.remember_refused(preset, refused);
        (!conflicts.is_empty()).then(|| Self {
            preset,
            live: Arc::clone(&refused.before),
            sent: (*sent.sent).clone(),
            writer: refused.writer.clone(),
            fields: manifest::printed(&sent.sent, &conflicts, table.subject().resource()),
        })
    }

    /// The manifest that the writer has from now on.
    fn manifest(&self, kind: RemedyKind) -> Value {
        match kind {
            RemedyKind::LeaveOut => manifest::without(&self.sent, &self.fields),
            RemedyKind::Agree => self.agreed(&self.live),
            _ => self.sent.clone(),
        }
    }

    /// Runs the next part of a way out; the first one if it has no row yet.
    fn advance(
        &self,
        table: &ChangeTable,
        kind: RemedyKind,
        row: Option<PartialRow>,
    ) -> RowProgress {
        let on_owned = match kind {
            RemedyKind::Force => OnOwned::Force,
            RemedyKind::LeaveOut => OnOwned::LeaveOut,
            _ => OnOwned::Usual,
        };
        if row.is_none() && kind == RemedyKind::Migrate && self.migration(&self.live).is_none() {
            return RowProgress::Done(None);
        }
        let row = row.unwrap_or_else(|| table.begin_row(Way::Client(self.preset, on_owned)));
        let manifest = self.manifest(kind);
        let procedure = |client: &mut RunningClient<'_>| {
            match kind {
                RemedyKind::Transfer => {
                    if !self.apply(client, &self.agreed(&self.live), false) {
                        return Some(());
                    }
                    if !self.others_give_up(client) {
                        return Some(());
                    }
                }
                RemedyKind::Migrate => {
                    let patch = self.migration(&client.live)?;
                    if !self.patch(client, patch) {
                        return Some(());
                    }
                }
                _ => {}
            }
            self.apply(client, &manifest, kind == RemedyKind::Force);
            Some(())
        };
        let second = |client: &mut RunningClient<'_>| {
            self.apply(client, &manifest, false);
            Some(())
        };
        row.advance(table, &procedure, Some(&second))
    }

    fn out(&self, kind: RemedyKind, mut row: Row, resource: &Resource) -> Remedy {
        if kind == RemedyKind::Transfer {
            // An applier that applied without the fields does not write them again. A manager whose
            // entry was edited knows nothing of it.
            let updates =
                |it: &row::TakenBack| it.manager.operation != ManagedFieldsOperation::Apply;
            row.taken_back.retain(updates);
        }
        let again = row.second_run.as_ref();
        let settles = again.is_some_and(|again| again.code == Some(200) && !again.changes)
            && row.taken_back.is_empty()
            && !(kind == RemedyKind::LeaveOut && self.lets_go(&row))
            && !(kind == RemedyKind::Agree && self.others_may_write(&row.before));
        Remedy {
            kind,
            others_own: self.others_own(&row),
            client_side_may_write: client_side_may_write(&row, resource),
            row,
            manifest: self.manifest(kind),
            settles,
        }
    }

    fn others_own(&self, row: &Row) -> bool {
        let after = managers(&row.after);
        let is_own = |owned: &Owned| {
            owned.manager.name == self.writer
                && owned.manager.operation == ManagedFieldsOperation::Apply
        };
        self.fields.iter().all(|field| {
            let mut others = after.iter().filter(|owned| !is_own(owned));
            field.find(&row.before) == field.find(&row.after)
                && others.any(|owned| owned.set.contains(field))
        })
    }

    /// Returns whether fields of the conflict lose their value or all their owners. kubectl makes the entry of
    /// client-side apply its own, and fields that its manifest does not have go.
    fn lets_go(&self, row: &Row) -> bool {
        let after = managers(&row.after);
        self.fields.iter().any(|field| {
            field.find(&row.before) != field.find(&row.after)
                || !after.iter().any(|owned| owned.set.contains(field))
        })
    }

    /// Returns whether another owner of the fields runs all the time. With its next value, the manifest that
    /// agrees now has a conflict again.
    fn others_may_write(&self, live: &Value) -> bool {
        managers(live).iter().any(|owned| {
            owned.manager.name != self.writer
                && !row::writes_on_command(&owned.manager.name)
                && self.fields.iter().any(|field| owned.set.contains(field))
        })
    }

    /// The manifest with the values of the object where they conflict.
    fn agreed(&self, live: &Value) -> Value {
        let mut agreed = self.sent.clone();
        for field in &self.fields {
            match field.find(live) {
                Some(value) => field.put(&mut agreed, value.clone()),
                None => field.remove(&mut agreed),
            }
        }
        agreed
    }

    /// Lets the writer apply a manifest, with its tool's requests before and after.
    fn apply(&self, client: &mut RunningClient<'_>, manifest: &Value, force: bool) -> bool {
        let on_owned = match force {
            true => OnOwned::Force,
            false => OnOwned::Usual,
        };
        let plan = client.plan(Way::Client(self.preset, on_owned));
        let live = read(client.server, client.subject);
        let fields = manifest.clone();
        client.process(Tool::with_fields(plan, live, fields, &self.writer))
    }

    /// A JSON patch of the whole object, by the writer.
    fn patch(&self, client: &mut RunningClient<'_>, patch: Value) -> bool {
        let agent = Agent {
            is_strict: self.preset.validates_strictly(),
            ..Agent::named(client.subject, &self.writer)
        };
        client.process(SingleRequest::json_patch(agent, patch))
    }

    /// The patch that makes the entries of client-side apply the writer's.
    fn migration(&self, live: &Value) -> Option<Value> {
        let mut former = client_side_managers(live);
        // kubectl's client-side manager without its annotation is one all the same.
        let owns = managers(live)
            .iter()
            .any(|owned| owned.manager.name == CLIENT_SIDE);
        if owns && !former.iter().any(|name| name == CLIENT_SIDE) {
            former.push(CLIENT_SIDE.to_owned());
        }
        // A former Update by the writer's own name counts as another manager's.
        let own = managers(live).into_iter().any(|owned| {
            owned.manager.name == self.writer
                && owned.manager.operation == ManagedFieldsOperation::Update
        });
        if own && !former.contains(&self.writer) {
            former.push(self.writer.clone());
        }
        let concerned = managers(live).into_iter().any(|owned| {
            former.contains(&owned.manager.name)
                && owned.manager.operation == ManagedFieldsOperation::Update
                && self.fields.iter().any(|field| owned.set.contains(field))
        });
        upgrade_patch(live, &former, &self.writer).filter(|_| concerned)
    }

    /// Lets the other owners of the fields give them up. Returns whether all was accepted.
    fn others_give_up(&self, client: &mut RunningClient<'_>) -> bool {
        let object = read(client.server, client.subject);
        let others = managers(&object).into_iter().filter(|owned| {
            let own = owned.manager.name == self.writer
                && owned.manager.operation == ManagedFieldsOperation::Apply;
            !own && self.fields.iter().any(|field| owned.set.contains(field))
        });
        let others: Vec<Owned> = others.collect();
        for other in others {
            let applies = other.manager.operation == ManagedFieldsOperation::Apply
                && other.manager.subresource.is_empty();
            let accepted = if applies {
                self.applies_without(client, &other)
            } else {
                let object = read(client.server, client.subject);
                let patch = entry_without(&object, &other, &self.fields);
                patch.is_some_and(|patch| self.patch(client, patch))
            };
            if !accepted {
                return false;
            }
        }
        true
    }

    /// Lets an applier apply its manifest without the fields.
    fn applies_without(&self, client: &mut RunningClient<'_>, other: &Owned) -> bool {
        let object = read(client.server, client.subject);
        let mut set = other.set.clone();
        let mut fields = optimist_apiserver::apply::Set::default();
        self.fields.iter().for_each(|field| fields.insert(field));
        set.subtract(&fields);
        let mut body = manifest::part(&object, &set, client.subject.resource());
        body["apiVersion"] = other.api_version.as_str().into();
        let agent = Agent::named(client.subject, &other.manager.name);
        client.process(SingleRequest::apply(agent, body))
    }
}

fn managers(object: &Value) -> Vec<Owned> {
    let managers = Managers::of_object(object);
    managers.iter().cloned().collect()
}

/// The JSON patch that takes fields out of an entry of `managedFields`; `None` if there is no such
/// entry. It carries the version of the object.
fn entry_without(object: &Value, owned: &Owned, fields: &[Path]) -> Option<Value> {
    let entries = object.managed_entries();
    let at = entries.iter().position(|entry| {
        owned.manager.has_entry(entry) && text(entry, "apiVersion") == owned.api_version
    })?;
    let set = from_fields_v1(&entries[at]["fieldsV1"])?;
    let mut left = optimist_apiserver::apply::Set::default();
    for path in set.paths().iter().filter(|path| !fields.contains(path)) {
        left.insert(path);
    }
    let path = format!("/metadata/managedFields/{at}");
    let change = if left.is_empty() {
        json!({"op": "remove", "path": path})
    } else {
        let path = format!("{path}/fieldsV1");
        json!({"op": "replace", "path": path, "value": to_fields_v1(&left)})
    };
    let version = json!({"op": "replace", "path": "/metadata/resourceVersion",
        "value": object.resource_version()});
    Some(json!([change, version]))
}
