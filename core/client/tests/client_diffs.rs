//! The patches that clients compute from what they read and what they want.

use optimist_apiserver::go;
use optimist_apiserver::object::JsonMap;
use optimist_apiserver::patch::{
    JsonPatch, JsonPatchError, json_diff, strategic_diff, strategic_merge, strategic_three_way,
};
use optimist_apiserver::schema::builtin;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The requests of kubectl v1.36 to a real server for each of these commands, `managedFields` left
/// out.
const RECORDED: &str = include_str!("kubectl/recorded.json");

fn members(value: &Value) -> JsonMap {
    value.as_object().cloned().unwrap_or_default()
}

fn merged(read: &Value, patch: &Value) -> Value {
    let root = builtin("Deployment").unwrap();
    Value::Object(strategic_merge(members(read), &mut members(patch), root).unwrap())
}

fn diff(read: &Value, edited: &Value) -> Value {
    strategic_diff(read, edited, builtin("Deployment").unwrap()).unwrap()
}

#[test]
fn the_strategic_patch_is_the_one_that_kubectl_sent() {
    let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    let mut compared = 0;
    for case in &recorded {
        let requests = case["requests"].as_array().unwrap();
        let read = requests.iter().find_map(|request| request.get("object"));
        let sent = requests.iter().find(|request| {
            request["content_type"] == "application/strategic-merge-patch+json"
                && case["note"] != "no change"
        });
        let (Some(read), Some(sent)) = (read, sent) else {
            continue;
        };
        let sent = &sent["body"];
        let edited = merged(read, sent);
        assert_eq!(diff(read, &edited), *sent, "{}", case["command"]);
        compared += 1;
    }
    assert_eq!(compared, 8);
}

fn spec(containers: &Value, volumes: &Value) -> Value {
    json!({"spec": {"template": {"spec": {"containers": containers, "volumes": volumes}}}})
}

#[test]
fn a_list_by_keys_says_what_goes_and_how_it_is_ordered() {
    let read = spec(
        &json!([{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]),
        &json!([]),
    );
    let edited = spec(
        &json!([{"name": "c", "image": "1"}, {"name": "a", "image": "2"}]),
        &json!([]),
    );
    let patch = diff(&read, &edited);
    assert_eq!(
        patch["spec"]["template"]["spec"],
        json!({
            "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
            "containers": [
                {"name": "c", "image": "1"},
                {"name": "a", "image": "2"},
                {"$patch": "delete", "name": "b"},
            ],
        })
    );
}

#[test]
fn of_a_volume_the_members_that_stay_are_named_for_one_excludes_the_other() {
    let read = spec(&json!([]), &json!([{"name": "v", "emptyDir": {}}]));
    let edited = spec(
        &json!([]),
        &json!([{"name": "v", "configMap": {"name": "c"}}]),
    );
    let patch = diff(&read, &edited);
    assert_eq!(
        patch["spec"]["template"]["spec"],
        json!({
            "$setElementOrder/volumes": [{"name": "v"}],
            "volumes": [{
                "name": "v", "configMap": {"name": "c"}, "emptyDir": null,
                "$retainKeys": ["configMap", "name"],
            }],
        })
    );
}

#[test]
fn finalizers_are_added_and_removed_one_by_one() {
    let object = |finalizers: &[&str]| json!({"metadata": {"finalizers": finalizers}});
    let patch =
        |read: &[&str], edited: &[&str]| diff(&object(read), &object(edited))["metadata"].take();
    assert_eq!(
        patch(&["x/a", "x/b"], &["x/c", "x/b"]),
        json!({
            "finalizers": ["x/c"],
            "$deleteFromPrimitiveList/finalizers": ["x/a"],
            "$setElementOrder/finalizers": ["x/c", "x/b"],
        })
    );
    assert_eq!(patch(&["x/a"], &["x/a"]), Value::Null);
    // The client has sorted the list that it compares with.
    assert_eq!(
        patch(&["x/b", "x/a"], &["x/b", "x/a"]),
        json!({"$setElementOrder/finalizers": ["x/b", "x/a"]})
    );
    assert_eq!(patch(&["x/b", "x/a"], &["x/a", "x/b"]), Value::Null);
}

#[test]
fn what_the_kind_does_not_have_stops_the_client_only_where_it_differs() {
    let root = builtin("Deployment").unwrap();
    let with = |bogus: Value| json!({"spec": {"bogus": bogus, "replicas": 1}});
    let same = strategic_diff(&with(json!({"a": 1})), &with(json!({"a": 1})), root);
    assert_eq!(same, Ok(json!({})));
    assert!(strategic_diff(&with(json!({"a": 1})), &with(json!({"a": 2})), root).is_err());
    let nameless = spec(&json!([{"image": "1"}]), &json!([]));
    let named = spec(&json!([{"name": "a"}]), &json!([]));
    assert!(strategic_diff(&named, &nameless, root).is_err());
}

fn three_way(last: &Value, manifest: &Value, read: &Value) -> Value {
    strategic_three_way(last, manifest, read, builtin("Deployment").unwrap()).unwrap()
}

#[test]
fn an_apply_clears_what_excludes_the_new_choice_also_if_the_server_wrote_it() {
    let strategy = |strategy: Value| json!({"spec": {"strategy": strategy}});
    let defaulted = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}});
    let patch = three_way(
        &json!({"spec": {}}),
        &strategy(json!({"type": "Recreate"})),
        &strategy(defaulted),
    );
    let expected = json!({"type": "Recreate", "$retainKeys": ["type"]});
    assert_eq!(patch, strategy(expected));
    let volume = |source: Value| {
        let mut volume = source;
        volume["name"] = "v".into();
        json!({"spec": {"template": {"spec": {"volumes": [volume]}}}})
    };
    let read = volume(json!({"emptyDir": {}}));
    let manifest = volume(json!({"configMap": {"name": "c"}}));
    let patch = three_way(&json!({}), &manifest, &read);
    assert_eq!(merged(&read, &patch), manifest);
}

