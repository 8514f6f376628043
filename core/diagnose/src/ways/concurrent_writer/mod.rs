//! A way of writing while somebody else writes in between: a start for Explore.
//!
//! [`ChangeTable::in_between`] gives a history in which both have read the object and typed their edits, and
//! neither has sent them. Actor A sends the request of a row of the table. Actor B is [another
//! writer](OtherWriter) of the object, with an edit that is made up.

mod other;

use std::sync::Arc;

use http::{HeaderValue, header};
use optimist_apiserver::apply::{LAST_APPLIED, Path, PathElement, is_never_owned};
use optimist_apiserver::object::Metadata;
use optimist_client::{
    Declares, Preset, ReadChange, Strategy, WorkingCopy, Write, WriteMethod, bare,
    client_side_managers,
};
use optimist_simulation::explore::{Plan, Scenario};
use optimist_simulation::{Action, ActorId, Exchange, HistoryTree, Operation, World};
use serde_json::Value;

use super::fields::{FieldEffect, leaves};
use super::server_words::in_server_words;
use super::{ChangeContent, ChangeTable, OnOwned, Remedy, Row, Way, manifest, read, tracking};

pub(crate) use other::write_of;
pub use other::{OtherEdit, OtherWriter, made_up, others, present, typed, usual_of, with_edit};

/// The state of a row's client before it sends: its edits, and its way of writing.
struct Unsent {
    write: Write,
    copy: WorkingCopy,
    /// The User-Agent that it sends.
    agent: String,
}

/// The most values of an object that Explore takes. The search reads all of them in every state, and
/// with more it holds the page for too long.
const MOST_VALUES: usize = 5_000;

/// Returns whether a value has at most as many values in it as are left.
fn has_at_most(value: &Value, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else {
        return false;
    };
    *left = fewer;
    match value {
        Value::Array(items) => items.iter().all(|item| has_at_most(item, left)),
        Value::Object(members) => members.values().all(|member| has_at_most(member, left)),
        _ => true,
    }
}

impl ChangeTable {
    /// Returns whether Explore sends for a row exactly the request of the row, whenever the client reads:
    /// the row is one request that follows from the object that was read and from the change. Never for a
    /// very large object.
    pub fn can_be_explored(&self, row: &Row) -> bool {
        self.before_sending(row).is_some()
    }

    /// Returns a history in which the client of a row and another writer have read the object and have sent
    /// nothing. `None` if Explore cannot send [exactly](Self::can_be_explored) the request of the row.
    pub fn in_between(&self, row: &Row) -> Option<HistoryTree> {
        let tree = self.before_sending(row)?;
        let refused_or_taken = [FieldEffect::Refused, FieldEffect::TakenOver];
        let contested = refused_or_taken.into_iter().flat_map(|it| row.with(it));
        let contested = contested.map(|outcome| outcome.field.clone()).collect();
        let edit = other::usual(tree.world(), contested)?;
        with_edit(&tree, &edit)
    }

    /// The same for a way out of a conflict. A writer who leaves fields out has a manifest without them.
    pub fn in_between_out(&self, out: &Remedy) -> Option<HistoryTree> {
        self.in_between(&only_request(out))
    }

    /// Returns whether Explore sends for a way out exactly the request of the way out.
    pub fn out_can_be_explored(&self, out: &Remedy) -> bool {
        self.can_be_explored(&only_request(out))
    }

    /// The history in which only the client of the row has edits.
    fn before_sending(&self, row: &Row) -> Option<HistoryTree> {
        let [sent] = row.requests.as_slice() else {
            return None;
        };
        if !has_at_most(&row.before, &mut { MOST_VALUES }) {
            return None;
        }
        let live = read(&mut self.server(), self.subject());
        let unsent = self.unsent(row, sent, &live)?;
        let mut world = self.installed.world.clone();
        let actor = world.actor_mut(ActorId::A);
        actor.name = row.writer.as_str().into();
        actor.manager = unsent.agent.as_str().into();
        actor.set_write(unsent.write);
        let mut tree = both_have_read(world)?;
        type_as(&mut tree, ActorId::A, &unsent.copy)?;
        self.sends(&tree, sent).then_some(tree)
    }

