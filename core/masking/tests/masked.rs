//! What looks private is masked in an object and in any text.

use optimist_masking::{MASK, masked, masked_text};
use proptest::prelude::*;

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
