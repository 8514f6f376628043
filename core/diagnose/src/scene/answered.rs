//! A scene in which a question that the message leaves open has another answer.

use optimist_apiserver::apply::{ManagedFieldsOperation, Path, Set, field_set};
use optimist_apiserver::apply::{from_fields_v1, is_entry_of, to_fields_v1};
use optimist_apiserver::object::{Metadata, map_mut};
use optimist_client::annotated;
use serde_json::{Value, json};

use super::Draft;
use crate::completions::{CompletionAnswer, annotation, entry};

/// A label that only the object has.
const LABEL: &str = "example.com/more";

/// A manager that no message names.
const OTHER: &str = "another-applier";

impl Draft<'_> {
    /// Fills in the answer: in the stored object, which has its values already, and in the entries of
    /// its owners. `named` are the fields of the message.
    pub(super) fn answer(&mut self, named: &[Path], entries: &mut Vec<Value>) {
        match self.answer {
            Some(CompletionAnswer::ClientSideApply(manager)) => {
                self.client_side(manager, named, entries)
            }
            Some(CompletionAnswer::AppliedBefore) => {
                let fields = self.declared();
                entries.push(self.entry(&self.manager, ManagedFieldsOperation::Apply, &fields));
            }
            Some(CompletionAnswer::Untracked) => entries.clear(),
            Some(CompletionAnswer::MoreFields) => {
                let mut fields = self.label();
                fields = fields.union(&self.container());
                entries.push(self.entry(OTHER, ManagedFieldsOperation::Apply, &fields));
            }
            _ => {}
        }
    }

    fn entry(&self, manager: &str, operation: ManagedFieldsOperation, fields: &Set) -> Value {
        entry(manager, operation, &self.live["apiVersion"], fields)
    }

    /// Returns the fields that the manifest declares.
    fn declared(&self) -> Set {
        let mut declared = self.wanted.clone();
        let identity = ["name", "namespace"];
        let meta = declared.metadata_mut();
        identity.iter().for_each(|field| drop(meta.remove(*field)));
        let empty = meta.is_empty();
        let own = map_mut(&mut declared);
        if empty {
            own.remove("metadata");
        }
        ["apiVersion", "kind"]
            .iter()
            .for_each(|it| drop(own.remove(*it)));
        match self.kind.root() {
            Some(root) => field_set(&declared, &root),
            None => Set::default(),
        }
    }

    /// Gives the object a label that the manifest does not have.
    fn label(&mut self) -> Set {
        put(&mut self.live, "labels", LABEL, "1");
        Set::of_fields(&[&["metadata", "labels", LABEL]])
    }

    /// Gives the object a container that the manifest does not have, if it has containers.
    fn container(&mut self) -> Set {
        let mut added = Set::default();
        let at = "/spec/template/spec/containers";
        if let Some(Value::Array(containers)) = self.live.pointer_mut(at) {
            containers.push(json!({"name": "sidecar", "image": "example:2"}));
            let root = self.kind.root();
            let own = json!({"spec": {"template": {"spec": {"containers": [
                {"name": "sidecar", "image": "example:2"}]}}}});
            if let Some(root) = root {
                added = field_set(&own, &root);
                self.live = super::stored(&self.live, &root);
            }
        }
        added
    }

    /// The manager has written the object by client-side apply: it owns the annotation with the
    /// manifest of that time, which had the fields of the message with the stored values. The server
    /// refuses to `kubectl` no field that has the value of the annotation
    /// (`k8s.io/apimachinery/pkg/util/managedfields/internal/lastappliedmanager.go Apply`, v1.36), so
    /// that then the annotation did not have the fields.
    fn client_side(&mut self, manager: &str, named: &[Path], entries: &mut Vec<Value>) {
        let mut earlier = self.wanted.clone();
        for path in named {
            match path.find(&self.live) {
                Some(value) if self.manager != "kubectl" => path.put(&mut earlier, value.clone()),
                _ => path.remove(&mut earlier),
            }
        }
        let annotated = annotated(&earlier);
        let annotations = annotated
            .metadata()
            .and_then(|meta| meta.get("annotations"));
        for (name, value) in annotations.and_then(Value::as_object).into_iter().flatten() {
            put(
                &mut self.live,
                "annotations",
                name,
                value.as_str().unwrap_or_default(),
            );
        }
        let update = ManagedFieldsOperation::Update;
        let mut all = entries.iter_mut();
        let own = all.find(|entry| is_entry_of(entry, manager, update, ""));
        if let Some(entry) = own {
            let fields = from_fields_v1(&entry["fieldsV1"]).unwrap_or_default();
            entry["fieldsV1"] = to_fields_v1(&fields.union(&annotation()));
            return;
        }
        // It owns all that it declared and that the message does not name.
        let mut fields = self.declared();
        let mut others = Set::default();
        named.iter().for_each(|path| others.insert(path));
        fields.subtract(&others);
        let fields = fields.union(&annotation());
        entries.push(self.entry(manager, ManagedFieldsOperation::Update, &fields));
    }
}

/// Puts a label or an annotation.
fn put(object: &mut Value, of: &str, name: &str, value: &str) {
    let entries = object.metadata_mut().entry(of).or_insert(Value::Null);
    map_mut(entries).insert(name.to_owned(), value.into());
}
