//! The statements of a run.

use std::sync::Arc;

use serde_json::{Value, json};

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::Resource;
use optimist_client::{Call, ObjectStore, Preconditions, RequestKind, Subresource};

use super::values::{render, set_at};
use super::{AfterStatement, Context, Remaining, Run, Variable};
use crate::api_error::ApiError;
use crate::cache::Cache;
use crate::client::{Source, collection};
use crate::handler::controller_of;
use crate::program::limits::is_too_large;
use crate::program::{Kind, OnError, Statement};
use crate::queue::ReconcileResult;

/// A call, unless no request can be made of it.
fn if_sent<T>(call: Call, answer: &Result<T, ApiError>) -> Option<Call> {
    let of_name = answer.as_ref().is_err_and(|error| error.of_name);
    (!of_name).then_some(call)
}

impl Run {
    /// Performs a statement that is no block.
    pub(super) fn perform(
        &mut self,
        statement: &Statement,
        context: &mut Context<'_>,
        sent: &mut Option<Call>,
    ) -> AfterStatement {
        match statement {
            Statement::Get {
                into,
                kind,
                name,
                from,
            } => self.get(into, kind, name, *from, context, sent),
            Statement::List {
                into,
                kind,
                controlled_by,
                from,
            } => {
                let owner = controlled_by.as_deref();
                self.list(into, kind, owner, *from, context, sent)
            }
            Statement::DeepCopy { into, of } => {
                match self.object(of).cloned() {
                    Some(object) => self.put(into, object),
                    None => {
                        self.variables.remove(into);
                    }
                }
                AfterStatement::On
            }
            Statement::New {
                into,
                object,
                owner,
            } => {
                let object = self.new_object(object, owner.as_deref(), context);
                self.put(into, Arc::new(object));
                AfterStatement::On
            }
            Statement::Set { .. } | Statement::AddItem { .. } | Statement::RemoveItem { .. } => {
                self.set(statement, context)
            }
            Statement::Expect {
                creations,
                deletions,
            } => {
                let now = context.server.environment().elapsed();
                let (creations, deletions) = (i64::from(*creations), i64::from(*deletions));
                let expectations = &mut *context.expectations;
                expectations.set(&self.key, creations, deletions, now);
                AfterStatement::On
            }
            Statement::Return(result) => AfterStatement::Return(*result),
            Statement::If { .. } | Statement::ForEach { .. } => AfterStatement::On,
            write => self.write(write, context, sent),
        }
    }

    /// Changes the object of a variable.
    fn set(&mut self, statement: &Statement, context: &mut Context<'_>) -> AfterStatement {
        let changed = match statement {
            Statement::Set { of, field, to } => {
                let value = self.value(to, context.server.environment().now());
                self.change(of, context, |object| {
                    set_at(Arc::make_mut(object), field, value)
                });
                of
            }
            Statement::AddItem { of, field, item } | Statement::RemoveItem { of, field, item } => {
                let add = matches!(statement, Statement::AddItem { .. });
                let item = self.text(item);
                self.change(of, context, |object| {
                    change_item(Arc::make_mut(object), field, &item, add)
                });
                of
            }
            _ => return AfterStatement::On,
        };
        match self.object(changed) {
            Some(object) if is_too_large(object) => AfterStatement::Return(ReconcileResult::Error),
            _ => AfterStatement::On,
        }
    }

    fn get(
        &mut self,
        into: &str,
        kind: &Kind,
        name: &str,
        from: Source,
        context: &mut Context<'_>,
        sent: &mut Option<Call>,
    ) -> AfterStatement {
        let (namespace, name) = (self.namespace().to_owned(), self.text(name));
        let shared = from == Source::Cache && context.shares_objects;
        let answer = match from {
            Source::Cache => match cache_of(context.caches, kind) {
                Some(cache) => context.client.get(cache, &namespace, &name),
                None => return AfterStatement::Return(ReconcileResult::Error),
            },
            Source::Server => {
                let Some(resource) = resource_of(context, kind) else {
                    return AfterStatement::Return(ReconcileResult::Error);
                };
                let call = Call::Get { namespace, name };
                let answer = context.client.send(context.server, &resource, &call);
                *sent = if_sent(call, &answer);
                answer
            }
        };
        self.variables.remove(into);
        match answer {
            Ok(object) => {
                if *ObjectStore::key(&object) == *self.key {
                    self.uid = object.uid().into();
                }
                let variable = Variable::Object { object, shared };
                self.variables.insert(into.to_owned(), variable);
                AfterStatement::On
            }
            Err(error) => {
                let missing = error.is_not_found();
                self.error = Some(error);
                if missing {
                    AfterStatement::On
                } else {
                    AfterStatement::Return(ReconcileResult::Error)
                }
            }
        }
    }

