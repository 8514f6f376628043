//! The lost updates of a recorded history. The ledger decides: it is told what each request of the log showed and wrote.

use std::collections::BTreeSet;
use std::sync::Arc;

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::object::text;
use optimist_apiserver::patch::names_version;
use optimist_apiserver::pointer::escape;
use optimist_apiserver::schema::Struct;
use optimist_apiserver::status::causes;
use optimist_ledger::{Edit, Effect, Intention, UpdateTracker};
use serde_json::Value;

use super::recorded::{RecordedHistory, RecordedStep};
use super::{AuditEvent, AuditLog};

/// A value that a client wrote and another client replaced or removed without having read it.
#[derive(Clone, Debug, PartialEq)]
pub struct LostUpdateFinding {
    /// The field.
    pub field: Path,
    /// The value that was lost.
    pub value: Value,
    /// The step that wrote it.
    pub written: usize,
    /// The step that lost it.
    pub lost: usize,
    /// `true` if the log has a watch of the client on the collection, so that it may have known the
    /// value. A log has neither the events of a watch, nor watches from before the log.
    pub may_have_watched: bool,
}

/// The writer of a step: a client as a manager. It is equal to the same writer of another step, so the owner of an
/// edit tells the step that made it.
#[derive(Clone, Copy, Debug)]
struct RecordedWriter {
    /// A position in [`LostUpdateSearch::writers`].
    writer: usize,
    step: usize,
}

impl PartialEq for RecordedWriter {
    fn eq(&self, other: &Self) -> bool {
        self.writer == other.writer
    }
}

/// Whoever made a write that the log does not have.
const OUTSIDE_OF_THE_LOG: RecordedWriter = RecordedWriter {
    writer: usize::MAX,
    step: usize::MAX,
};

/// The number of steps that are told to the ledger at once.
const STEPS_AT_ONCE: usize = 20;

/// A search for lost updates, some steps at a time.
///
/// A client is shown the objects that it reads and that its writes return, the object of a version that its write
/// names, and the fields that its patch tests or that a conflict names. A read does not say as which manager its client
/// will write.
#[derive(Debug)]
pub(super) struct LostUpdateSearch {
    /// The client of each writer, and its manager.
    writers: Vec<(usize, String)>,
    /// The numbers of the objects that had the name, for each step.
    objects: Vec<usize>,
    edits: UpdateTracker<RecordedWriter>,
    /// The object after the last write that the log has.
    stored: Option<Arc<Value>>,
    /// The clients with a watch so far.
    watching: BTreeSet<usize>,
    next: usize,
}

impl LostUpdateSearch {
    pub(super) fn new(history: &RecordedHistory) -> Self {
        let mut writers = Vec::new();
        for step in &history.steps {
            let writer = step
                .manager
                .as_ref()
                .map(|it| (step.client, it.name.clone()));
            writers.extend(writer.filter(|writer| !writers.contains(writer)));
        }
        Self {
            writers,
            objects: history.objects(),
            edits: UpdateTracker::default(),
            stored: None,
            watching: BTreeSet::new(),
            next: 0,
        }
    }

    /// Tells the ledger some steps more. Returns whether there are others.
    pub(super) fn advance(
        &mut self,
        history: &RecordedHistory,
        log: &AuditLog,
        found: &mut Vec<LostUpdateFinding>,
    ) -> bool {
        let end = history.steps.len().min(self.next + STEPS_AT_ONCE);
        for at in self.next..end {
            let step = &history.steps[at];
            let event = &log.events[step.event];
            if at > 0 && self.objects[at] != self.objects[at - 1] {
                self.edits = UpdateTracker::default();
                self.stored = None;
            }
            if event.verb == "watch" {
                self.watching.insert(step.client);
            }
            match (&step.before, &step.after, history.resource_of(event)) {
                (Some(before), Some(after), Some(resource)) if !step.changes.is_empty() => {
                    self.write(at, (step, event), [before, after], &resource.root, found);
                }
                _ => self.read(at, (step, event)),
            }
        }
        self.next = end;
        end < history.steps.len()
    }

    /// The writers of a client, in a step.
    fn of_client(&self, client: usize, step: usize) -> Vec<RecordedWriter> {
        let all = self.writers.iter().enumerate();
        let own = all.filter(|(_, (of, _))| *of == client);
        own.map(|(writer, _)| RecordedWriter { writer, step })
            .collect()
    }

