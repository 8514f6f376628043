//! Conditions of what is said of texts: their cards, the notes beside their objects, their error
//! messages, and who owns what.

use optimist_apiserver::object::{Metadata, text};
use optimist_diagnose::message::reported_errors;
use serde_json::Value;

use super::owned::owners;
use super::pasted::Pasted;
use super::served::{bare_object, made, named_resource, resource_of_kind, send};
use crate::hearing::ConditionOf;
use crate::said::Said;

/// The message in small letters, without the marks around its words.
fn message(pasted: &Pasted) -> String {
    pasted.message.replace(['\\', '"', '\''], "").to_lowercase()
}

fn says(pasted: &Pasted, words: &[&str]) -> bool {
    let message = message(pasted);
    words
        .iter()
        .any(|word| message.contains(&word.to_lowercase()))
}

/// Returns whether a word can be the name of an object of most kinds, and of a namespace.
fn is_name(word: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let ends = |c: char| inside(c) && c != '-';
    word.len() < 64 && word.starts_with(ends) && word.ends_with(ends) && word.chars().all(inside)
}

/// Returns whether the message has the text of an argument.
fn repeats(said: &Said, argument: &str, pasted: &Pasted) -> bool {
    let quoted = said.text(argument).replace(['\\', '"', '\''], "");
    // A long text is cut, and a key of a list is written in another way.
    let head: String = quoted.split('…').next().unwrap_or_default().to_lowercase();
    message(pasted)
        .split_whitespace()
        .collect::<String>()
        .contains(&head.split_whitespace().collect::<String>())
}