    /// Returns whether Explore sends a request of a row, and gets the same answer. Explore does not ask for
    /// strict validation: that can only change the answer of a request that strict validation refused.
    fn sends(&self, tree: &HistoryTree, sent: &Exchange) -> bool {
        let request = || {
            let scenario = Scenario::of_copies(tree.world())?;
            let scenario = scenario.in_ways(&[WriteMethod::Own], 1).ok()?;
            let plan: &Plan = scenario.plans.first()?;
            scenario.request(plan, tree.world().copy(ActorId::A).read()?)
        };
        let Some(request) = request() else {
            return false;
        };
        let header = |name| {
            let value = request.headers().get(name);
            value.and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let same = *request.method() == sent.method
            && options(&request.uri().to_string()) == options(&sent.target)
            && header(header::CONTENT_TYPE) == Some(&*sent.content_type)
            && header(header::USER_AGENT) == Some(&*sent.manager)
            && serde_json::from_slice::<Value>(request.body()).is_ok_and(|it| it == *sent.sent);
        // A conflict is found after the request was validated.
        if !same || sent.code < 300 || sent.code == 409 {
            return same;
        }
        let response = self.server().handle(request.clone());
        let answer = Exchange::new(&request, &response);
        answer.code == sent.code && answer.received == sent.received
    }

    /// Returns the edits of a row's client and its way of writing. The values of the row may be masked,
    /// those of its requests are not.
    fn unsent(&self, row: &Row, sent: &Exchange, live: &Arc<Value>) -> Option<Unsent> {
        let Way::Client(preset, on_owned) = row.way else {
            return None;
        };
        let patches = matches!(preset, Preset::KubectlApply | Preset::ArgoCdClientSide);
        // It would leave out more if somebody else took more, or create the object again.
        if on_owned == OnOwned::LeaveOut || on_owned == OnOwned::Force && patches {
            return None;
        }
        if migrates_later(preset, row, live) {
            return None;
        }
        let mut write = preset.write(self.subject().resource())?;
        let (_, query) = options(&sent.target);
        let option = |wanted: &str| {
            let mut found = query.iter().filter(|(name, _)| name == wanted);
            found.next().map(|(_, value)| value.clone())
        };
        write.manager = option("fieldManager");
        write.force = option("force").is_some_and(|force| force == "true");
        let copy = match preset {
            _ if patches => self.typed_manifest(live, preset)?,
            _ if (write.strategy, write.declares) == (Strategy::Apply, Declares::Manifest) => {
                typed_copy(live, (*sent.sent).clone())
            }
            Preset::KubectlEdit
            | Preset::Update
            | Preset::MergeFrom
            | Preset::CreateOrUpdate
            | Preset::KubectlScale
            | Preset::KubectlLabel
            | Preset::Autoscaler => self.edited_copy(live, preset)?,
            // The request also follows from the last release, from a dry run or from a file.
            _ => return None,
        };
        Some(Unsent {
            write,
            copy,
            agent: sent.manager.clone(),
        })
    }

    /// The manifest of a client-side apply.
    fn typed_manifest(&self, live: &Arc<Value>, preset: Preset) -> Option<WorkingCopy> {
        let ChangeContent::Manifest(said) = &self.change.content else {
            return None;
        };
        // kubectl would send the version of the file.
        let said = tracking::tracked(preset, manifest::of_object(said, live), live);
        said.resource_version()
            .is_empty()
            .then(|| typed_copy(live, said))
    }

    /// Returns the edits of a client that sends edits. A field that it sets to the present value is
    /// declared: the client would set it again if somebody else had changed it.
    fn edited_copy(&self, live: &Arc<Value>, preset: Preset) -> Option<WorkingCopy> {
        let read = ReadChange {
            object: self.subject(),
            change: &self.change,
            first: live,
            live: Arc::clone(live),
        };
        let mut copy = read.copy();
        let part = match preset {
            Preset::KubectlScale | Preset::Autoscaler => Some(&["spec", "replicas"]),
            Preset::KubectlLabel => Some(&["metadata", "labels"]),
            _ => None,
        };
        if let Some(part) = part {
            let pointer = format!("/{}", part.join("/"));
            let wanted = copy.edited()?.pointer(&pointer)?.clone();
            let mut object = (**live).clone();
            let names = part.map(|name| PathElement::Field(name.to_owned()));
            Path(names.to_vec()).put(&mut object, wanted);
            copy.edit(object);
        }
        let ChangeContent::Manifest(said) = &self.change.content else {
            return Some(copy);
        };
        let resource = self.subject().resource();
        let said = in_server_words(&bare(said), resource);
        for path in leaves(&said, &resource.root) {
            let prefix = part.is_none_or(|part| {
                path.to_string()
                    .starts_with(&format!(".{}", part.join(".")))
            });
            let value = path.find(&said);
            let unchanged = value == path.find(live);
            if prefix && unchanged && value.is_some_and(has_content) && !is_never_owned(&path) {
                copy.declare(path);
            }
        }
        Some(copy)
    }
}

/// A history that begins here, in which both editors read.
fn both_have_read(world: World) -> Option<HistoryTree> {
    let mut tree = HistoryTree::new(world);
    for editor in ActorId::EDITORS {
        tree.act(Operation::Act(editor, Action::Get))?;
    }
    Some(tree)
}

/// Types the content of a copy.
fn type_as(tree: &mut HistoryTree, editor: ActorId, typed: &WorkingCopy) -> Option<()> {
    let copy = tree.world_mut().copy_mut(editor);
    copy.edit((**typed.edited()?).clone());
    copy.declare_only(typed.declared().to_vec());
    Some(())
}

/// The run of a way out as that of a client whose manifest is the one of the way out.
fn only_request(out: &Remedy) -> Row {
    let mut row = out.row.clone();
    if let Way::Client(preset, OnOwned::LeaveOut) = row.way {
        row.way = Way::Client(preset, OnOwned::Usual);
    }
    row
}

/// The object of a row, with a manifest typed in its place.
fn typed_copy(live: &Arc<Value>, manifest: Value) -> WorkingCopy {
    let mut copy = WorkingCopy::default();
    copy.settle(Arc::clone(live));
    copy.edit(manifest);
    copy
}

/// Returns whether a value says something: an empty map only says that it is there.
fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// Returns whether the client of a refused row would send more once its apply is accepted: it migrates from
/// client-side apply.
fn migrates_later(preset: Preset, row: &Row, live: &Value) -> bool {
    let migrates = matches!(
        preset,
        Preset::KubectlApplyServerSide | Preset::ArgoCdServerSide
    );
    let annotations = live.pointer("/metadata/annotations");
    let annotated = annotations.is_some_and(|all| all.get(LAST_APPLIED).is_some());
    migrates && row.is_refused() && (annotated || !client_side_managers(live).is_empty())
}

/// The path of a target, and its options in the order of their names. Strict validation is left out:
/// it changes answers only, and those are compared.
fn options(target: &str) -> (&str, Vec<(String, String)>) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let options = form_urlencoded::parse(query.as_bytes());
    let mut options: Vec<(String, String)> = options
        .filter(|(name, _)| name != "fieldValidation")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    options.sort();
    (path, options)
}