#[test]
fn an_apply_leaves_ports_that_differ_in_the_protocol_alone() {
    let pod = |ports: Value| spec(&json!([{"name": "a", "ports": ports}]), &json!([]));
    let read = pod(json!([
        {"containerPort": 53, "protocol": "TCP"},
        {"containerPort": 53, "protocol": "UDP"},
    ]));
    let manifest = pod(json!([{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]));
    assert_eq!(three_way(&manifest, &manifest, &read), json!({}));
}

#[test]
fn an_apply_names_the_order_of_its_items_where_another_client_added_one() {
    let read = spec(&json!([{"name": "a"}, {"name": "sidecar"}]), &json!([]));
    let manifest = spec(&json!([{"name": "a"}]), &json!([]));
    assert_eq!(
        three_way(&manifest, &manifest, &read),
        json!({"spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "a"}]}}}})
    );
}

/// The member that tells the items of a list apart; `None` for a list that is one value.
fn merge_key(field: &str) -> Option<&'static str> {
    match field {
        "containers" | "volumes" | "env" => Some("name"),
        "ports" => Some("containerPort"),
        _ => None,
    }
}

/// The items of a list by their keys; items that are no maps are their own keys.
fn by_keys(field: &str, list: Option<&Value>) -> Value {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    let key = |item: &Value| match merge_key(field) {
        Some(key) => item[key].to_string(),
        None => item.to_string(),
    };
    // A server keeps a directive inside of an item that is new.
    let items = items.filter(|item| item.get("$patch").is_none());
    items.map(|item| (key(item), item.clone())).collect()
}

/// The object after a client-side apply, defined by each field: what the manifest has is written, what only the
/// last manifest had goes, and the rest stays. Items of lists are in no order.
fn after_apply(field: &str, last: Option<&Value>, manifest: &Value, read: Option<&Value>) -> Value {
    if manifest.is_array() && (merge_key(field).is_some() || field == "finalizers") {
        let [last, manifest, read] = [last, Some(manifest), read].map(|it| by_keys(field, it));
        let item = format!("an item of {field}");
        return after_apply(&item, Some(&last), &manifest, Some(&read));
    }
    let Some(manifest) = manifest.as_object() else {
        return manifest.clone();
    };
    let [last, read] = [last, read].map(|it| it.and_then(Value::as_object));
    let had = |map: Option<&JsonMap>, key: &str| map.and_then(|map| map.get(key).cloned());
    // One member of a volume, or of a strategy, excludes the others.
    let one_of = field == "strategy" || field == "a volume";
    let stays = |key: &str| !manifest.contains_key(key) && had(last, key).is_none() && !one_of;
    let read_only = read.into_iter().flatten();
    let read_only = read_only.filter(|(key, _)| stays(key));
    let mut all: JsonMap = read_only
        .map(|(key, value)| (key.clone(), in_no_order(key, value)))
        .collect();
    for (key, value) in manifest {
        let inner = match field {
            "an item of volumes" => "a volume",
            _ => key,
        };
        let (last, read) = (had(last, key), had(read, key));
        all.insert(
            key.clone(),
            after_apply(inner, last.as_ref(), value, read.as_ref()),
        );
    }
    Value::Object(all)
}

/// A value with the items of its lists by their keys, as a server reads it: without directives in what is new, and
/// without `null`.
fn in_no_order(field: &str, value: &Value) -> Value {
    match value {
        Value::Array(_) if merge_key(field).is_some() || field == "finalizers" => {
            in_no_order("", &by_keys(field, Some(value)))
        }
        Value::Object(map) => {
            let is_read =
                |(key, value): &(&String, &Value)| !key.starts_with('$') && !value.is_null();
            let members = map.iter().filter(is_read);
            members
                .map(|(key, value)| (key.clone(), in_no_order(key, value)))
                .collect()
        }
        other => other.clone(),
    }
}

fn applied(document: &Value, patch: &Value) -> Result<Value, JsonPatchError> {
    let patch = JsonPatch::decode(go::json(patch).as_bytes()).unwrap();
    patch.apply(document.clone())
}

#[test]
fn json_operations_name_list_items_by_index() {
    let read = json!({"spec": {"list": [1, 2, 3, 4], "a/b": 1, "gone": true}});
    let edited = json!({"spec": {"list": [1, 3, 4], "a/b": 2, "new": {"x": 1}}});
    assert_eq!(
        json_diff(&read, &edited, false),
        json!([
            {"op": "replace", "path": "/spec/a~1b", "value": 2},
            {"op": "remove", "path": "/spec/gone"},
            {"op": "remove", "path": "/spec/list/1"},
            {"op": "add", "path": "/spec/new", "value": {"x": 1}},
        ])
    );
}

#[test]
fn tests_come_first_and_fail_after_another_write() {
    let read = json!({"replicas": 3, "args": ["<a>", "b"]});
    let edited = json!({"replicas": 5, "args": ["<a>", "b", "c"]});
    let patch = json_diff(&read, &edited, true);
    assert_eq!(
        patch,
        json!([
            {"op": "test", "path": "/args", "value": ["<a>", "b"]},
            {"op": "test", "path": "/replicas", "value": 3},
            {"op": "add", "path": "/args/2", "value": "c"},
            {"op": "replace", "path": "/replicas", "value": 5},
        ])
    );
    assert_eq!(applied(&read, &patch), Ok(edited));
    let faster = json!({"replicas": 4, "args": ["<a>", "b"]});
    assert_eq!(applied(&faster, &patch), Err(JsonPatchError::DoesNotApply));
}

/// A list of named items, each name at most once, in any order.
fn named(key: &'static str, item: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec(prop::option::of(item), 4)
        .prop_map(move |items| {
            let items = items.into_iter().enumerate();
            let items = items.filter_map(|(i, item)| {
                let mut item = item?;
                item[key] = match key {
                    "containerPort" => i.into(),
                    _ => format!("n{i}").into(),
                };
                Some(item)
            });
            items.collect::<Vec<_>>()
        })
        .prop_shuffle()
        .prop_map(Value::from)
}

fn optional(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Option<Value>> {
    prop::option::of(value)
}

fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let members = members.into_iter();
    members
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

fn labels() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[ab]/[ab]|~", "[xy<]{0,2}", 0..4)
        .prop_map(|map| map.into_iter().map(|(k, v)| (k, Value::from(v))).collect())
}

fn container() -> impl Strategy<Value = Value> {
    let env = named("name", "[12]".prop_map(|v| json!({"value": v})));
    let ports = named(
        "containerPort",
        "TCP|UDP".prop_map(|p| json!({"protocol": p})),
    );
    let args = prop::collection::vec("[ab]".prop_map(Value::from), 0..3).prop_map(Value::from);
    ("[12]", optional(env), optional(ports), optional(args)).prop_map(
        |(image, env, ports, args)| {
            object([
                ("image", Some(image.into())),
                ("env", env),
                ("ports", ports),
                ("args", args),
            ])
        },
    )
}

fn deployment() -> impl Strategy<Value = Value> {
    let finalizers = prop::sample::subsequence(vec!["x/a", "x/b", "x/c"], 0..=3).prop_shuffle();
    let volume = prop_oneof![
        Just(json!({"emptyDir": {}})),
        "[ab]".prop_map(|n| json!({"configMap": {"name": n}})),
        "[ab]".prop_map(|n| json!({"secret": {"secretName": n, "optional": true}})),
    ];
    let strategy = prop_oneof![
        Just(json!({"type": "Recreate"})),
        (1..3).prop_map(|n| json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": n}})),
    ];
    let tolerations = prop::collection::vec("[ab]".prop_map(|k| json!({"key": k})), 0..3);
    (
        optional(labels()),
        optional(finalizers.prop_map(Value::from)),
        optional((0..3).prop_map(Value::from)),
        optional(strategy),
        optional(named("name", container())),
        optional(named("name", volume)),
        optional(tolerations.prop_map(Value::from)),
    )
        .prop_map(
            |(labels, finalizers, replicas, strategy, containers, volumes, tolerations)| {
                let pod = object([
                    ("containers", containers),
                    ("volumes", volumes),
                    ("tolerations", tolerations),
                ]);
                json!({
                    "metadata": object([("labels", labels), ("finalizers", finalizers)]),
                    "spec": object([
                        ("replicas", replicas),
                        ("strategy", strategy),
                        ("template", Some(json!({"spec": pod}))),
                    ]),
                })
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_strategic_patch_makes_the_edited_object_of_the_one_read(
        read in deployment(), edited in deployment()
    ) {
        let patch = diff(&read, &edited);
        // The client does not see that scalars were only put in order.
        let mut expected = edited;
        let finalizers = |object: &Value| object["metadata"]["finalizers"].as_array().cloned();
        let mut in_order = finalizers(&read).unwrap_or_default();
        in_order.sort_by_key(Value::to_string);
        if !in_order.is_empty() && finalizers(&expected) == Some(in_order) {
            expected["metadata"]["finalizers"] = finalizers(&read).into();
        }
        prop_assert_eq!(merged(&read, &patch), expected, "{}", patch);
    }

    #[test]
    fn an_apply_writes_what_the_manifest_has_and_takes_what_only_the_last_one_had(
        last in deployment(), manifest in deployment(), read in deployment()
    ) {
        let patch = three_way(&last, &manifest, &read);
        let after = in_no_order("", &merged(&read, &patch));
        let expected = after_apply("", Some(&last), &manifest, Some(&read));
        prop_assert_eq!(after, in_no_order("", &expected), "{}", patch);
    }

    #[test]
    fn a_json_patch_makes_the_edited_object_of_the_one_read(
        read in deployment(), edited in deployment(), tests in any::<bool>()
    ) {
        let patch = json_diff(&read, &edited, tests);
        prop_assert_eq!(applied(&read, &patch), Ok(edited), "{}", patch);
    }

    #[test]
    fn where_nothing_was_edited_a_json_patch_is_empty(read in deployment()) {
        prop_assert_eq!(json_diff(&read, &read, true), json!([]));
    }
}
