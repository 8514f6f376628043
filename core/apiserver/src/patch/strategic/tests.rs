use super::*;
use crate::schema::builtin;
use serde_json::json;

fn merged(kind: &str, original: Value, patch: Value) -> Result<Value, StrategicError> {
    let (Value::Object(original), Value::Object(mut patch)) = (original, patch) else {
        panic!("objects");
    };
    strategic_merge(original, &mut patch, builtin(kind).unwrap()).map(Value::Object)
}

/// The containers that come of a patch to a pod spec.
fn containers(original: Value, patch: Value) -> Result<Value, StrategicError> {
    merged("PodSpec", json!({"containers": original}), patch)
        .map(|mut spec| spec["containers"].take())
}

fn refused(message: &str) -> Result<Value, StrategicError> {
    Err(StrategicError::Other(message.to_owned()))
}

#[test]
fn items_merge_by_key_and_new_ones_come_first() {
    let result = containers(
        json!([{"name": "a", "image": "1", "tty": true}, {"name": "b"}]),
        json!({"containers": [{"name": "c"}, {"name": "a", "image": "2", "tty": null}]}),
    );
    assert_eq!(
        result,
        Ok(json!([{"name": "c"}, {"name": "a", "image": "2"}, {"name": "b"}]))
    );
}

#[test]
fn lists_without_a_strategy_are_replaced() {
    let result = merged(
        "PodSpec",
        json!({"tolerations": [{"key": "a"}]}),
        json!({"tolerations": [{"key": "b"}]}),
    );
    assert_eq!(result, Ok(json!({"tolerations": [{"key": "b"}]})));
}

#[test]
fn an_item_with_a_directive_is_deleted_or_replaces_the_whole_list() {
    let original = json!([{"name": "a"}, {"name": "b"}]);
    let after = |patch: Value| containers(original.clone(), json!({"containers": patch}));
    assert_eq!(
        after(json!([{"name": "a", "$patch": "delete"}, {"name": "x", "$patch": "delete"}])),
        Ok(json!([{"name": "b"}]))
    );
    assert_eq!(
        after(json!([{"$patch": "replace"}, {"name": "c"}])),
        Ok(json!([{"name": "c"}]))
    );
    assert_eq!(
        after(json!([{"name": "a", "$patch": "replace", "image": "1"}])),
        Ok(json!([]))
    );
    assert_eq!(
        after(json!([{"name": "a", "$patch": "bogus"}])),
        refused("unknown patch type: bogus in map: map[$patch:bogus name:a]")
    );
    assert_eq!(
        after(json!([{"name": "a", "$patch": 5}])),
        refused("unknown patch type: %!s(int64=5) in map: map[$patch:5 name:a]")
    );
    assert_eq!(
        after(json!([{"$patch": "merge"}])),
        refused("merging lists cannot yet be specified in the patch")
    );
    assert_eq!(
        after(json!([{"image": "1"}])),
        refused("map: map[image:1] does not contain declared merge key: name")
    );
}

#[test]
fn a_named_order_wins_and_what_it_does_not_name_keeps_its_place() {
    let original = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]);
    let order = |order: Value, patch: Value| {
        let mut whole = json!({"$setElementOrder/containers": order});
        if !patch.is_null() {
            whole["containers"] = patch;
        }
        containers(original.clone(), whole)
    };
    let named = |names: &[&str]| {
        names
            .iter()
            .map(|name| json!({"name": name}))
            .collect::<Value>()
    };
    assert_eq!(
        order(named(&["c", "a"]), Value::Null),
        Ok(named(&["b", "c", "a"]))
    );
    assert_eq!(
        order(named(&["d", "c", "b", "a"]), named(&["d"])),
        Ok(named(&["d", "c", "b", "a"]))
    );
    assert_eq!(
        order(named(&["b"]), named(&["e"])),
        refused(
            "The order in patch list:\n[map[name:e]]\n doesn't match $setElementOrder list:\n\
             [map[name:b]]\n"
        )
    );
    assert_eq!(
        order(json!(["b"]), Value::Null),
        refused("value for key 0 is not a map")
    );
    assert_eq!(
        order(json!("b"), Value::Null),
        refused("expected a []interface {}, but received a string")
    );
    let unknown = merged("PodSpec", json!({}), json!({"$setElementOrder/bogus": []}));
    assert_eq!(
        unknown,
        refused("unable to find api field in struct PodSpec for the json field \"bogus\"")
    );
    let no_list = merged(
        "PodSpec",
        json!({}),
        json!({"$setElementOrder/hostname": []}),
    );
    assert_eq!(
        no_list,
        refused("expected slice or array type, but got: struct")
    );
    assert_eq!(
        merged("PodSpec", json!({}), json!({"$setElementOrder": []})),
        Err(StrategicError::Malformed(
            "invalid patch format of setElementOrder list"
        ))
    );
}

