//! Warnings to read before running a command.

use http::{Request, header};
use optimist_apiserver::apply::{Path, PathElement, field_set};
use optimist_apiserver::object::text;
use optimist_apiserver::schema::Struct;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::status::causes;
use optimist_client::{Preset, WantedChange, bare};
use optimist_simulation::Exchange;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::completions::Then;
use crate::removal::remove_object;

use super::super::{ChangeContent, ChangeTable, FieldEffect, OnOwned, Row, Way, read, tracking};
use super::applies;

/// A warning to read before running a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum InstructionWarning {
    /// Fields vanish from the object.
    #[serde(serialize_with = "printed")]
    Removes(Vec<Path>),
    /// The fields that are left out are needed to create the object: without them a server refuses a new
    /// one, and names these fields. The items of a list are named by their keys, because a position
    /// says nothing of a manifest that nobody has brought.
    NeededToCreate(Vec<String>),
    /// A new object that is created from the manifest does not have these fields. The object that is there
    /// keeps them.
    #[serde(serialize_with = "printed")]
    AbsentFromNew(Vec<Path>),
    /// kubectl writes by the name of a tool that keeps a record of its writes. The record does not
    /// change.
    OtherRecord {
        /// The manager.
        manager: String,
    },
    /// These fields vanish only when kubectl writes for good: a dry run still shows them. kubectl applies, then makes the
    /// entries of client-side apply its own, and applies again. A dry run stores none of these steps, so that the second
    /// apply finds the entries as they were (`k8s.io/kubectl/pkg/cmd/apply/apply.go migrateToSSAIfNecessary`, v0.36).
    #[serde(serialize_with = "printed")]
    NotInDryRun(Vec<Path>),
    /// The command of the tool keeps these fields. `kubectl apply` in its name removes them, and is no stand-in for it.
    #[serde(serialize_with = "printed")]
    RemovedByKubectl(Vec<Path>),
}

/// Paths as the server prints them.
fn printed<S: Serializer>(paths: &[Path], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(ToString::to_string))
}

/// The managers of tools that keep a record of their own: a release, a state, an inventory
/// ([`Preset::write`]; `fluxcd/helm-controller`, `pulumi/pulumi-kubernetes`).
const WITH_RECORDS: [&str; 5] = [
    "helm",
    "helm-controller",
    "Terraform",
    "argocd-controller",
    "kustomize-controller",
];

fn keeps_a_record(manager: &str) -> bool {
    WITH_RECORDS.contains(&manager) || manager.starts_with("pulumi-kubernetes")
}

impl ChangeTable {
    /// Returns the warnings to read before doing the same as a row.
    pub(super) fn warnings(&self, row: &Row) -> Vec<InstructionWarning> {
        let mut all = Vec::new();
        let removed = row.with(FieldEffect::Removed);
        let removed: Vec<Path> = removed.map(|it| it.field.clone()).collect();
        if !removed.is_empty() && !row.is_refused() {
            let hidden = not_in_dry_run(&removed, &row.requests);
            all.push(InstructionWarning::Removes(removed));
            all.extend(hidden);
        }
        if let Way::Client(preset, OnOwned::LeaveOut) = row.way
            && let Some(applied) = row.last_apply()
        {
            let said = tracking::tracked(preset, self.manifest(row), &row.before);
            all.extend(self.of_new_object(row, &said, &applied.sent));
        }
        all.extend(of_writer(row));
        all
    }

    /// Returns the fields that `kubectl apply` in the name of the writer of a row removes and the row itself keeps: the
    /// object has an annotation of client-side apply, and kubectl migrates from that.
    pub(super) fn removed_by_kubectl(&self, row: &Row, on_owned: OnOwned) -> Vec<Path> {
        let by_kubectl = self.row_by_kubectl(row, on_owned);
        let removed = by_kubectl
            .iter()
            .flat_map(|it| it.with(FieldEffect::Removed));
        let kept = |field: &Path| row.with(FieldEffect::Removed).all(|it| it.field != *field);
        let removed = removed.map(|it| it.field.clone());
        removed.filter(kept).collect()
    }

