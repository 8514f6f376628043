//! What looks private is masked in an object and in any text.

use optimist_apiserver::go::base64;
use optimist_masking::{MASK, Masking, masked, masked_parts, masked_text, with_parts};
use proptest::prelude::*;
use serde_json::json;

const SECRET: &str = "apiVersion: v1
kind: Secret
metadata: {name: login}
data: {word: aHVudGVyMg==}
";

#[test]
fn an_object_is_shown_with_its_private_values_masked() {
    let object = optimist_client::objects(SECRET).unwrap().remove(0);
    let shown = masked(&object);
    assert_eq!(shown["data"]["word"], MASK);
    assert_eq!(shown["metadata"], object["metadata"]);
}

#[test]
fn the_parts_that_are_masked_are_as_small_as_they_can_be_and_make_the_same_object() {
    let login = optimist_client::objects(SECRET).unwrap().remove(0);
    let names: Vec<String> = masked_parts(&login).into_iter().map(|(at, _)| at).collect();
    assert_eq!(names, ["/data/word"]);
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let owned = format!("v:\"{token}\"");
    let job = serde_json::json!({
        "kind": "Job", "metadata": {"annotations": {"a/b~c": token}, "managedFields": [
            {"manager": "m", "fieldsV1": {"f:metadata": {"f:finalizers": {".": {}, owned: {}}}}}]},
        "spec": {"env": [{"name": "A", "value": "1"}, {"name": "PASSWORD", "value": "hunter2"}]},
    });
    let plain = serde_json::json!({"kind": "ConfigMap", "data": {"a": "b"}});
    assert!(masked_parts(&plain).is_empty());
    for object in [login, job, plain] {
        assert_eq!(with_parts(&object, &masked_parts(&object)), masked(&object));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// However texts are cut and put together.
    #[test]
    fn no_text_is_too_odd_to_be_masked(
        parts in proptest::collection::vec((0..PARTS.len(), "[a-zé\"\\\\\n ={}-]{0,6}"), 0..12)
    ) {
        let text: String = parts.iter().map(|(at, more)| format!("{}{more}", PARTS[*at])).collect();
        let shown = masked_text(&text);
        // What is masked is no secret of its own, and stays masked.
        prop_assert!(!shown.contains(MASK) || masked_text(&shown).contains(MASK), "{}", text);
        let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        let shown = masked_text(&format!("{text} {token}"));
        prop_assert!(!shown.contains(token), "{}", text);
    }
}

const PARTS: [&str; 40] = [
    "password",
    ": ",
    "=",
    "\"",
    "\\\"",
    "'",
    "--token",
    " ",
    "\n",
    "{",
    "}",
    "[",
    "]",
    "é",
    "-----BEGIN RSA ",
    "PRIVATE KEY-----",
    "-----END",
    "kind: Secret\n",
    "data:\n",
    "stringData: ",
    "  a: b\n",
    "://",
    "@",
    ":",
    "<pwd>",
    "<",
    "%41",
    "%é",
    "aHVudGVyMg==",
    "eyJhIjoxfQ",
    "- ",
    "|\n",
    ">-\n",
    "name: TOKEN",
    "value: x",
    ": Invalid value: ",
    "mysql -p",
    "Bearer ",
    "{\"a\":\"",
    "••••••",
];

#[test]
fn what_the_server_decodes_gets_a_stand_in_that_it_decodes() {
    // Bits behind the last byte, and a line break.
    for value in ["dG9rZW5BQkNERUZ=", "dG9rZW5B\nQkNERUY="] {
        let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
            "data": {"token": value}});
        assert!(base64::decoded(value).is_some());
        Masking::shared([]).object(&mut secret);
        let stand_in = secret["data"]["token"].as_str().unwrap();
        let plain = base64::decoded(stand_in).expect("it is base64");
        assert_eq!(plain, b"left-out-1", "{value:?}");
    }
    let mut wrong = json!({"apiVersion": "v1", "kind": "Secret", "data": {"token": "a b"}});
    Masking::shared([]).object(&mut wrong);
    assert_eq!(wrong["data"]["token"], "left-out-1");
}