#[test]
fn scalars_are_added_once_and_deleted_by_a_parallel_list() {
    let original = json!({"finalizers": ["a", "b"]});
    let after = |patch: Value| {
        merged("ObjectMeta", original.clone(), patch).map(|mut meta| meta["finalizers"].take())
    };
    assert_eq!(
        after(json!({"finalizers": ["c", "b"]})),
        Ok(json!(["c", "a", "b"]))
    );
    let delete = "$deleteFromPrimitiveList/finalizers";
    assert_eq!(after(json!({delete: ["a", "x"]})), Ok(json!(["b"])));
    assert_eq!(after(json!({delete: "a"})), Ok(json!(["a", "b"])));
    assert_eq!(
        after(json!({"finalizers": ["c", "a"], delete: ["a"]})),
        Ok(json!(["c", "b"]))
    );
    assert_eq!(
        after(json!({"finalizers": [5]})),
        refused("list element types are not identical: [[a b] [5]]")
    );
    assert_eq!(
        merged("ObjectMeta", json!({}), json!({"finalizers": [[1]]})),
        Ok(json!({"finalizers": [[1]]}))
    );
    assert_eq!(
        merged(
            "ObjectMeta",
            json!({"finalizers": []}),
            json!({"finalizers": [[1]]})
        ),
        Err(StrategicError::ListOfLists)
    );
    assert_eq!(
        merged(
            "ObjectMeta",
            json!({"finalizers": []}),
            json!({"finalizers": [null]})
        ),
        Err(StrategicError::Panics)
    );
}

#[test]
fn retained_keys_drop_the_others_and_must_cover_the_patch() {
    let original = json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {}}});
    let after = |strategy: Value| {
        merged(
            "DeploymentSpec",
            original.clone(),
            json!({"strategy": strategy}),
        )
    };
    assert_eq!(
        after(json!({"$retainKeys": ["type"], "type": "Recreate"})),
        Ok(json!({"strategy": {"type": "Recreate"}}))
    );
    let malformed = Err(StrategicError::Malformed(
        "invalid patch format of retainKeys",
    ));
    assert_eq!(after(json!({"$retainKeys": [], "type": "x"})), malformed);
    assert_eq!(after(json!({"$retainKeys": "type"})), malformed);
    assert_eq!(
        after(json!({"$retainKeys": [{}]})),
        Err(StrategicError::Panics)
    );
}

#[test]
fn a_map_with_a_directive_replaces_deletes_or_vanishes_where_there_is_none_yet() {
    let original = json!({"nodeSelector": {"a": "1"}});
    let after = |selector: Value| {
        merged(
            "PodSpec",
            original.clone(),
            json!({"nodeSelector": selector}),
        )
    };
    assert_eq!(
        after(json!({"$patch": "replace", "b": "2"})),
        Ok(json!({"nodeSelector": {"b": "2"}}))
    );
    assert_eq!(
        after(json!({"$patch": "delete"})),
        Ok(json!({"nodeSelector": {}}))
    );
    assert_eq!(
        after(json!({"$patch": "merge"})),
        refused("unknown patch type: merge in map: map[$patch:merge]")
    );
    assert_eq!(
        merged(
            "PodSpec",
            json!({}),
            json!({"nodeSelector": {"$patch": "bogus", "b": "2"}})
        ),
        Ok(json!({}))
    );
}

#[test]
fn null_removes_and_is_not_added_with_what_is_new() {
    assert_eq!(
        merged(
            "ObjectMeta",
            json!({"labels": {"a": "1"}}),
            json!({"labels": {"a": null, "b": null, "c": "3"}, "annotations": {"x": null}})
        ),
        Ok(json!({"labels": {"c": "3"}, "annotations": {}}))
    );
}

#[test]
fn what_a_patch_was_used_up_of_is_gone_from_it() {
    let Value::Object(mut patch) = json!({
        "$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "a"}],
        "nodeSelector": {"b": null}, "hostname": null,
    }) else {
        unreachable!()
    };
    let original = json!({"containers": [{"name": "a"}]});
    let original = original.as_object().cloned().unwrap();
    strategic_merge(original, &mut patch, builtin("PodSpec").unwrap()).unwrap();
    assert_eq!(
        Value::Object(patch),
        json!({"nodeSelector": {}, "hostname": null})
    );
}