    /// Returns whether the server answers `kubectl apply` in the name of the writer of a row as it answers the row. It
    /// does not where the tool first makes its earlier Update its own: kubectl meets a conflict with that Update.
    pub(super) fn kubectl_meets_the_same(&self, row: &Row, on_owned: OnOwned) -> bool {
        let by_kubectl = self.row_by_kubectl(row, on_owned);
        by_kubectl.is_some_and(|it| it.is_refused() == row.is_refused())
    }

    /// Returns what `kubectl apply --server-side` does with the manifest that a row applied, in the name of its writer.
    fn row_by_kubectl(&self, row: &Row, on_owned: OnOwned) -> Option<Row> {
        let change = WantedChange {
            manager: Some(row.writer.clone()),
            content: ChangeContent::Manifest(Value::clone(&row.last_apply()?.sent)),
            ..WantedChange::clone(&self.change)
        };
        // What was left out is not in the manifest.
        let on_owned = match on_owned {
            OnOwned::LeaveOut => OnOwned::Usual,
            other => other,
        };
        let way = Way::Client(Preset::KubectlApplyServerSide, on_owned);
        ChangeTable::new(&self.installed, change).row(way)
    }

    /// Returns a warning about the fields that are missing if a manifest without some fields creates the
    /// object, and that the object of a row keeps: each of both manifests creates it once. `None` if nothing is
    /// missing, or if the whole manifest does not create it either. A field that the row removes is in
    /// [`Removes`](InstructionWarning::Removes).
    fn of_new_object(&self, row: &Row, whole: &Value, left: &Value) -> Option<InstructionWarning> {
        let root = &self.subject().resource().root;
        let created = self.created(whole)?.ok()?;
        let without = match self.created(left)? {
            Ok(object) => object,
            Err(refused) => {
                let needed = self.needed(whole, left, &refused);
                return (!needed.is_empty()).then_some(InstructionWarning::NeededToCreate(needed));
            }
        };
        let kept = field_set(left, root);
        let fields = field_set(whole, root).paths().into_iter();
        let may_vanish = |path: &Path| {
            let mut open = row.open.iter().map(|one| &one.then);
            open.any(|then| matches!(then, Then::Vanish(fields) if fields.contains(path)))
        };
        let absent = fields.filter(|path| {
            let stays = path.find(&row.after);
            stays.is_some()
                && stays == path.find(&row.before)
                && !kept.contains(path)
                && !may_vanish(path)
                && path.find(&created).is_some()
                && path.find(&without).is_none()
        });
        let absent: Vec<Path> = absent.collect();
        (!absent.is_empty()).then_some(InstructionWarning::AbsentFromNew(absent))
    }

    /// Returns the fields without which the server does not create the object. `refused`: the fields that it names when
    /// it refuses the manifest without them. It can name a field that is in both manifests, and that needs one which is
    /// left out: the name of a mount needs its volume.
    fn needed(&self, whole: &Value, left: &Value, refused: &[String]) -> Vec<String> {
        let root = &self.subject().resource().root;
        let kept = field_set(left, root);
        let left_out = field_set(whole, root).leaves().into_iter();
        let left_out: Vec<Path> = left_out.filter(|path| !kept.contains(path)).collect();
        let (mut needed, mut all_known) = (Vec::new(), true);
        for field in refused {
            match left_out.iter().any(|path| is_around(field, &name(path))) {
                true if !needed.contains(field) => needed.push(field.clone()),
                true => {}
                false => all_known = false,
            }
        }
        if all_known {
            return needed;
        }
        let is_needed = |path: &&Path| {
            let mut without = whole.clone();
            path.remove(&mut without);
            left_out.len() > MOST_TRIED || self.created(&without).is_some_and(|it| it.is_err())
        };
        let more = left_out.iter().filter(is_needed).map(name);
        let more: Vec<String> = more
            .filter(|path| !needed.iter().any(|field| is_around(field, path)))
            .collect();
        needed.extend(more);
        needed
    }

