use super::*;
use serde_json::json;

fn patched(document: Value, patch: &str) -> Result<Value, JsonPatchError> {
    let patch = JsonPatch::decode(patch.as_bytes()).unwrap();
    patch.apply(document)
}

fn fails(document: Value, patch: &str) -> JsonPatchError {
    patched(document, patch).unwrap_err()
}

#[test]
fn keys_that_are_absent_are_null_except_to_remove_and_move() {
    let document = json!({"a": 1});
    let one = |op: &str| patched(document.clone(), &format!("[{op}]"));
    assert_eq!(
        one(r#"{"op": "replace", "path": "/b", "value": 2}"#),
        Ok(json!({"a": 1, "b": 2}))
    );
    assert_eq!(
        one(r#"{"op": "copy", "from": "/x", "path": "/b"}"#),
        Ok(json!({"a": 1, "b": null}))
    );
    assert_eq!(
        one(r#"{"op": "add", "path": "/b"}"#),
        Ok(json!({"a": 1, "b": null}))
    );
    assert_eq!(
        one(r#"{"op": "test", "path": "/b", "value": null}"#),
        Ok(document.clone())
    );
    for op in [
        r#"{"op": "remove", "path": "/b"}"#,
        r#"{"op": "move", "from": "/b", "path": "/c"}"#,
        r#"{"op": "add", "path": "/b/c", "value": 1}"#,
        r#"{"op": "test", "path": "/b", "value": 1}"#,
        r#"{"op": "test", "path": "/a", "value": null}"#,
        r#"{"op": "test", "path": "/a"}"#,
    ] {
        assert_eq!(one(op), Err(JsonPatchError::DoesNotApply), "{op}");
    }
}

#[test]
fn a_test_finds_equal_what_operations_made_and_what_was_written() {
    let patch = r#"[
            {"op": "add", "path": "/l/0", "value": {"x": [null, 1], "y": {}}},
            {"op": "move", "from": "/l/0/y", "path": "/l/1"},
            {"op": "test", "path": "/l/0", "value": {"x": [null, 1]}}]"#;
    assert_eq!(fails(json!({"l": [2]}), patch), JsonPatchError::Panics);
    let patch = patch.replace("null, ", "");
    let wanted = json!({"l": [{"x": [1]}, {}, 2]});
    assert_eq!(patched(json!({"l": [2]}), &patch), Ok(wanted.clone()));
    let whole = patch.replace(
        "\"/l/0\", \"value\": {\"x\": [1]}}",
        &format!("\"\", \"value\": {wanted}}}"),
    );
    assert_eq!(patched(json!({"l": [2]}), &whole), Ok(wanted));
}

#[test]
fn moves_in_a_long_list_and_of_a_large_value_cost_the_operations_not_the_list() {
    let items: Vec<usize> = (0..90_000).collect();
    let one = r#"{"op": "move", "from": "/a/0", "path": "/a/-"}"#;
    let other =
        r#"{"op": "move", "from": "/a", "path": "/b"}, {"op": "move", "from": "/b", "path": "/a"}"#;
    let test = r#"{"op": "test", "path": "/a", "value": []}"#;
    let patch = |op: &str, n: usize| format!("[{}]", vec![op; n].join(","));
    let document = json!({"a": items});
    // Each copy or shift of the list is 90,000 steps: together a billion.
    let moved = patched(document.clone(), &patch(one, 10_000)).unwrap();
    assert_eq!(moved["a"][0], 10_000);
    assert_eq!(
        patched(document.clone(), &patch(other, 5_000)),
        Ok(document.clone())
    );
    assert_eq!(
        fails(document, &patch(test, 10_000)),
        JsonPatchError::DoesNotApply
    );
}

#[test]
fn a_patch_that_nests_ever_deeper_is_refused_and_one_that_only_moves_is_not() {
    let deeper = r#"{"op": "add", "path": "/n", "value": {}}, {"op": "move", "from": "/a", "path": "/n/a"},
            {"op": "move", "from": "/n", "path": "/a"}"#;
    let many = |op: &str, n: usize| format!("[{}]", vec![op; n].join(","));
    let document = json!({"a": 1, "b": {"c": 2}});
    assert!(patched(document.clone(), &many(deeper, 90)).is_ok());
    assert_eq!(
        fails(document.clone(), &many(deeper, 3_000)),
        JsonPatchError::TooDeep
    );
    let doubling = r#"{"op": "copy", "from": "/b", "path": "/b/d"}"#;
    assert_eq!(
        fails(document.clone(), &many(doubling, 200)),
        JsonPatchError::TooDeep
    );
    let around = r#"{"op": "move", "from": "/b/c", "path": "/c"}, {"op": "move", "from": "/c", "path": "/b/c"}"#;
    assert_eq!(
        patched(document.clone(), &many(around, 5_000)),
        Ok(document)
    );
}

#[test]
fn indices_count_from_both_ends_and_stay_within_the_list() {
    let list = |op: &str, at: &str| {
        let patch = format!(r#"[{{"op": "{op}", "path": "/l/{at}", "value": 9}}]"#);
        patched(json!({"l": [1, 2]}), &patch).map(|result| result["l"].clone())
    };
    for (op, at, result) in [
        ("add", "-", json!([1, 2, 9])),
        ("add", "-1", json!([1, 2, 9])),
        ("add", "-3", json!([9, 1, 2])),
        ("add", "2", json!([1, 2, 9])),
        ("add", "+1", json!([1, 9, 2])),
        ("remove", "-1", json!([1])),
        ("remove", "00", json!([2])),
        ("replace", "-2", json!([9, 2])),
    ] {
        assert_eq!(list(op, at), Ok(result), "{op} {at}");
    }
    for (op, at) in [
        ("add", "3"),
        ("add", "-4"),
        ("add", "x"),
        ("add", ""),
        ("remove", "-"),
        ("remove", "2"),
        ("replace", "2"),
        ("replace", "-3"),
        ("replace", "99999999999999999999"),
        ("remove", "-9223372036854775808"),
    ] {
        assert_eq!(list(op, at), Err(JsonPatchError::DoesNotApply), "{op} {at}");
    }
}

#[test]
fn paths_skip_what_is_before_the_first_slash_and_unescape_known_escapes_only() {
    let document = json!({"a/b": 1, "~2": 2, "~1": 3});
    let removed = |path: &str| {
        patched(
            document.clone(),
            &format!(r#"[{{"op": "remove", "path": "{path}"}}]"#),
        )
    };
    assert_eq!(removed("/a~1b"), Ok(json!({"~2": 2, "~1": 3})));
    assert_eq!(removed("/~2"), Ok(json!({"a/b": 1, "~1": 3})));
    assert_eq!(removed("/~01"), Ok(json!({"a/b": 1, "~2": 2})));
    assert_eq!(removed("data/~2"), Ok(json!({"a/b": 1, "~1": 3})));
    assert_eq!(removed(""), Err(JsonPatchError::DoesNotApply));
    assert_eq!(removed("~2"), Err(JsonPatchError::DoesNotApply));
}

#[test]
fn a_test_compares_scalars_by_their_spelling() {
    let test = |stored: Value, value: &str| {
        let patch = format!(r#"[{{"op": "test", "path": "/a", "value": {value}}}]"#);
        patched(json!({"a": stored}), &patch).is_ok()
    };
    assert!(test(json!(10), "10"));
    assert!(!test(json!(10), "10.0"));
    assert!(!test(json!(10), "\"10\""));
    assert!(!test(json!("a"), r#""\u0061""#));
    assert!(!test(json!("<"), "\"<\""));
    assert!(test(json!("<"), r#""\u003c""#));
    assert!(test(
        json!([{"x": 1, "y": null}]),
        r#"[{"y": null, "x": 1}]"#
    ));
    assert!(!test(json!({"x": 1}), r#"{"x": 1, "y": null}"#));
    assert!(!test(json!({"x": 1}), r#"[]"#));
}

#[test]
fn of_a_patch_that_fails_it_is_told_which_operation_and_what_it_found() {
    let failed = |patch: &str| {
        let patch = JsonPatch::decode(patch.as_bytes()).unwrap();
        patch.failed_operation(json!({"a": 1, "l": [2]}))
    };
    let test = |path: &str, wanted: Value, found: Option<Value>| FailedOperation {
        position: 1,
        op: "test".to_owned(),
        path: path.to_owned(),
        differed: Some((wanted, found)),
        reason: format!("testing value {path} failed: test failed"),
    };
    // The operations before it are done: it is their result that it looks at.
    let add = r#"{"op": "add", "path": "/a", "value": 3}"#;
    assert_eq!(
        failed(&format!(
            r#"[{add}, {{"op": "test", "path": "/a", "value": 1}}]"#
        )),
        Some(test("/a", json!(1), Some(json!(3))))
    );
    assert_eq!(
        failed(&format!(
            r#"[{add}, {{"op": "test", "path": "/b", "value": 1}}]"#
        )),
        Some(test("/b", json!(1), None))
    );
    let removed = failed(r#"[{"op": "remove", "path": "/b"}]"#).unwrap();
    assert_eq!(
        (removed.position, removed.op.as_str(), removed.differed),
        (0, "remove", None)
    );
    let nowhere = failed(r#"[{"op": "test", "path": "/l/7", "value": 2}]"#).unwrap();
    assert_eq!((nowhere.path.as_str(), nowhere.differed), ("/l/7", None));
    assert_eq!(failed(&format!("[{add}]")), None);
    assert_eq!(failed("[null]").unwrap().op, "");
    let nowhere = failed(r#"[{"op": "test", "value": 1}]"#).unwrap();
    assert_eq!(nowhere.differed, None);
    let whole = failed(r#"[{"op": "test", "path": "", "value": 1}]"#).unwrap();
    assert!(whole.differed.is_some());
}

#[test]
fn an_operation_that_fails_says_why() {
    let why = |operation: &str| {
        let patch = JsonPatch::decode(format!("[{operation}]").as_bytes()).unwrap();
        let document = json!({"a": "1", "l": ["f"]});
        patch.failed_operation(document).unwrap().reason
    };
    let at = |op: &str, path: &str| why(&format!(r#"{{"op": "{op}", "path": "{path}"}}"#));
    let index = "Unable to access invalid index: 9: invalid index referenced";
    let add = "error in add for path: '/l/9': ";
    assert_eq!(at("add", "/l/9"), format!("{add}{index}"));
    let remove = "error in remove for path: '/l/9': ";
    assert_eq!(at("remove", "/l/9"), format!("{remove}{index}"));
    let syntax = "strconv.Atoi: parsing \"x\": invalid syntax";
    assert_eq!(
        at("add", "/l/x"),
        format!("error in add for path: '/l/x': value was not a proper array index: 'x': {syntax}")
    );
    assert_eq!(
        at("replace", "/l/9"),
        "replace operation does not apply: doc is missing key: /l/9: missing value"
    );
    let both = |op: &str, from: &str, path: &str| {
        why(&format!(
            r#"{{"op": "{op}", "from": "{from}", "path": "{path}"}}"#
        ))
    };
    for op in ["copy", "move"] {
        let missing = |what: &str| {
            format!("{op} operation does not apply: doc is missing {what}: missing value")
        };
        let destination = missing("destination path: /nope/x");
        assert_eq!(both(op, "/a", "/nope/x"), destination);
        assert_eq!(
            both(op, "/nope/a", "/nope/x"),
            missing("from path: /nope/a")
        );
    }
    assert_eq!(
        both("copy", "/a", "/l/9"),
        format!("error while adding value during copy: {index}")
    );
    assert_eq!(
        both("move", "/l/9", "/a"),
        format!("error in move for path: '9': {index}")
    );
}

#[test]
fn a_repeated_member_stays_as_written_and_the_last_counts() {
    let text = r#"[{"op": "add", "path": "/a", "value": {"x": 1, "x": 2}}]"#;
    let patch = JsonPatch::decode(text.as_bytes()).unwrap();
    assert!(patch.has_repeats());
    assert_eq!(patch.apply(json!({})).unwrap(), json!({"a": {"x": 2}}));
    let written = patch.apply_in_order(Raw::Object(Vec::new())).unwrap();
    assert_eq!(written.compact(), r#"{"a":{"x":1,"x":2}}"#);
    let test = r#"[{"op": "test", "path": "", "value": {"x": 1, "x": 2}}]"#;
    assert_eq!(patched(json!({"x": 2}), test), Ok(json!({"x": 2})));
}

#[test]
fn the_whole_document_can_be_tested_and_replaced_by_a_map_or_list() {
    let whole = |op: &str| patched(json!({"a": 1}), &format!("[{op}]"));
    assert_eq!(
        whole(r#"{"op": "replace", "path": "", "value": {"b": 2}}"#),
        Ok(json!({"b": 2}))
    );
    assert!(whole(r#"{"op": "test", "path": "", "value": {"a": 1}}"#).is_ok());
    assert!(whole(r#"{"op": "replace", "path": "", "value": 5}"#).is_err());
    assert_eq!(
        whole(r#"{"op": "replace", "path": ""}"#),
        Err(JsonPatchError::Panics)
    );
    let nulls = r#"[{"op": "test", "path": "/l", "value": [null]}]"#;
    assert_eq!(fails(json!({"l": [null]}), nulls), JsonPatchError::Panics);
}

#[test]
fn copies_cannot_blow_a_document_up() {
    let grow = r#"{"op": "copy", "from": "/a", "path": "/a/-"}"#;
    let patch = format!("[{}]", vec![grow; 40].join(","));
    let document = json!({"a": ["x".repeat(1000)]});
    assert_eq!(fails(document, &patch), JsonPatchError::DoesNotApply);
}

#[test]
fn what_is_no_patch_is_told_with_the_type_that_reads_it() {
    let loose = |text: &str| JsonPatch::decode(text.as_bytes()).unwrap_err();
    let strict = |text: &str| JsonPatch::decode_strictly(text.as_bytes()).unwrap_err();
    assert_eq!(
        loose("{}"),
        "json: cannot unmarshal object into Go value of type jsonpatch.Patch"
    );
    assert_eq!(
        strict("{}"),
        "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
    );
    assert_eq!(
        strict("[1]"),
        "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"
    );
    assert_eq!(
        strict(r#"[{"op": 1}]"#),
        "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"
    );
    assert_eq!(strict(""), "unexpected end of JSON input");
    assert!(JsonPatch::decode_strictly(b"null").unwrap().0.is_empty());
    assert_eq!(fails(json!({}), "[null]"), JsonPatchError::DoesNotApply);
}

#[test]
fn unknown_and_repeated_members_are_complained_of() {
    let text =
        br#"[{"op": "add", "extra": 1, "op": "add", "path": "/a", "value": {"x": 1, "x": 2}}]"#;
    let (_, strict_errors) = JsonPatch::decode_strictly(text).unwrap();
    assert_eq!(
        strict_errors,
        [
            r#"unknown field "[0].extra""#,
            r#"duplicate field "[0].op""#,
            r#"duplicate field "[0].value.x""#
        ]
    );
}
