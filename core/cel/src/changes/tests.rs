use serde_json::json;

use super::*;

fn object() -> Activation {
    Activation::new(&[("object", json!({"spec": {"n": 1}}))], &[])
}

#[test]
fn an_apply_configuration_has_the_fields_of_its_messages() {
    let text =
        "Object{spec: Object.spec{n: object.spec.n + 1, ?m: optional.none()}, data: {'a': 'b'}}";
    let expected = json!({"spec": {"n": 2}, "data": {"a": "b"}});
    let made = apply_configuration(text, &object()).unwrap();
    assert_eq!((made.object, made.foreign), (expected, Vec::new()));
}

#[test]
fn a_list_or_map_inside_of_another_one_is_foreign() {
    let text = "Object{spec: Object.spec{b: b'[', d: duration('1s'), env: [{'name': 'A'}], m: [[1, 2]], n: null, own: [object.spec]}}";
    let made = apply_configuration(text, &object()).unwrap();
    let foreign = [
        (".spec.b", ForeignKind::Bytes, "[]uint8{0x5b}"),
        (".spec.d", ForeignKind::Duration, "1000000000"),
        (".spec.env[0]", ForeignKind::Map, "map[name:A]"),
        (".spec.m[0]", ForeignKind::List, "[1 2]"),
        (".spec.n", ForeignKind::Null, "NULL_VALUE"),
    ];
    let foreign = foreign.map(|(path, kind, printed)| Foreign {
        path: path.to_owned(),
        kind,
        printed: printed.to_owned(),
    });
    assert_eq!(made.foreign, foreign);
    assert_eq!(made.object["spec"]["own"], json!([{"n": 1}]));
}

#[test]
fn a_message_of_a_type_that_is_not_its_path_is_refused() {
    let text = "Object{spec: Object.other{}}";
    let why = "type mismatch: unexpected type name \"Object.other\", expected \"Object.spec\", \
                   which matches field name path from root Object type";
    assert_eq!(
        apply_configuration(text, &object()),
        Err(ChangeError::Mistyped(why.to_owned()))
    );
}

#[test]
fn a_value_that_is_no_message_is_no_change() {
    let mistyped = |why: &str| ChangeError::Mistyped(why.to_owned());
    for (text, ty) in [
        ("object.spec.n", "int"),
        ("'a'", "string"),
        ("[Object{}]", "list"),
        ("{'a': 'b'}", "map"),
        ("null", "null_type"),
    ] {
        let why = format!("unsupported return type from ApplyConfiguration expression: {ty}");
        assert_eq!(
            apply_configuration(text, &object()),
            Err(mistyped(&why)),
            "{text}"
        );
    }
    let why = "type mismatch: JSONPatchType.expression should evaluate to array";
    assert_eq!(json_patch("object.spec", &object()), Err(mistyped(why)));
    assert_eq!(
        json_patch("['a']", &object()),
        Err(mistyped(&format!("{why} of JSONPatch")))
    );
}

#[test]
fn a_json_patch_has_the_operations_of_its_list() {
    let text = "[JSONPatch{op: 'add', path: '/a', value: Object.a{b: 1}}, JSONPatch{op: 'move', from: '/a', path: '/c'}]";
    let expected = json!([
        {"op": "add", "path": "/a", "value": {"b": 1}},
        {"op": "move", "from": "/a", "path": "/c"},
    ]);
    assert_eq!(json_patch(text, &object()), Ok(expected));
}

#[test]
fn a_json_patch_writes_bytes_and_no_duration() {
    let patch = |value: &str| {
        let text = format!("[JSONPatch{{op: 'add', path: '/a', value: Object.a{{k: {value}}}}}]");
        json_patch(&text, &object())
    };
    let expected = json!([{"op": "add", "path": "/a", "value": {"k": "eHk="}}]);
    assert_eq!(patch("b'xy'"), Ok(expected));
    let why = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: \
                   proto: invalid type: time.Duration";
    assert_eq!(
        patch("duration('1m')"),
        Err(ChangeError::Mistyped(why.to_owned()))
    );
}

#[test]
fn only_expressions_that_change_objects_make_messages() {
    let known = type_of_change("Object{}", &[], ("", &[]));
    assert!(matches!(known, Ok(CelType::Message(ty)) if &*ty == "Object"));
    assert!(super::super::type_of("Object{}", &[], ("", &[])).is_err());
}