fn entries(object: &Value) -> &[Value] {
    object["metadata"]["managedFields"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

fn title(object: &Value) -> String {
    let namespace = match object.namespace() {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    };
    format!("{} {namespace}{}", text(object, "kind"), object.name())
}

fn is_form(pasted: &Pasted, said: &Said, form: &str) -> bool {
    let line = said
        .message
        .arguments
        .contains(&"line")
        .then(|| said.number("line"));
    pasted.form.0 == form && line.is_none_or(|line| line == Some(pasted.form.1 as u64))
}

/// Returns whether a uid was sent, and no object is there.
fn is_gone(pasted: &Pasted) -> bool {
    let message = message(pasted);
    let stored = message
        .split_once("uid in object meta:")
        .map(|(_, stored)| stored);
    let none = |stored: &str| {
        let mut rest = stored.trim_start_matches([' ', 'n']).chars();
        rest.next().is_none_or(|c| !c.is_ascii_hexdigit())
    };
    stored.is_some_and(none) || message.contains("no existing object was found")
}

fn is_not_found(pasted: &Pasted) -> bool {
    says(pasted, &[" not found", " could not be found on the server"])
}

fn is_forbidden(pasted: &Pasted) -> bool {
    says(pasted, &[" is forbidden: ", " is invalid: : "])
}

/// Returns whether a message quotes a name that no object can have.
fn has_no_object_name(message: &str) -> bool {
    let mut quoted = message.split('"').skip(1).step_by(2);
    quoted.any(|name| {
        let object = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        optimist_simulation::World::load(&object.to_string()).is_err()
    })
}

fn has_text(pasted: &Pasted, words: &str) -> bool {
    pasted.texts.iter().any(|text| text.contains(words))
}

/// Returns whether a message names a manager that is the client's own name, as one that updates or
/// applies.
fn same_name(said: &Said, pasted: &Pasted, by_update: bool) -> Option<bool> {
    let manager = said.text("manager");
    let message = pasted.message.replace('\\', "");
    let named = message.contains(&format!("\"{manager}\""));
    Some(named && message.contains(&format!("\"{manager}\" using ")) == by_update)
}

/// Returns whether the text is a message of a tool, which no part of this page may know.
fn is_no_object(pasted: &Pasted) -> bool {
    !pasted.message.is_empty() && pasted.live.is_none() && !pasted.message.contains("apiVersion:")
}

/// Returns whether an object of the texts has neither a uid nor managedFields.
fn unmarked(pasted: &Pasted) -> bool {
    let objects = pasted
        .live
        .iter()
        .chain(&pasted.manifest)
        .chain(&pasted.versions);
    let mut objects = objects.map(|object| &object["metadata"]);
    objects.any(|meta| meta.get("uid").is_none() && meta.get("managedFields").is_none())
}

/// The version in the patch that kubectl apply printed with its error; `null` if the patch has none.
fn sent_version(pasted: &Pasted) -> Option<Value> {
    let patch = pasted.message.split_once("error when applying patch:\n")?.1;
    let patch: Value = serde_json::from_str(patch.lines().next()?).ok()?;
    Some(patch["metadata"]["resourceVersion"].clone())
}

/// The number of texts that are an object as somebody wants it.
fn manifests(pasted: &Pasted) -> usize {
    let texts = pasted.texts.iter();
    let objects = texts.filter_map(|it| serde_json::from_str::<Value>(it).ok());
    objects
        .filter(|it| it.uid().is_empty() && entries(it).is_empty())
        .count()
}

/// Returns whether the kind is not built in, and has no definition here.
fn schemaless(pasted: &Pasted) -> bool {
    let objects = pasted.live.iter().chain(&pasted.manifest);
    let mut versions = objects.map(|it| text(it, "apiVersion"));
    let of_log = |line: &Value| text(&line["objectRef"], "apiGroup").contains("example.com");
    versions.any(|version| version.contains("example.com")) || pasted.log.iter().any(of_log)
}

pub const DOCUMENT: &[(&str, ConditionOf<Pasted>)] = &[
    ("unknown_empty", |_, it| Some(it.texts[0].trim().is_empty())),
    ("card_definition", |_, it| {
        Some(has_text(it, "CustomResourceDefinition"))
    }),
    ("card_errors", |said, it| {
        let count = said.number("count")? as usize;
        // Go prints several errors as one: `[a, b]`.
        let is_aggregate = it.message.starts_with('[');
        let errors = it.message.matches(", ").count() + 1;
        Some(
            1 < count
                && count
                    <= it
                        .message
                        .matches("onflict")
                        .count()
                        .max(it.message.lines().count())
                        .max(it.message.matches("&&").count() + 1)
                        .max(if is_aggregate { errors } else { 0 }),
        )
    }),
    ("card_watch_ended", |said, it| {
        Some(has_text(it, "\"ERROR\"") && has_text(it, &said.text("message")))
    }),
    ("card_cut", |_, it| {
        let last = it.texts.first()?.lines().last()?;
        Some(it.events && serde_json::from_str::<Value>(last).is_err())
    }),
    ("card_watch_objects", |said, it| {
        let names: std::collections::BTreeSet<&str> =
            it.versions.iter().map(Metadata::name).collect();
        Some(names.len() as u64 == said.number("count")? && names.len() > 1)
    }),
    ("lanes_of_versions", |_, it| {
        Some(!it.versions.is_empty() && it.log.is_empty())
    }),
    ("audit_no_object", |_, it| {
        Some(
            !it.log
                .iter()
                .any(|line| line["objectRef"]["resource"].is_string()),
        )
    }),
    ("audit_writes", |said, it| {
        let object = said.text("object");
        let (of, name) = object.split_once(' ')?;
        let plural = of.split('.').next()?;
        let writes = it.log.iter().filter(|line| {
            let own = &line["objectRef"];
            let made = text(&line["responseObject"]["metadata"], "name");
            let named = [text(own, "name"), made]
                .iter()
                .any(|it| !it.is_empty() && name.ends_with(it));
            let verb = ["create", "update", "patch", "delete"].contains(&text(line, "verb"));
            text(own, "resource") == plural && named && verb
        });
        // A request that only begins, or that came twice, counts once.
        Some(said.number("count")? as usize <= writes.count())
    }),
    ("scene_none", |_, it| {
        // No such object can be there, so nobody can change it.
        let (resource, name) = named_resource(&it.message)?;
        Some(made(&resource, name).is_none())
    }),
    ("scene_accepted", |_, it| {
        // The one write of which a message is brought that is accepted here: an Update without a version.
        let (kind, rest) = it.message.strip_prefix("The ")?.split_once(" \"")?;
        let (name, why) = rest.split_once('"')?;
        let resource = resource_of_kind(kind)?;
        let unversioned = why.contains("resourceVersion") && why.contains("must be specified");
        let (mut server, path) = made(&resource, name)?;
        let object = bare_object(&resource, name);
        Some(unversioned && send(&mut server, "PUT", &path, &object) == 200)
    }),
    ("scene_before_not_found", |said, it| {
        // A PUT creates an object of these kinds (`AllowCreateOnUpdate`, v1.36), so that a uid is compared with none.
        let created = [
            "leases.",
            "leasecandidates.",
            "endpoints",
            "events",
            "limitranges",
            "services",
            "runtimeclasses.",
            "clusterroles.",
            "clusterrolebindings.",
            "roles.",
            "rolebindings.",
        ];
        let object = said.text("message");
        let object = object.strip_suffix(" not found")?;
        let before = [
            "UID in precondition: ",
            "ResourceVersion: 0, ",
            "invalid object, Code: 4",
        ];
        Some(
            is_gone(it)
                && before.iter().all(|words| it.message.contains(words))
                && it.message.replace("\\\"", "\"").contains(object)
                && !created.iter().any(|kind| object.starts_with(kind)),
        )
    }),
    ("scene_otherwise", |said, it| {
        // What the page's server says is another message than the one that was brought.
        Some(!it.message.is_empty() && !it.message.contains(&said.text("message")))
    }),
    ("ways_of_message", |said, it| {
        let live = it.live.as_ref()?;
        Some(
            !it.message.is_empty()
                && it.manifest.is_none()
                && live.resource_version() == said.text("version"),
        )
    }),
    ("ways_same_name_update", |said, it| {
        same_name(said, it, true)
    }),
    ("ways_same_name_apply", |said, it| {
        same_name(said, it, false)
    }),
    ("ways_contradicts", |said, it| {
        let fields = said.text("said");
        let named = fields.replace(" and ", ", ");
        let all = named
            .split(", ")
            .all(|field| it.message.contains(field.trim()));
        // The same code is otherwise if it is for other fields.
        let otherwise = match said.inner("code") {
            Some(code) if code.name() == "code_for" => code.text("fields") != fields,
            _ => said.text("code") != "409",
        };
        Some(all && otherwise && says(it, &["conflict"]))
    }),
    ("happened_flips", |said, it| {
        Some((1..=it.versions.len() as u64).contains(&said.number("count")?))
    }),
    ("card_live", |said, it| {
        let live = it.live.as_ref()?;
        let count = entries(live).len() as u64 == said.number("count")?;
        Some(count && live.resource_version() == said.text("version"))
    }),
    ("card_live_unowned", |said, it| {
        let live = it.live.as_ref()?;
        Some(entries(live).is_empty() && live.resource_version() == said.text("version"))
    }),
    ("card_live_unversioned", |said, it| {
        let live = it.live.as_ref()?;
        let count = entries(live).len() as u64 == said.number("count")?;
        Some(count && live.resource_version().is_empty())
    }),
    ("card_live_bare", |_, it| {
        let live = it.live.as_ref()?;
        Some(entries(live).is_empty() && live.resource_version().is_empty())
    }),
    ("card_live_ask", |_, it| {
        Some(entries(it.live.as_ref()?).is_empty())
    }),
    ("card_watch", |said, it| {
        Some(it.events && said.text("title") == title(it.versions.first()?))
    }),
    ("card_history", |said, it| {
        Some(!it.events && said.text("title") == title(it.versions.first()?))
    }),
    ("card_history_versions", |said, it| {
        let ends = [it.versions.first()?, it.versions.last()?].map(Metadata::resource_version);
        let count = it.versions.len() as u64 == said.number("count")?;
        Some(
            count
                && ends
                    == [said.text("first"), said.text("last")]
                        .each_ref()
                        .map(String::as_str),
        )
    }),
    ("card_audit_lines", |said, it| {
        Some(it.texts[0].lines().count() as u64 == said.number("count")?)
    }),
    ("unknown_list", |said, it| Some(is_form(it, said, "list"))),
    ("unknown_table", |said, it| Some(is_form(it, said, "table"))),
    ("unknown_description", |said, it| {
        Some(is_form(it, said, "description"))
    }),
    ("unknown_diff", |said, it| Some(is_form(it, said, "diff"))),
    ("unknown_no_resources", |said, it| {
        Some(is_form(it, said, "no resources"))
    }),
    ("unknown_markup", |said, it| {
        Some(is_form(it, said, "markup"))
    }),
    ("unknown_cut", |said, it| Some(is_form(it, said, "cut"))),
    ("unknown_template", |said, it| {
        Some(is_form(it, said, "template"))
    }),
    ("unknown_quotation", |said, it| {
        Some(is_form(it, said, "quotation mark"))
    }),
    ("unknown_control", |said, it| {
        let line = it.texts[0].lines().nth(said.number("line")? as usize - 1)?;
        let has = |c: char| format!("U+{:04X}", u32::from(c)) == said.text("code");
        Some(line.chars().any(has))
    }),
    ("unknown_file", |said, it| Some(is_form(it, said, "file"))),
    ("unknown_syntax", |said, it| {
        Some(is_form(it, said, "syntax") || is_form(it, said, "control") || is_no_object(it))
    }),
    ("unknown_syntax_line", |said, it| {
        Some(is_form(it, said, "syntax"))
    }),
    ("unknown_missing", |said, it| {
        let fields = said.text("fields");
        Some(is_form(it, said, "missing") && fields == "apiVersion")
    }),
    ("unknown_about", |said, it| {
        let command = said.text("command");
        let name = command.split(' ').nth(3)?;
        let says = |part: &str| it.texts[0].contains(&format!("\"{part}\""));
        Some(is_form(it, said, "about objects") && says(&said.text("kind")) && says(name))
    }),
    ("unknown_event", |said, it| {
        Some(is_form(it, said, "event") && it.texts[0].contains(&said.text("of")))
    }),
    ("unknown_text", |said, it| {
        Some(is_form(it, said, "text") || is_no_object(it))
    }),
    ("error_apply", |said, it| {
        // One text can have several messages, and the same one again in other words.
        let count = said.number("count")?;
        let fields = it.message.matches(": .").count() + it.message.matches("- .").count();
        Some(says(it, &["conflict"]) && 0 < count && count as usize <= fields.max(1))
    }),
    ("error_modified", |_, it| {
        Some(says(
            it,
            &["the object has been modified", "modified since"],
        ))
    }),
    ("error_other_uid", |_, it| {
        Some(says(it, &["uid in precondition", "uid mismatch"]))
    }),
    ("error_gone", |_, it| Some(is_gone(it))),
    ("error_precondition_uid", |_, it| {
        Some(says(it, &["precondition", "uid"]))
    }),
    ("error_precondition_version", |_, it| {
        Some(says(it, &["resourceversion"]))
    }),
    ("advice_precondition_uid", |_, it| {
        Some(says(it, &["the uid in the precondition"]))
    }),
    ("advice_precondition_version", |_, it| {
        let words = [
            "the resourceversion in the precondition",
            "resourceversion in precondition",
        ];
        Some(says(it, &words))
    }),
    ("error_version_missing", |_, it| {
        Some(says(it, &["must be specified for an update", "0x0"]))
    }),
    ("error_force", |_, it| Some(says(it, &["force"]))),
    ("error_invalid", |said, it| {
        Some(says(it, &["invalid"]) && repeats(said, "field", it))
    }),
    ("error_other_conflict", |_, it| {
        Some(says(it, &["cannot be fulfilled"]))
    }),
    ("error_forbidden", |_, it| Some(is_forbidden(it))),
    ("error_no_right", |said, it| {
        Some(says(it, &[" cannot "]) && repeats(said, "verb", it))
    }),
    ("advice_no_right", |_, it| Some(says(it, &[" cannot "]))),
    ("error_schema", |said, it| {
        Some(says(it, &["typed patch object", "typed live object"]) && repeats(said, "field", it))
    }),
    ("advice_schema_field", |_, it| {
        Some(says(it, &["field not declared in schema"]))
    }),
    ("advice_schema_duplicate", |_, it| {
        Some(says(it, &["duplicate entries"]))
    }),
    ("advice_schema_stored", |_, it| {
        Some(says(it, &["typed live object"]))
    }),
    ("error_version_on_create", |_, it| {
        Some(says(it, &["objects to be created"]))
    }),
    ("advice_version_on_create", |_, it| {
        Some(says(it, &["objects to be created"]))
    }),
    ("error_not_served", |_, it| {
        Some(says(it, &["could not find the requested resource"]))
    }),
    ("advice_not_served", |_, it| {
        Some(says(it, &["could not find the requested resource"]))
    }),
    ("error_webhook", |said, it| {
        Some(says(it, &["denied the request"]) && repeats(said, "webhook", it))
    }),
    ("advice_webhook", |_, it| {
        Some(says(it, &["denied the request"]))
    }),
    ("error_webhook_failed", |said, it| {
        Some(says(it, &["failed calling webhook"]) && repeats(said, "webhook", it))
    }),
    ("advice_webhook_failed", |_, it| {
        Some(says(it, &["failed calling webhook"]))
    }),
    ("error_expired", |_, it| Some(says(it, &["too old"]))),
    ("advice_expired", |_, it| {
        Some(says(
            it,
            &["too old resource version", "resourceVersion for the"],
        ))
    }),
    ("advice_expired_list", |_, it| {
        Some(says(it, &["continue parameter is too old"]))
    }),
    ("error_too_many", |_, it| {
        Some(says(it, &["too many requests"]))
    }),
    ("advice_too_many", |_, it| {
        Some(says(it, &["too many requests"]))
    }),
    ("error_held_back", |_, it| {
        Some(says(it, &["client-side throttling"]))
    }),
    ("advice_held_back", |_, it| {
        Some(says(it, &["client-side throttling"]))
    }),
    ("error_not_sent", |_, it| {
        Some(says(it, &["client rate limiter wait"]))
    }),
    ("advice_not_sent", |_, it| {
        Some(says(it, &["client rate limiter wait"]))
    }),
    ("error_timed_out", |_, it| {
        Some(says(
            it,
            &["did not complete within", "in the time allotted"],
        ))
    }),
    ("advice_timed_out", |_, it| {
        Some(says(
            it,
            &["did not complete within", "in the time allotted"],
        ))
    }),
    ("error_deadline", |_, it| {
        Some(says(it, &["deadline exceeded"]))
    }),
    ("advice_deadline", |_, it| Some(waited_for(it, None))),
    ("advice_deadline_read", |said, it| {
        let method = said.text("method");
        let reads = method == "Get" || method == "Head";
        Some(reads && waited_for(it, Some(&method)))
    }),
    ("advice_deadline_write", |said, it| {
        let method = said.text("method");
        let reads = method == "Get" || method == "Head";
        Some(!reads && waited_for(it, Some(&method)))
    }),
    ("error_not_found", |_, it| Some(is_not_found(it))),
    ("advice_not_found", |_, it| Some(is_not_found(it))),
    ("error_release_pending", |_, it| {
        Some(says(it, &["another operation (install"]))
    }),
    ("advice_release_pending", |_, it| {
        Some(says(it, &["another operation (install"]))
    }),
    ("error_no_deployed_release", |_, it| {
        Some(says(it, &["has no deployed releases"]))
    }),
    ("advice_no_deployed_release", |_, it| {
        Some(says(it, &["has no deployed releases"]))
    }),
    ("error_release_in_use", |_, it| {
        Some(says(it, &["a name that is still in use"]))
    }),
    ("advice_release_in_use", |_, it| {
        Some(says(it, &["a name that is still in use"]))
    }),
    ("error_revision_exists", |_, it| {
        Some(says(it, &["release: already exists"]))
    }),
    ("advice_revision_exists", |_, it| {
        Some(says(it, &["release: already exists"]))
    }),
    ("error_state_locked", |_, it| {
        Some(says(it, &["acquiring the state lock"]))
    }),
    ("advice_state_locked", |_, it| {
        Some(says(it, &["acquiring the state lock"]))
    }),
    ("error_conflict_alone", |_, it| {
        Some(says(it, &["(409 conflict) for url ("]))
    }),
    ("advice_conflict_alone", |_, it| {
        Some(says(it, &["(409 conflict) for url ("]))
    }),
    ("error_other_than_planned", |said, it| {
        Some(says(it, &["inconsistent result after apply"]) && repeats(said, "field", it))
    }),
    ("advice_other_than_planned", |_, it| {
        Some(says(it, &["inconsistent result after apply"]))
    }),
    ("error_budget", |_, it| {
        Some(says(it, &["disruption budget"]))
    }),
    ("advice_budget", |_, it| {
        Some(says(it, &["disruption budget"]))
    }),
    ("error_internal", |_, it| {
        Some(says(it, &["internal error occurred: "]))
    }),
    ("advice_internal", |_, it| {
        Some(says(it, &["internal error occurred: "]) && !says(it, &["occurred: testing value"]))
    }),
    ("advice_internal_patch", |_, it| {
        let of_patch = ["occurred: testing value", "operation does not apply"];
        Some(says(it, &["internal error occurred: "]) && says(it, &of_patch))
    }),
    ("error_unknown_field", |said, it| {
        Some(says(it, &["unknown field"]) && repeats(said, "field", it))
    }),
    ("advice_unknown_field", |_, it| {
        Some(says(it, &["strict decoding error: unknown"]))
    }),
    ("error_duplicate_field", |said, it| {
        Some(says(it, &["duplicate field"]) && repeats(said, "field", it))
    }),
    ("advice_duplicate_field", |_, it| {
        Some(says(it, &["strict decoding error: duplicate"]))
    }),
    ("error_test", |said, it| {
        let inside = says(it, &["internal error occurred: testing value"]);
        Some(repeats(said, "path", it) && !inside)
    }),
    ("advice_test", |_, it| {
        let inside = says(it, &["internal error occurred: testing value"]);
        Some(says(it, &["testing value"]) && !inside)
    }),
    ("advice_patch", |_, it| {
        let manifest = says(it, &["error when patching ", "cannot patch "]);
        Some(says(it, &["due to an error in our request"]) && !manifest)
    }),
    ("advice_patch_of_manifest", |_, it| {
        let manifest = says(it, &["error when patching ", "cannot patch "]);
        Some(says(it, &["due to an error in our request"]) && manifest)
    }),
    ("error_not_of_release", |_, it| {
        Some(says(
            it,
            &[
                "invalid ownership metadata",
                "cannot be imported",
                "exists and",
            ],
        ))
    }),
    ("error_already_exists", |_, it| {
        Some(says(it, &["already exists"]))
    }),
    ("error_terminating", |_, it| {
        Some(says(it, &["being deleted"]))
    }),
    ("error_patch", |_, it| {
        Some(says(
            it,
            &["patch", "test", "due to an error in our request"],
        ))
    }),
    ("error_patch_of_manifest", |_, it| {
        Some(says(it, &["error when patching ", "cannot patch "]))
    }),
    ("error_managed_fields", |_, it| {
        Some(says(it, &["managedfields must be nil"]))
    }),
    ("error_other_than_expected", |said, it| {
        Some(repeats(said, "what", it) && says(it, &["expected"]))
    }),
    ("error_not_overwritten", |said, it| {
        Some(repeats(said, "key", it))
    }),
    ("error_values", |said, it| {
        Some(repeats(said, "sent", it) && repeats(said, "stored", it))
    }),
    ("error_value_sent", |said, it| {
        Some(repeats(said, "sent", it))
    }),
    ("error_expected", |said, it| {
        Some(repeats(said, "expected", it) && repeats(said, "found", it))
    }),
    ("error_owned_value", |said, it| {
        Some(repeats(said, "key", it) && repeats(said, "value", it))
    }),
    ("error_manager", |said, it| Some(repeats(said, "name", it))),
    ("error_object_unknown", |_, it| {
        Some(!it.message.contains("namespaces/"))
    }),
    ("error_missing_namespace", |_, it| {
        Some(!it.message.contains("namespaces/") && !it.message.contains(" -n "))
    }),
    ("error_missing_tool", |_, it| {
        Some(!says(
            it,
            &[
                "upgrade failed",
                "terraform",
                "pulumi",
                "kubectl apply",
                "argocd",
            ],
        ))
    }),
    ("error_namespace_of_run", |_, it| {
        let names = ["namespace", "Namespace", "request", "key", "syncing"];
        Some(names.iter().any(|name| it.message.contains(name)))
    }),
    ("error_missing", |said, _| {
        Some(!said.text("what").is_empty())
    }),
    ("error_missing_kind", |_, it| {
        Some(!it.message.contains("Kind=") && !it.message.contains("\"kind\""))
    }),
    ("error_missing_name", |_, it| {
        Some(!it.message.contains(" name="))
    }),
    ("tool_kubectl", |_, it| {
        Some(says(
            it,
            &[
                "kubectl",
                "error:",
                "error from server",
                "error when",
                "please review the fields",
                "is invalid",
            ],
        ))
    }),
    ("tool_helm", |_, it| {
        Some(says(it, &["helm", "upgrade", "install", "release"]))
    }),
    ("tool_terraform", |_, it| {
        Some(says(
            it,
            &[
                "terraform",
                "field_manager",
                "kubernetes_",
                "manifest",
                "tofu",
                "with ",
            ],
        ))
    }),
    ("tool_terraform_kubectl", |_, it| {
        Some(says(
            it,
            &["kubectl_manifest", "kubectl_", "failed to run apply"],
        ))
    }),
    ("tool_kube_rs", |_, it| {
        Some(says(it, &["errorresponse", "api(", "kube", "apierror"]))
    }),
    ("tool_fabric8", |_, it| {
        Some(says(
            it,
            &["fabric8", "kubernetesclientexception", "failure executing"],
        ))
    }),
    ("tool_argo_cd", |_, it| {
        Some(says(
            it,
            &[
                "argo",
                "sync",
                "comparisonerror",
                "one or more objects failed to apply",
            ],
        ))
    }),
    ("tool_flux", |_, it| {
        Some(says(
            it,
            &[
                "flux",
                "kustomization",
                "dry-run failed",
                "apply failed, error: ",
                "helmrelease",
                "toolkit",
            ],
        ))
    }),
    ("tool_pulumi", |_, it| {
        let created = "successfully created by the kubernetes api server :";
        Some(says(it, &["pulumi", "urn:", "kubernetes:", created]))
    }),
    ("tool_kapp", |_, it| {
        Some(says(it, &["kapp: ", "api server says: "]))
    }),
    ("tool_ansible", |_, it| {
        Some(says(it, &["fatal:", "ansible", "failed to ", "msg"]))
    }),
    ("tool_controller_runtime", |_, it| {
        Some(says(
            it,
            &[
                "reconcil",
                "controller",
                "level=",
                "requeu",
                "error syncing",
                "workqueue",
            ],
        ))
    }),
    ("tool_kube_controller_manager", |_, it| {
        Some(says(
            it,
            &[
                "replica_set.go",
                "_controller",
                "garbagecollector",
                "error syncing",
                "sync ",
            ],
        ))
    }),
    ("advice_routine", |_, it| {
        Some(says(
            it,
            &["the object has been modified", "modified since"],
        ))
    }),
    ("advice_quota", |_, it| {
        Some(says(it, &["fulfilled on resourcequotas "]) && says(it, &["has been modified"]))
    }),
    ("advice_lease", |_, it| {
        let lease = "fulfilled on leases.coordination.k8s.io ";
        Some(says(it, &[lease]) && says(it, &["has been modified"]))
    }),
    ("advice_gone", |_, it| Some(is_gone(it))),
    ("advice_other_uid", |_, it| {
        Some(says(it, &["uid in precondition"]))
    }),
    ("advice_immutable", |_, it| {
        Some(says(
            it,
            &["field is immutable", "updates to statefulset spec"],
        ))
    }),
    ("advice_version", |_, it| {
        Some(says(it, &["must be specified for an update", "0x0"]))
    }),
    ("advice_version_in_manifest", |_, it| {
        Some(sent_version(it)?.is_string() && says(it, &["the object has been modified"]))
    }),
    ("advice_no_version_in_patch", |_, it| {
        Some(sent_version(it)?.is_null() && says(it, &["the object has been modified"]))
    }),
    ("advice_helm_release", |_, it| {
        Some(says(it, &["fulfilled on secrets "]) && says(it, &["sh.helm.release.v1."]))
    }),
    ("advice_helm_modified", |_, it| {
        Some(
            says(it, &["helm", "upgrade failed", "with kind"])
                && says(it, &["the object has been modified"]),
        )
    }),
    ("advice_managed_fields", |_, it| {
        Some(says(it, &["managedfields must be nil"]))
    }),
    ("advice_exists", |_, it| {
        Some(says(it, &["already exists"]) && !says(it, &["being deleted"]))
    }),
    ("advice_terminating", |_, it| {
        Some(says(it, &["being deleted"]))
    }),
    ("advice_force", |_, it| Some(says(it, &["force"]))),
    ("error_get", |_, it| {
        // One text can be about an object that is gone and about others.
        let several = || reported_errors(&it.message).len() > 1;
        Some(!it.message.is_empty() && (!is_gone(it) && !is_forbidden(it) || several()))
    }),
    ("error_get_gone", |_, it| {
        Some(is_gone(it) || is_forbidden(it) || is_not_found(it))
    }),
    ("owners_in_message_text", |_, it| {
        Some(says(it, &["conflict"]))
    }),
    ("note_no_managed_fields", |_, it| {
        let objects = it.live.iter().chain(&it.versions);
        Some(objects.into_iter().any(|object| entries(object).is_empty()))
    }),
    ("note_deleted", |_, it| Some(it.deleted)),
    ("note_two_manifests", |_, it| Some(manifests(it) == 2)),
    ("note_several_manifests", |said, it| {
        let count = manifests(it);
        Some(count > 2 && said.number("count") == Some(count as u64))
    }),
    ("note_uid", |_, it| Some(it.live.as_ref()?.uid().is_empty())),
    ("note_namespace", |_, it| {
        Some(it.live.as_ref()?.namespace().is_empty())
    }),
    ("note_schemaless", |said, it| {
        let kind = it.live.as_ref().map_or("Widget", |live| text(live, "kind"));
        Some(schemaless(it) && said.text("kind") == kind)
    }),
    ("note_plural", |said, it| {
        let kind = it.live.as_ref().map_or("Widget", |live| text(live, "kind"));
        Some(schemaless(it) && said.text("plural") == kind.to_lowercase() + "s")
    }),
    ("note_lists_from_owners", |_, it| {
        Some(schemaless(it) && it.texts.iter().any(|text| text.contains("k:{")))
    }),
    ("note_unknown_fields", |said, it| {
        Some(
            said.text("fields")
                .contains(match text(it.live.as_ref()?, "kind") {
                    "ConfigMap" => "\"spec\"",
                    _ => "fromAnotherRelease",
                })
                && it.live.as_ref()?["spec"]["fromAnotherRelease"] == 1,
        )
    }),
    ("ways_no_definition", |said, it| {
        Some(schemaless(it) && said.text("kind") == "Widget")
    }),
    ("ways_no_owners", |_, it| {
        // The object of a log is in its answers.
        let mut objects = it.live.iter().chain(&it.versions);
        Some(objects.any(|object| entries(object).is_empty()))
    }),
    ("ways_of", |said, it| {
        Some(it.manifest.is_some() && it.live.as_ref()?.resource_version() == said.text("version"))
    }),
    ("ways_of_scene", |_, it| {
        Some(!it.message.is_empty() && it.live.is_none())
    }),
    ("owners_of", |said, it| {
        let live = it.live.as_ref();
        Some(live.is_none_or(|live| live.resource_version() == said.text("version")))
    }),
    ("owners_chip", |said, it| {
        let Some(live) = &it.live else {
            // The object of a log is one of its lines, or follows from them.
            return Some(!it.message.is_empty() || !it.log.is_empty());
        };
        let name = said.text("name");
        let name = name.split(" · ").next().unwrap_or_default();
        // What it does tells it apart from another one of its name.
        let name = name.split(" (").next().unwrap_or_default();
        let mut of = entries(live)
            .iter()
            .filter(|entry| text(entry, "manager") == name)
            .map(|entry| members(&entry["fieldsV1"]));
        // A value that is owned with what is around it counts once.
        Some(of.any(|members| {
            said.number("count")
                .is_some_and(|count| count as usize <= members)
        }))
    }),
    ("owners_entry", |said, it| entry(said, it, true)),
    ("owners_entry_timeless", |said, it| entry(said, it, false)),
    ("owners_no_live", |_, it| {
        Some(it.live.is_none() || unmarked(it))
    }),
    ("owners_not_served", |said, it| {
        // A group of which a release serves nothing has no kind of that name either.
        let (version, kind) = (said.text("version"), said.text("kind"));
        let group = version.split('/').next().unwrap_or_default();
        let manifest =
            serde_json::json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}});
        let unknown = optimist_simulation::World::load(&manifest.to_string()).is_err();
        Some(unknown && (has_text(it, &version) || it.message.contains(&format!(".{group}"))))
    }),
    ("report_more", |said, it| {
        let objects = it
            .objects
            .max(it.message.matches("\" already exists").count())
            .max(it.message.matches(" object ").count())
            .max(it.message.lines().count());
        Some((1..objects as u64).contains(&said.number("count")?))
    }),
    ("report_owners", |said, it| {
        let Some(live) = &it.live else {
            return Some(!it.message.is_empty() || !it.log.is_empty());
        };
        let lines = crate::judge::leaves(live).len() + 12;
        Some((1..lines as u64).contains(&said.number("count")?))
    }),
    ("owners_refused", |_, it| {
        let Some(live) = &it.live else {
            return Some(has_no_object_name(&it.message));
        };
        let entries = entries(live).iter();
        let mut unreadable = entries.filter(|entry| !entry["fieldsV1"].is_object());
        Some(
            unreadable.next().is_some()
                || optimist_simulation::World::load(&live.to_string()).is_err(),
        )
    }),
    ("load_refused", |said, it| {
        let live = it.live.as_ref()?.to_string();
        let refused = optimist_simulation::World::load(&live).err()?.to_string();
        Some(said.number("code")? >= 400 && refused.contains(&said.text("message")))
    }),
    ("next_says", |_, it| {
        Some(says(it, &["the object has been modified"]))
    }),
    ("card_manifest", |_, it| Some(unmarked(it))),
    ("card_unknown", |_, it| {
        Some(!it.form.0.is_empty() || is_no_object(it))
    }),
    ("assume_previous_release", |_, it| {
        let manifests = it
            .texts
            .iter()
            .filter(|text| !text.contains("\"uid\"") && !text.contains("managedFields"))
            .filter(|text| text.contains("\"kind\""));
        // Those of another object are no earlier ones.
        let named = |text: &String| {
            let object: Option<Value> = serde_json::from_str(text).ok();
            object.map_or_else(String::new, |object| object.name().to_owned())
        };
        let names: Vec<String> = manifests.map(named).collect();
        let of_one = |name: &String| names.iter().filter(|it| *it == name).count();
        Some(names.iter().all(|name| of_one(name) < 2))
    }),
    ("assume_in_state", |_, it| {
        Some(!has_text(it, "\"manager\":\"Terraform\""))
    }),
    ("assume_unknown_release", |_, it| {
        Some(!has_text(it, "meta.helm.sh/release-name"))
    }),
    ("assume_unknown_kustomization", |_, it| {
        Some(!has_text(it, "kustomize.toolkit.fluxcd.io/name"))
    }),
    ("assume_unknown_application", |_, it| {
        Some(!has_text(it, "argocd.argoproj.io/tracking-id"))
    }),
    ("scene_made", |_, it| Some(!it.message.is_empty())),
    ("scene_needs_objects", |_, it| Some(!it.message.is_empty())),
    ("scene_other_part", |_, it| Some(!it.message.is_empty())),
    ("scene_not_of_object", |_, it| {
        let words = [
            "webhook",
            "too old",
            "too many requests",
            "throttling",
            "rate limiter",
            "did not complete within",
            "in the time allotted",
            "deadline exceeded",
            "internal error occurred",
            "disruption budget",
        ];
        Some(says(it, &words))
    }),
    ("scene_not_of_the_server", |_, it| {
        // A comparison of the tool has no answer of the server in it.
        Some(!says(
            it,
            &[
                "apply failed with",
                "the object has been modified",
                "internal error occurred",
            ],
        ))
    }),
    ("scene_kind_assumed", |said, it| {
        Some(!it.message.contains(&format!("Kind={}", said.text("kind"))))
    }),
    ("scene_manager", |said, it| {
        let named = format!("field-manager={}", said.text("manager"));
        Some(!it.message.contains(&named))
    }),
    ("unused_of_several", |said, it| {
        let names: Vec<String> = said.text("names").split(", ").map(str::to_owned).collect();
        let unsaid =
            |named: &String| is_manifest(it, named) && !it.message.contains(name_of(named));
        Some(names.len() > 1 && names.iter().all(unsaid))
    }),
    ("unused_other_object", |said, it| {
        let named = said.text("name");
        Some(is_manifest(it, &named) && !it.message.contains(name_of(&named)))
    }),
    ("unused_other_objects", |said, it| {
        let manifests = manifests_of(it).into_iter();
        let others = manifests.filter(|one| !it.message.contains(one.name()));
        Some(others.count() as u64 == said.number("count")?)
    }),
    ("unused_earlier", |said, it| {
        let named = said.text("name");
        let manifests = manifests_of(it).into_iter();
        let same = manifests.filter(|one| one.name() == name_of(&named));
        Some(same.count() > 1)
    }),
    ("unused_without_field", |said, it| {
        let (named, field) = (said.text("name"), said.text("field"));
        let mut manifests = manifests_of(it).into_iter();
        let manifest = manifests.rfind(|one| one.name() == name_of(&named))?;
        let absent = manifest.pointer(&field.replace('.', "/")).is_none();
        Some(absent && it.message.contains(&field))
    }),
    ("scene_refused_name", |said, it| {
        let name = said.text("name");
        Some(!is_name(&name) && has_text(it, &name))
    }),
    ("scene_refused_namespace", |said, it| {
        let namespace = said.text("namespace");
        Some(!is_name(&namespace) && has_text(it, &namespace))
    }),
    ("scene_values", |_, it| {
        Some(!it.message.is_empty() && it.live.is_none())
    }),
    ("scene_object_values", |_, it| {
        Some(!it.message.is_empty() && it.live.is_none() && it.manifest.is_some())
    }),
    ("scene_assumed", |said, it| {
        // What is made up is not in the message.
        Some(
            !it.message
                .contains(&format!("namespaces/{}/", said.text("part"))),
        )
    }),
];

