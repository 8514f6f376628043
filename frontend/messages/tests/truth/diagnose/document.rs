//! Conditions of what is said of texts: their cards, the notes beside their objects, their error
//! messages, and who owns what.

use optimist_apiserver::object::{Metadata, text};
use serde_json::Value;

use super::owned::owners;
use super::pasted::Pasted;
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

/// Whether the message has the text of an argument.
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

/// Whether a uid was sent, and no object is there.
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

fn has_text(pasted: &Pasted, words: &str) -> bool {
    pasted.texts.iter().any(|text| text.contains(words))
}

/// Whether the kind is not built in, and has no definition here.
fn schemaless(pasted: &Pasted) -> bool {
    let objects = pasted.live.iter().chain(&pasted.manifest);
    let mut versions = objects.map(|it| text(it, "apiVersion"));
    versions.any(|version| version.contains("example.com"))
}

pub const DOCUMENT: &[(&str, ConditionOf<Pasted>)] = &[
    ("card_live", |said, it| {
        let live = it.live.as_ref()?;
        let count = entries(live).len() as u64 == said.number("count")?;
        Some(count && live.resource_version() == said.text("version"))
    }),
    ("card_live_unowned", |said, it| {
        let live = it.live.as_ref()?;
        Some(entries(live).is_empty() && live.resource_version() == said.text("version"))
    }),
    ("card_live_ask", |_, it| {
        Some(entries(it.live.as_ref()?).is_empty())
    }),
    ("card_several", |said, it| {
        Some(it.objects as u64 == said.number("count")?)
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
    ("unknown_no_resources", |said, it| {
        Some(is_form(it, said, "no resources"))
    }),
    ("unknown_markup", |said, it| {
        Some(is_form(it, said, "markup"))
    }),
    ("unknown_cut", |said, it| Some(is_form(it, said, "cut"))),
    ("unknown_quotation", |said, it| {
        Some(is_form(it, said, "quotation mark"))
    }),
    ("unknown_control", |said, it| {
        Some(is_form(it, said, "control"))
    }),
    ("unknown_file", |said, it| Some(is_form(it, said, "file"))),
    ("unknown_syntax", |said, it| {
        Some(is_form(it, said, "syntax") || is_form(it, said, "control"))
    }),
    ("unknown_syntax_line", |said, it| {
        Some(is_form(it, said, "syntax"))
    }),
    ("unknown_missing", |said, it| {
        let fields = said.text("fields");
        Some(is_form(it, said, "missing") && fields == "apiVersion")
    }),
    ("unknown_event", |said, it| {
        Some(is_form(it, said, "event") && it.texts[0].contains(&said.text("of")))
    }),
    ("unknown_text", |said, it| Some(is_form(it, said, "text"))),
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
                "helmrelease",
                "toolkit",
            ],
        ))
    }),
    ("tool_pulumi", |_, it| {
        Some(says(it, &["pulumi", "urn:", "kubernetes:"]))
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
    ("advice_gone", |_, it| Some(is_gone(it))),
    ("advice_other_uid", |_, it| {
        Some(says(it, &["uid in precondition"]))
    }),
    ("advice_version", |_, it| {
        Some(says(it, &["must be specified for an update", "0x0"]))
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
    ("error_get", |_, it| Some(!it.message.is_empty())),
    ("owners_in_message_text", |_, it| {
        Some(says(it, &["conflict"]))
    }),
    ("note_no_managed_fields", |_, it| {
        let objects = it.live.iter().chain(&it.versions);
        Some(objects.into_iter().any(|object| entries(object).is_empty()))
    }),
    ("note_deleted", |_, it| Some(it.deleted)),
    ("note_uid", |_, it| Some(it.live.as_ref()?.uid().is_empty())),
    ("note_namespace", |_, it| {
        Some(it.live.as_ref()?.namespace().is_empty())
    }),
    ("note_schemaless", |said, it| {
        Some(schemaless(it) && said.text("kind") == text(it.live.as_ref()?, "kind"))
    }),
    ("note_plural", |said, it| {
        Some(
            schemaless(it)
                && said.text("plural") == text(it.live.as_ref()?, "kind").to_lowercase() + "s",
        )
    }),
    ("note_lists_from_owners", |_, it| {
        Some(schemaless(it) && it.live.as_ref()?.to_string().contains("\"k:{"))
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
        Some(entries(it.live.as_ref()?).is_empty())
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
        let owned = owners(live);
        let all = owned
            .values()
            .filter(|all| all.iter().any(|it| it.manager == name))
            .count();
        let known = entries(live)
            .iter()
            .any(|entry| text(entry, "manager") == name);
        // A value that is owned with what is around it counts once.
        Some(known && said.number("count")? as usize <= all)
    }),
    ("owners_entry", |said, it| entry(said, it, true)),
    ("owners_entry_timeless", |said, it| entry(said, it, false)),
    ("owners_no_live", |_, it| Some(it.live.is_none())),
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
        let live = it.live.as_ref()?.to_string();
        Some(optimist_simulation::World::load(&live).is_err())
    }),
    ("load_refused", |said, it| {
        let live = it.live.as_ref()?.to_string();
        let refused = optimist_simulation::World::load(&live).err()?.to_string();
        Some(said.number("code")? >= 400 && refused.contains(&said.text("message")))
    }),
    ("next_says", |_, it| {
        Some(says(it, &["the object has been modified"]))
    }),
    ("card_manifest", |_, it| Some(it.manifest.is_some())),
    ("card_unknown", |_, it| Some(!it.form.0.is_empty())),
    ("assume_previous_release", |_, it| Some(it.texts.len() < 3)),
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
    ("scene_not_of_the_server", |_, it| {
        // A comparison of the tool has no answer of the server in it.
        Some(!says(
            it,
            &["apply failed with", "the object has been modified"],
        ))
    }),
    ("scene_kind_assumed", |said, it| {
        Some(!it.message.contains(&format!("Kind={}", said.text("kind"))))
    }),
    ("scene_manager", |said, it| {
        let named = format!("field-manager={}", said.text("manager"));
        Some(!it.message.contains(&named))
    }),
    ("scene_values", |_, it| {
        Some(!it.message.is_empty() && it.live.is_none())
    }),
    ("scene_assumed", |said, it| {
        // What is made up is not in the message.
        Some(
            !it.message
                .contains(&format!("namespaces/{}/", said.text("part"))),
        )
    }),
];

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
        let around = entry["fieldsV1"].to_string().matches("\".\":{}").count();
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