    /// Tells what a request that changed nothing showed its client.
    fn read(&mut self, at: usize, (step, event): (&RecordedStep, &AuditEvent)) {
        let conflicts: Vec<&str> = match event.is_accepted() {
            true if matches!(event.verb.as_str(), "watch" | "delete") => return,
            true => Vec::new(),
            false => {
                let causes = event.response.as_deref().into_iter().flat_map(causes);
                causes.map(|cause| text(cause, "field")).collect()
            }
        };
        for who in self.of_client(step.client, at) {
            match event.is_accepted() {
                true => (self.edits).read(who, step.after.as_deref().unwrap_or(&Value::Null)),
                false => self.edits.told_of(who, |field| is_named(field, &conflicts)),
            }
        }
    }

    /// Tells a write, with what its writer knew, and adds what it lost.
    fn write(
        &mut self,
        at: usize,
        (step, event): (&RecordedStep, &AuditEvent),
        [before, after]: [&Arc<Value>; 2],
        root: &Struct,
        found: &mut Vec<LostUpdateFinding>,
    ) {
        let of_edits = |edits| Intention {
            edits: Some(edits),
            ..Intention::default()
        };
        if let Some(known) = self.stored.replace(Arc::clone(after))
            && known != *before
        {
            let unseen = Effect::write(Some(&known), Some(before), root);
            (self.edits).answered(OUTSIDE_OF_THE_LOG, &unseen, of_edits(&[]), root);
        }
        let manager = step.manager.as_ref().map(|manager| &manager.name);
        let knows_all = event.request.as_deref().is_some_and(names_version);
        let mut writer = OUTSIDE_OF_THE_LOG;
        for who in self.of_client(step.client, at) {
            let is_writer = Some(&self.writers[who.writer].1) == manager;
            if !is_writer || knows_all {
                self.edits.read(who, before);
            }
            if is_writer {
                self.edits.told_of(who, |field| tests_value(event, field));
                writer = who;
            }
        }
        // What a write outside of the log changed, and the conversion to another version, is no change of the step.
        let is_changed = |edit: &Edit| {
            let mut changes = step.changes.iter();
            changes.any(|change| change.field.overlaps(&edit.path))
        };
        let mut edits = Edit::between(before, after, root);
        edits.retain(|edit| is_changed(edit));
        let effect = Effect::write(Some(before), Some(after), root);
        let done = (self.edits).answered(writer, &effect, of_edits(&edits), root);
        let losses = done.losses.iter().filter(|loss| is_changed(&loss.edit));
        found.extend(losses.filter_map(|loss| {
            Some(LostUpdateFinding {
                field: loss.edit.path.clone(),
                // An edit that removed a value has none that is lost.
                value: loss.edit.value.clone()?,
                written: loss.owner.step,
                lost: at,
                may_have_watched: self.watching.contains(&step.client),
            })
        }));
    }
}

/// Returns whether a conflict names a field, or one that it is in: then its client knows that the field has a value of
/// another manager.
fn is_named(field: &Path, conflicts: &[&str]) -> bool {
    let mut around = (0..field.0.len()).map(|end| Path(field.0[..=end].to_vec()).to_string());
    !conflicts.is_empty() && around.any(|name| conflicts.contains(&name.as_str()))
}

/// Returns whether a JSON patch tests the value that is at a field: its client knows what it replaces. A list is
/// tested as a whole, because the place of an item is not the path of a field.
fn tests_value(event: &AuditEvent, field: &Path) -> bool {
    let names = field.0.iter().map_while(|element| match element {
        PathElement::Field(name) => Some(format!("/{}", escape(name))),
        _ => None,
    });
    let place: String = names.collect();
    let operations = event.request.as_deref().and_then(Value::as_array);
    operations.into_iter().flatten().any(|operation| {
        let tested = format!("{}/", text(operation, "path"));
        let whole = tested.len() > 1 && format!("{place}/").starts_with(&tested);
        let is_item = field.0.len() > place.matches('/').count();
        text(operation, "op") == "test" && (whole || is_item && tested.starts_with(&place))
    })
}