/// Returns whether a deadline passed while the answer to a request with this method was waited for; without a method,
/// whether one passed and the message names no such request.
fn waited_for(it: &Pasted, method: Option<&str>) -> bool {
    let message = it.message.replace('\\', "");
    let late = "context deadline exceeded";
    let mut behind = message
        .match_indices("\": context deadline")
        .map(|(at, _)| {
            let (before, url) = message[..at].rsplit_once(" \"").unwrap_or_default();
            before
                .rsplit([' ', '"', '='])
                .next()
                .filter(|_| url.starts_with("http"))
        });
    match method {
        Some(_) => behind.any(|word| word == method),
        None => message.matches(late).count() > behind.flatten().count(),
    }
}

fn entry(said: &Said, it: &Pasted, timed: bool) -> Option<bool> {
    let Some(live) = &it.live else {
        return Some(!it.message.is_empty() || !it.log.is_empty());
    };
    let owned = owners(live);
    let found = entries(live).iter().any(|entry| {
        let since = text(entry, "time");
        let own = owned.values().filter(|all| {
            all.len() == 1
                && all.iter().any(|of| {
                    of.manager == text(entry, "manager") && of.operation == text(entry, "operation")
                })
        });
        // A map or an item is a field of its own, beside what is in it.
        let around = members(&entry["fieldsV1"]) - leaves_of(&entry["fieldsV1"], live);
        let enough = said
            .number("alone")
            .is_some_and(|alone| alone as usize <= own.count() + around);
        text(entry, "operation") == said.text("operation")
            && text(entry, "apiVersion") == said.text("version")
            && (!timed || since == said.text("since"))
            && timed != since.is_empty()
            && enough
    });
    Some(found)
}