    fn list(
        &mut self,
        into: &str,
        kind: &Kind,
        owner: Option<&str>,
        from: Source,
        context: &mut Context<'_>,
        sent: &mut Option<Call>,
    ) -> AfterStatement {
        let answer = match from {
            Source::Cache => match cache_of(context.caches, kind) {
                Some(cache) => Ok(context.client.list(cache)),
                None => return AfterStatement::Return(ReconcileResult::Error),
            },
            Source::Server => {
                let Some(resource) = resource_of(context, kind) else {
                    return AfterStatement::Return(ReconcileResult::Error);
                };
                let namespace = self.namespace().to_owned();
                let call = Call::List { namespace };
                let answer = context.client.send(context.server, &resource, &call);
                *sent = if_sent(call, &answer);
                answer.map(|_| context.client.listed())
            }
        };
        let mut objects = match answer {
            Ok(objects) => objects,
            Err(error) => {
                self.error = Some(error);
                return AfterStatement::Return(ReconcileResult::Error);
            }
        };
        if let Some(owner) = owner {
            let uid = self.object(owner).map(|owner| owner.uid().to_owned());
            objects.retain(|object| {
                let controller = controller_of(object).and_then(|owner| owner.get("uid"));
                controller.and_then(Value::as_str) == uid.as_deref()
            });
        }
        let shared = from == Source::Cache && context.shares_objects;
        let variable = Variable::List { objects, shared };
        self.variables.insert(into.to_owned(), variable);
        AfterStatement::On
    }

    pub(super) fn next_item(&mut self, item: &str, of: &str, end: usize) -> AfterStatement {
        let mut remaining = match (self.loops.remove(&self.at), self.variables.get(of)) {
            (Some(remaining), _) => remaining,
            (None, Some(Variable::List { objects, shared })) => Remaining {
                objects: objects.iter().rev().cloned().collect(),
                shared: *shared,
            },
            (None, _) => return AfterStatement::To(end),
        };
        let Some(object) = remaining.objects.pop() else {
            return AfterStatement::To(end);
        };
        let shared = remaining.shared;
        let variable = Variable::Object { object, shared };
        self.variables.insert(item.to_owned(), variable);
        self.loops.insert(self.at, remaining);
        AfterStatement::On
    }

    fn new_object(&self, template: &Value, owner: Option<&str>, context: &Context<'_>) -> Value {
        let mut object = render(template, &|text| self.text(text));
        let namespaced = resource_of(context, &kind_of(&object)).is_none_or(|kind| kind.namespaced);
        if object.namespace().is_empty() && namespaced {
            object.set_meta("namespace", self.namespace());
        }
        if let Some(owner) = owner.and_then(|owner| self.object(owner)) {
            let reference = json!({
                "apiVersion": owner["apiVersion"], "kind": owner["kind"],
                "name": owner.name(), "uid": owner.uid(),
                "controller": true, "blockOwnerDeletion": true,
            });
            object.set_meta("ownerReferences", json!([reference]));
        }
        object
    }

    /// Changes the object of a variable. A cached object is changed in the cache too, if it is
    /// still the object that the cache has.
    fn change(
        &mut self,
        of: &str,
        context: &mut Context<'_>,
        change: impl FnOnce(&mut Arc<Value>),
    ) {
        let Some(Variable::Object { object, shared }) = self.variables.get_mut(of) else {
            return;
        };
        let before = Arc::clone(object);
        change(object);
        if *shared {
            replace_in_cache(context.caches, &before, object);
        }
    }

    fn write(
        &mut self,
        statement: &Statement,
        context: &mut Context<'_>,
        sent: &mut Option<Call>,
    ) -> AfterStatement {
        let (Some((name, on_error)), Some(call)) = (written(statement), self.call(statement))
        else {
            // The variable has no object: Go would panic, and controller-runtime recovers.
            return AfterStatement::Return(ReconcileResult::Error);
        };
        let kind = self.object(name).map(|object| kind_of(object));
        let resource = kind.and_then(|kind| resource_of(context, &kind));
        let Some(resource) = resource else {
            return AfterStatement::Return(ReconcileResult::Error);
        };
        let answer = context.client.send(context.server, &resource, &call);
        let deletes = call.kind() == RequestKind::Delete;
        let creates = call.kind() == RequestKind::Create;
        *sent = if_sent(call, &answer);
        match answer {
            Ok(_) if deletes => AfterStatement::On,
            Ok(answer) => {
                let path = collection(&resource, answer.namespace());
                let version = answer.resource_version();
                context
                    .written
                    .wrote_at(&self.key, &self.uid, &path, version);
                let is_json = !resource.has_builtin_schema();
                self.change(name, context, |object| {
                    match is_json && has_more(object, &answer) {
                        true => decode_into(Arc::make_mut(object), &answer),
                        false => *object = answer,
                    }
                });
                AfterStatement::On
            }
            Err(error) => {
                if creates {
                    context.expectations.creation_observed(&self.key);
                } else if deletes {
                    context.expectations.deletion_observed(&self.key);
                }
                let row = on_error.iter().find(|row| row.reason == error.reason);
                let next = match row.map(|row| row.result) {
                    Some(None) => AfterStatement::On,
                    Some(Some(result)) => AfterStatement::Return(result),
                    None => AfterStatement::Return(ReconcileResult::Error),
                };
                self.error = Some(error);
                next
            }
        }
    }