    /// The object that a manifest creates where there is none, or the fields that the server names when
    /// it refuses. `None` if the object that is there cannot be deleted.
    fn created(&self, manifest: &Value) -> Option<Result<Value, Vec<String>>> {
        let mut server = self.server();
        let subject = self.subject();
        remove_object(&mut server, &subject.path());
        if !read(&mut server, subject).is_null() {
            return None;
        }
        let collection = subject.resource().path(subject.namespace(), "");
        let (code, answer) = post(&mut server, &collection, &bare(manifest))?;
        if code < 300 {
            return Some(Ok(answer));
        }
        let root = &subject.resource().root;
        let fields = causes(&answer).map(|cause| by_keys(text(cause, "field"), manifest, root));
        Some(Err(fields.collect()))
    }
}

/// The most fields that are left out one at a time. Of more, all are named.
const MOST_TRIED: usize = 32;

/// A field as errors name it.
fn name(path: &Path) -> String {
    path.to_string().trim_start_matches('.').to_owned()
}

/// Returns whether two fields are the same one, or one of them is inside of the other.
fn is_around(one: &str, other: &str) -> bool {
    let (short, long) = match one.len() < other.len() {
        true => (one, other),
        false => (other, one),
    };
    let rest = long.strip_prefix(short);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The field of an error in an object, with the keys of list items in place of their positions. It stays
/// as it is if it names the key of a map, or nothing in the object.
fn by_keys(field: &str, object: &Value, root: &Struct) -> String {
    let mut brackets = field.split('[').skip(1);
    if brackets.any(|it| !it.starts_with(|first: char| first.is_ascii_digit())) {
        return field.to_owned();
    }
    let positions = field.replace('[', ".").replace("].", ".");
    let mut there = String::new();
    let mut missing = Vec::new();
    for part in positions.trim_end_matches(']').split('.') {
        let next = format!("{there}/{part}");
        if missing.is_empty() && object.pointer(&next).is_some() {
            there = next;
        } else {
            missing.push(PathElement::Field(part.to_owned()));
        }
    }
    let Some(mut path) = Path::at(object, &there, root).filter(|_| !there.is_empty()) else {
        return field.to_owned();
    };
    path.0.extend(missing);
    name(&path)
}

/// A warning where kubectl writes by the name of another tool.
pub(super) fn of_writer(row: &Row) -> Option<InstructionWarning> {
    let of_kubectl = matches!(row.way, Way::Client(Preset::KubectlApplyServerSide, _));
    record_of(row).filter(|_| of_kubectl)
}

/// Warns of fields that vanish only after the first apply of kubectl, which is all that a dry run shows.
pub(super) fn not_in_dry_run(
    removed: &[Path],
    requests: &[Exchange],
) -> Option<InstructionWarning> {
    let first = requests.iter().find(|it| applies(it))?;
    let hidden = removed
        .iter()
        .filter(|it| it.find(&first.received).is_some());
    let hidden: Vec<Path> = hidden.cloned().collect();
    (!hidden.is_empty()).then_some(InstructionWarning::NotInDryRun(hidden))
}

/// Warns that the writer keeps a record of its writes.
pub(super) fn record_of(row: &Row) -> Option<InstructionWarning> {
    keeps_a_record(&row.writer).then(|| InstructionWarning::OtherRecord {
        manager: row.writer.clone(),
    })
}

fn post(server: &mut ApiServer, target: &str, body: &Value) -> Option<(u16, Value)> {
    let request = Request::builder()
        .method("POST")
        .uri(target)
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.to_string().into_bytes())
        .ok()?;
    let response = server.handle(request);
    let answer = serde_json::from_slice(response.body()).unwrap_or_default();
    Some((response.status().as_u16(), answer))
}