/// Returns how many fields a tree of fields names.
fn members(fields: &Value) -> usize {
    let Some(members) = fields.as_object() else {
        return 0;
    };
    match members.is_empty() {
        true => 1,
        false => members.values().map(self::members).sum(),
    }
}

/// Returns how many of them are values without further ones in them.
fn leaves_of(fields: &Value, object: &Value) -> usize {
    let Some(members) = fields.as_object() else {
        return 0;
    };
    if members.is_empty() {
        let holds = object.as_object().is_some_and(|it| !it.is_empty());
        return usize::from(!holds && !object.is_array() && !object.is_null());
    }
    let below = members.iter().filter_map(|(name, below)| {
        let field = name.strip_prefix("f:")?;
        Some(leaves_of(below, object.get(field)?))
    });
    below.sum()
}

/// The manifests among the texts, which are JSON.
fn manifests_of(it: &Pasted) -> Vec<Value> {
    let texts = it.texts.iter();
    let objects = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
    objects.filter(|object| object.is_object()).collect()
}

/// The name in `Deployment shop/web`.
fn name_of(named: &str) -> &str {
    named.rsplit(['/', ' ']).next().unwrap_or(named)
}

fn is_manifest(it: &Pasted, named: &str) -> bool {
    let mut manifests = manifests_of(it).into_iter();
    manifests.any(|one| one.name() == name_of(named))
}