    /// Returns whether a statement is a write whose variables have objects.
    pub(super) fn can_call(&self, statement: &Statement) -> bool {
        let has = |name: &str| self.object(name).is_some();
        match (statement, written(statement)) {
            (Statement::Patch { base, .. }, Some((object, _))) => has(object) && has(base),
            (_, Some((object, _))) => has(object),
            (_, None) => false,
        }
    }

    /// The request of a write. `None` unless it [can be made](Self::can_call).
    fn call(&self, statement: &Statement) -> Option<Call> {
        let part = |status: bool| status.then_some(Subresource::Status);
        let (name, _) = written(statement)?;
        let object = self.object(name)?.clone();
        Some(match statement {
            Statement::Create { .. } => Call::Create {
                namespace: object.namespace().to_owned(),
                object,
            },
            Statement::Update { status, .. } => Call::Update {
                base: object.clone(),
                object,
                subresource: part(*status),
            },
            Statement::Patch {
                base, lock, status, ..
            } => Call::merge_from(self.object(base)?, &object, *lock, part(*status)),
            Statement::Apply { force, status, .. } => Call::Apply {
                base: object.clone(),
                object,
                force: Some(*force),
                subresource: part(*status),
            },
            Statement::Delete {
                uid,
                resource_version,
                ..
            } => Call::Delete {
                object,
                preconditions: Preconditions {
                    uid: *uid,
                    resource_version: *resource_version,
                },
                in_background: false,
            },
            _ => return None,
        })
    }
}

/// The variable that a statement writes, and the rows of its errors; `None` if it is no write.
fn written(statement: &Statement) -> Option<(&str, &[OnError])> {
    match statement {
        Statement::Create { object, on_error }
        | Statement::Update {
            object, on_error, ..
        }
        | Statement::Patch {
            object, on_error, ..
        }
        | Statement::Apply {
            object, on_error, ..
        }
        | Statement::Delete {
            object, on_error, ..
        } => Some((object, on_error)),
        _ => None,
    }
}

/// The cache of a kind.
pub(super) fn cache_of<'a>(caches: &'a [Cache], kind: &Kind) -> Option<&'a Cache> {
    caches.iter().find(|cache| {
        let resource = cache.resource();
        resource.kind == kind.kind && resource.group_version.to_string() == kind.api_version
    })
}

fn kind_of(object: &Value) -> Kind {
    Kind::new(text(object, "apiVersion"), text(object, "kind"))
}

fn resource_of(context: &Context<'_>, kind: &Kind) -> Option<Arc<Resource>> {
    let resources = context.server.resources();
    resources
        .by_kind(&kind.api_version, &kind.kind)
        .map(Arc::clone)
}

/// Gives the cache that has this very object the changed one.
fn replace_in_cache(caches: &mut [Cache], before: &Arc<Value>, after: &Arc<Value>) {
    let key = ObjectStore::key(before);
    for cache in caches {
        let has = cache.get(&key);
        if has.is_some_and(|object| Arc::ptr_eq(object, before)) {
            cache.change_in_place(Arc::clone(after));
        }
    }
}

/// Returns whether an object has a member that an answer lacks.
fn has_more(object: &Value, answer: &Value) -> bool {
    let (Some(members), Some(answer)) = (object.as_object(), answer.as_object()) else {
        return false;
    };
    let mut members = members.iter().filter(|(_, member)| !member.is_null());
    members.any(|(name, member)| answer.get(name).is_none_or(|it| has_more(member, it)))
}

/// Decodes the JSON of an answer into the object of the program, which keeps the members that the answer lacks
/// (`sigs.k8s.io/controller-runtime/pkg/client/typed_client.go Patch`, v0.24, gives its object to `Result.Into`, and
/// `k8s.io/apimachinery/pkg/runtime/serializer/json/json.go Decode` unmarshals into that). Built-in kinds are answered in
/// protobuf (`pkg/client/apiutil/apimachinery.go canUseProtobuf`), which resets the object first.
fn decode_into(object: &mut Value, answer: &Value) {
    match (object, answer) {
        (Value::Object(object), Value::Object(answer)) => {
            for (name, member) in answer {
                match object.get_mut(name) {
                    Some(known) => decode_into(known, member),
                    None => drop(object.insert(name.clone(), member.clone())),
                }
            }
        }
        (object, answer) => *object = answer.clone(),
    }
}

fn change_item(object: &mut Value, field: &str, item: &str, add: bool) {
    let list = object.pointer(field).and_then(Value::as_array);
    let mut list = list.cloned().unwrap_or_default();
    let known = list.iter().position(|known| known == item);
    match (known, add) {
        (None, true) => list.push(item.into()),
        (Some(at), false) => {
            list.remove(at);
        }
        _ => return,
    }
    let value = (!list.is_empty()).then_some(Value::Array(list));
    set_at(object, field, value);
}
