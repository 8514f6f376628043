//! The gaps of a log: writes that its policy leaves out, as those of controllers often are, and owners
//! (`k8s.io/apiserver/pkg/apis/audit/v1/types.go PolicyRule`, `OmitManagedFields`, v0.36).

use optimist_apiserver::apply::Managers;
use optimist_apiserver::object::{Metadata, text};
use serde_json::Value;

use super::super::AuditEvent;
use super::{CoreAnswer, KnownObject};
use crate::observed::FieldChange;

/// Takes out of the changes of a write those that the core does not make and that its manager does not own
/// afterwards: a write before it made them. Returns whether another manager owns one of them, so that the log is
/// known to lack a write. A webhook changes fields in the name of the manager, and is no such write.
pub(super) fn leave_out_others(
    changes: &mut Vec<FieldChange>,
    after: Option<&Value>,
    prediction: &CoreAnswer,
) -> bool {
    let (CoreAnswer::Other { exchange, .. }, Some(after)) = (prediction, after) else {
        return false;
    };
    let managers = Managers::of_object(after);
    let mut others = false;
    changes.retain(|change| {
        let core = change.field.find(&exchange.received);
        let owners = || managers.iter().filter(|it| it.set.contains(&change.field));
        let own = owners().any(|owner| {
            change.by.as_ref().is_some_and(|by| {
                (&owner.manager.name, owner.manager.operation) == (&by.name, by.operation)
                    && owner.manager.subresource == by.subresource
            })
        });
        if own || core == change.after.as_ref() {
            return true;
        }
        let owned = owners().next().is_some();
        others |= owned;
        !owned && core != change.before.as_ref()
    });
    others
}

/// Returns whether the answer to a read has another version than the object that is known. It is not that of the
/// object as the requests before left it.
pub(super) fn shows_other_version(event: &AuditEvent, known: (&Value, KnownObject)) -> bool {
    let (object, from) = known;
    let shown = event.response.as_deref().map(Metadata::resource_version);
    let shown = shown.filter(|version| !version.is_empty() && event.is_accepted());
    event.verb == "get"
        && shown.is_some_and(|shown| from.version_of(Some(object)).is_some_and(|it| it != shown))
}

/// Returns whether an apply met an object whose owners the log does not have. The answer depends on them.
pub(super) fn lacks_owners(known: (&Value, KnownObject), answer: &CoreAnswer) -> bool {
    let CoreAnswer::Other { exchange, .. } = answer else {
        return false;
    };
    let (object, from) = known;
    from == KnownObject::Recorded
        && object.managed_fields().is_none()
        && exchange.content_type.contains("apply-patch")
}

/// Returns whether a request was refused for a reason that is not in the object: 401 and 403 (no rights, a quota), 429 (a
/// budget, the load), an error of the server, also a panic, or a webhook, in its own code
/// (`k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go ToStatusErr`, v0.36). A webhook is asked only
/// about a request that the core accepts; the others can come before the object is looked at.
pub(super) fn is_of_others(event: &AuditEvent, answer: &CoreAnswer) -> bool {
    let CoreAnswer::Other { exchange, .. } = answer else {
        return false;
    };
    let message = event.response.as_deref().map(|it| text(it, "message"));
    let webhook = message.is_some_and(|message| message.starts_with("admission webhook "));
    let code = event.code.unwrap_or_default();
    let others = matches!(code, 401 | 403 | 429 | 500..) && exchange.code != code;
    others || webhook && code >= 400 && exchange.code < 300
}

/// Returns whether a request names a uid or a version, and got another answer than the core gives, whose object has a
/// made-up one: its check of the two says nothing.
pub(super) fn names_made_up(
    event: &AuditEvent,
    known: (&Value, KnownObject),
    answer: &CoreAnswer,
) -> bool {
    let (object, from) = known;
    let Some(sent) = event.request.as_deref() else {
        return false;
    };
    let parts = [sent.get("metadata"), sent.get("preconditions")];
    let differs = |member: &&'static str| {
        let said = parts.iter().flatten().map(|part| text(part, member));
        let mut said = said.filter(|said| !said.is_empty());
        said.any(|said| said != object.meta_text(member))
    };
    matches!(answer, CoreAnswer::Other { .. }) && from.made_up().iter().any(differs)
}

/// Returns whether the answer is the object itself, and not what a client may ask for instead: its metadata, or rows
/// of a table (`k8s.io/apimachinery/pkg/apis/meta/v1/types.go PartialObjectMetadata`, `Table`, v0.36).
pub(in crate::audit) fn is_whole(answer: &Value) -> bool {
    !text(answer, "apiVersion").starts_with("meta.k8s.io/")
}

/// Returns whether an accepted write let an object go: it is being deleted, and its last finalizer was removed
/// (`k8s.io/apiserver/pkg/registry/generic/registry/store.go ShouldDeleteDuringUpdate`, v0.36).
pub(super) fn lets_go(object: &Value) -> bool {
    let metadata = object.metadata();
    let member = |name: &str| metadata.and_then(|metadata| metadata.get(name));
    let finalizers = member("finalizers").and_then(Value::as_array);
    let period = member("deletionGracePeriodSeconds").and_then(Value::as_u64);
    member("deletionTimestamp").is_some()
        && finalizers.is_none_or(Vec::is_empty)
        && period.unwrap_or_default() == 0
}
