//! Detects pasted texts, and names the problem of a text that is nothing known.

use crate::detect_file;
use optimist_client::to_yaml;
use optimist_diagnose::input::{Input, MAX_TEXT, NotDetected, VersionsEnd, detect, parts};

const LIVE: &str = include_str!("live/deployment.yaml");
const MANIFEST: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: v}\n";

/// The first part of an event, after which a command was stopped.
const BEGUN: &str = r#"{"type":"MODIFIED","object":{"kind":"Conf"#;

/// The event with which a server ends a watch.
const EXPIRED: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},
    "status":"Failure","message":"too old resource version: 5 (100)","reason":"Expired","code":410}}"#;

/// The name of what a text is.
fn kind(text: &str) -> String {
    fn name(input: &Input) -> String {
        match input {
            Input::Live(_) => "live".to_owned(),
            Input::Manifest(_) => "manifest".to_owned(),
            Input::Definition(_) => "definition".to_owned(),
            Input::Several(all) => all.iter().map(name).collect::<Vec<_>>().join(" "),
            Input::Versions { versions, end } => {
                let end = match end {
                    VersionsEnd::Whole => String::new(),
                    VersionsEnd::Cut => ", cut".to_owned(),
                    VersionsEnd::Error(message) => format!(", {message}"),
                };
                format!("{} versions{end}", versions.len())
            }
            Input::AuditLog(_) => "audit log".to_owned(),
            Input::Errors(all) => format!("{} errors", all.len()),
        }
    }
    match detect(text) {
        Ok(input) => name(&input),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_text_is_what_its_fields_say() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
                      metadata: {name: backups.demo.example.com}\n";
    let log = include_str!("live/audit.log");
    let error = "Error: Apply failed with 1 conflict: conflict with \"a\": .spec.replicas";
    let status = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
        "message":"configmaps \"a\" already exists","reason":"AlreadyExists","code":409}"#;
    let zap = "{\"level\":\"error\",\"msg\":\"Reconciler error\",\"error\":\"Operation cannot be \
               fulfilled on deployments.apps \\\"web\\\": the object has been modified; please\"}";
    let versioned = MANIFEST.replace("name: a", "name: a, resourceVersion: '7'");
    for (text, expected) in [
        (LIVE, "live"),
        (MANIFEST, "manifest"),
        (&versioned, "manifest"),
        (definition, "definition"),
        (
            &format!("{definition}---\n{LIVE}---\n{MANIFEST}"),
            "definition live manifest",
        ),
        (
            r#"[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}]"#,
            "manifest",
        ),
        (
            "[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}},\n\
             {\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"}}]",
            "manifest manifest",
        ),
        (
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n\
             - apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n",
            "manifest manifest",
        ),
        (include_str!("fight.json"), "8 versions"),
        (
            &(include_str!("fight.json").to_owned() + EXPIRED),
            "8 versions, too old resource version: 5 (100)",
        ),
        (EXPIRED, "1 errors"),
        (log, "audit log"),
        (log.lines().next().unwrap_or_default(), "audit log"),
        (log.get(700..).unwrap_or_default(), "audit log"),
        (error, "1 errors"),
        (status, "1 errors"),
        (zap, "1 errors"),
        (&format!("\u{feff}{MANIFEST}"), "manifest"),
    ] {
        assert_eq!(kind(text), expected, "{text:.300}");
    }
}

#[test]
fn the_events_of_a_watch_in_yaml_are_those_in_json() {
    let json = include_str!("fight.json").to_owned() + EXPIRED;
    let events = serde_json::Deserializer::from_str(&json).into_iter::<serde_json::Value>();
    let yaml: Vec<String> = events
        .map(|event| to_yaml(&event.expect("it is JSON")))
        .collect();
    let read = |events: &[String]| detect(&events.join("---\n"));
    assert_eq!(read(&yaml), detect(&json));
    assert_eq!(
        read(&yaml[..1]).map(|it| kind(&it.to_text())),
        Ok("1 versions".to_owned())
    );
    let written = read(&yaml).expect("it is detected").to_text();
    assert_eq!(detect(&written), read(&yaml));
}

#[test]
fn several_versions_of_one_object_are_a_history_and_several_objects_are_not() {
    let newer = LIVE.replace("\"28589\"", "\"28600\"");
    assert_eq!(kind(&format!("{LIVE}---\n{newer}")), "2 versions");
    let other = newer.replace("8e1cedb3", "8e1cedb4");
    assert_eq!(kind(&format!("{LIVE}---\n{other}")), "live live");
    assert_eq!(kind(&format!("{LIVE}---\n{LIVE}")), "live live");
    let objects = serde_json::Deserializer::from_str(include_str!("fight.json"))
        .into_iter::<serde_json::Value>()
        .map(|event| event.expect("it is JSON")["object"].to_string());
    // `kubectl get -w -o json` prints objects without events.
    assert_eq!(kind(&objects.collect::<Vec<_>>().join("\n")), "8 versions");
}

#[test]
fn what_is_missing_is_named_and_nothing_is_guessed() {
    for (text, expected) in [
        ("", "The text is empty."),
        (" \n\t", "The text is empty."),
        (
            "spec: {replicas: 3}\n",
            "Document 1 lacks apiVersion, kind, metadata.name.",
        ),
        (
            "{\"kind\": \"Pod\"}",
            "Document 1 lacks apiVersion, metadata.name.",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\nkind: Pod\n",
            "Document 2 lacks apiVersion, metadata.name.",
        ),
        (
            "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: a}}, null]\n",
            "Document 2 lacks apiVersion, kind, metadata.name.",
        ),
        (
            &format!("{EXPIRED}{}", include_str!("fight.json")),
            "A watch event of type ERROR has no object.",
        ),
        ("hello", "Document 1 lacks apiVersion, kind, metadata.name."),
        (
            "[1, 2]",
            "Document 1 lacks apiVersion, kind, metadata.name.",
        ),
        (
            "{\"type\": \"ERROR\", \"object\": {\"kind\": \"Status\"}}",
            "A watch event of type ERROR has no object.",
        ),
    ] {
        assert_eq!(kind(text), expected, "{text}");
    }
    assert!(matches!(
        detect("{\"kind\": Pod}"),
        Err(NotDetected::Syntax { line: 1, .. })
    ));
    assert!(matches!(
        detect("kind: A\nspec: x: y"),
        Err(NotDetected::Syntax { .. })
    ));
    // A colon in words is no mistake of YAML.
    let words = "Error: INSTALLATION FAILED: chart requires kubeVersion: >=1.40.0 which is incompatible with Kubernetes v1.36.0";
    assert_eq!(detect(words), Err(NotDetected::NoKnownMessage));
    assert!(matches!(detect("a: [\nb"), Err(NotDetected::Syntax { .. })));
    let twice = "apiVersion: v1\nkind: Pod\nkind: Pod\nmetadata: {name: a}";
    assert!(matches!(detect(twice), Err(NotDetected::Content(_))));
}

#[test]
fn a_string_that_yaml_reads_as_another_type_is_named_in_every_input() {
    let refused = |kind: &str, field: &str| {
        format!(
            " kubectl and Helm refuse the object: json: cannot unmarshal {kind} into Go struct field \
             ObjectMeta.metadata.{field} of type string"
        )
    };
    let is_true =
        "boolean true: without quotes, YAML reads y, yes, on and true so. Put the value in quotes.";
    let is_false = "boolean false: without quotes, YAML reads n, no, off and false so. Put the value in quotes.";
    let number = |value: &str| {
        format!("number {value}: without quotes, YAML reads a number. Put the value in quotes.")
    };
    for (meta, said, kind, field) in [
        (
            "namespace: y",
            format!("namespace is the {is_true}"),
            "bool",
            "namespace",
        ),
        (
            "namespace: on",
            format!("namespace is the {is_true}"),
            "bool",
            "namespace",
        ),
        (
            "namespace: n",
            format!("namespace is the {is_false}"),
            "bool",
            "namespace",
        ),
        (
            "namespace: off",
            format!("namespace is the {is_false}"),
            "bool",
            "namespace",
        ),
        (
            "namespace: 010",
            format!("namespace is the {}", number("8")),
            "number",
            "namespace",
        ),
        (
            "namespace: 1.5",
            format!("namespace is the {}", number("1.5")),
            "number",
            "namespace",
        ),
        (
            "namespace: [a]",
            "namespace is a list. It must be a string.".to_owned(),
            "array",
            "namespace",
        ),
        (
            "namespace: {a: b}",
            "namespace is a map. It must be a string.".to_owned(),
            "object",
            "namespace",
        ),
        (
            "generateName: 5",
            format!("generateName is the {}", number("5")),
            "number",
            "generateName",
        ),
        (
            "labels: {tier: yes}",
            format!("labels[tier] is the {is_true}"),
            "bool",
            "labels",
        ),
        (
            "annotations: {a: 1}",
            format!("annotations[a] is the {}", number("1")),
            "number",
            "annotations",
        ),
    ] {
        let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, {meta}}}\n");
        let live = object.replace("name: a,", "name: a, uid: u1, resourceVersion: \"5\",");
        let list = format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: a, {meta}}}\n"
        );
        let expected = format!("Document 1: metadata.{said}{}", refused(kind, field));
        for text in [&object, &live, &list] {
            assert_eq!(self::kind(text), expected, "{text}");
        }
        let second = self::kind(&format!("{MANIFEST}---\n{object}"));
        assert_eq!(second, expected.replace("Document 1", "Document 2"));
    }
    let name = kind("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yes}\n");
    assert!(
        name.starts_with(&format!("Document 1: metadata.name is the {is_true}")),
        "{name}"
    );
    for (text, field) in [
        (
            "apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}\n",
            "apiVersion is the number 1",
        ),
        (
            "apiVersion: v1\nkind: y\nmetadata: {name: a}\n",
            "kind is the boolean true",
        ),
    ] {
        let said = kind(text);
        assert!(
            said.starts_with(&format!("Document 1: {field}: ")),
            "{said}"
        );
        assert!(
            said.ends_with(" kubectl and Helm refuse the object."),
            "{said}"
        );
    }
    // `null` is no value, and quotes make a string.
    for meta in [
        "namespace: null",
        "namespace: ~",
        "namespace: \"y\"",
        "labels: {a: null}",
    ] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, {meta}}}\n");
        assert_eq!(kind(&text), "manifest", "{meta}");
    }
}

#[test]
fn hostile_texts_get_a_clear_word() {
    let deep = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {}{}",
        "[".repeat(200),
        "]".repeat(200)
    );
    assert!(detect(&deep).is_err());
    let json = format!(
        "{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {{\"name\": \"a\"}}, \
         \"data\": {}{}}}",
        "[".repeat(110),
        "]".repeat(110)
    );
    assert!(
        matches!(detect(&json), Err(NotDetected::TooMuch(_))),
        "{:?}",
        detect(&json)
    );
    let many = format!("{MANIFEST}more: [{}]", "1,".repeat(100_000));
    assert!(matches!(detect(&many), Err(NotDetected::TooMuch(_))));
    let large = "x".repeat(MAX_TEXT + 1);
    assert!(matches!(detect(&large), Err(NotDetected::TooLarge { .. })));
    for text in [
        "<script>alert(1)</script>",
        "---\n---\n",
        "{",
        "}",
        "\u{0}",
        "%",
    ] {
        assert!(detect(text).is_err(), "{text}");
    }
}

#[test]
fn a_file_is_utf_8_or_utf_16_with_its_mark() {
    let utf_16: Vec<u8> = std::iter::once(0xfeff)
        .chain(MANIFEST.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(detect_file(&utf_16), detect(MANIFEST));
    assert_eq!(detect_file(MANIFEST.as_bytes()), detect(MANIFEST));
    for broken in [&utf_16[..utf_16.len() - 1], b"a: \xff", b"\xff\xfe\x00\xd8"] {
        assert!(matches!(detect_file(broken), Err(NotDetected::NotText(_))));
    }
}

#[test]
fn a_message_and_the_manifest_that_it_is_about_are_parts_of_one_text() {
    let message = "$ kubectl apply --server-side -f web.yaml\nerror: Apply failed with 1 conflict: conflict with \
        \"kubectl-set\" using apps/v1: .spec.replicas\n";
    let modified = "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please \
        apply your changes to the latest version and try again\n";
    let web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
    let api = web.replace("web", "api");
    let split = |text: &str, expected: &[&str]| assert_eq!(parts(text), expected, "{text}");
    split(
        &format!("{message}\n{web}"),
        &[&format!("{message}\n"), web],
    );
    split(&format!("{modified}---\n{web}"), &[modified, web]);
    split(&format!("{web}---\n{modified}"), &[web, modified]);
    split(&format!("{web}{message}"), &[web, message]);
    let json = "{\"apiVersion\": \"apps/v1\",\n \"kind\": \"Deployment\",\n \"metadata\": {\"name\": \"web\"}}\n";
    split(&format!("{message}{json}"), &[message, json]);
    split(&format!("{json}{message}"), &[json, message]);
    let both = format!("{web}---\n{api}");
    split(
        &format!("{message}{both}---\n{modified}"),
        &[message, &both, modified],
    );
    let alone = [
        message.to_owned(),
        both,
        format!("# {web}{web}"),
        format!("free words\n{web}"),
    ];
    for text in alone {
        split(&text, &[&text]);
    }
    let kinds: Vec<String> = parts(&format!("{message}{web}"))
        .into_iter()
        .map(kind)
        .collect();
    assert_eq!(kinds, ["1 errors", "manifest"]);
}

#[test]
fn the_whole_versions_are_read_of_a_watch_that_was_stopped_while_it_printed() {
    let object = |version: usize| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a","uid":"1","resourceVersion":"{version}"}}}}"#
        )
    };
    let event = |version| format!(r#"{{"type":"MODIFIED","object":{}}}"#, object(version));
    let events: Vec<String> = (5..9).map(event).collect();
    let events = events.join("\n");
    assert_eq!(kind(&events), "4 versions");
    for end in [BEGUN, "{", &event(9)[..60]] {
        assert_eq!(
            kind(&format!("{events}\n{end}")),
            "4 versions, cut",
            "{end}"
        );
    }
    let objects = format!("{}\n{}\n", object(5), object(6));
    assert_eq!(kind(&objects), "2 versions");
    assert_eq!(kind(&format!("{objects}{BEGUN}")), "2 versions, cut");
    // What is no version over time is not left out without a word.
    let others = format!("{}\n{}\n", object(5), object(6).replace("\"1\"", "\"2\""));
    assert!(!kind(&format!("{others}{BEGUN}")).contains("cut"));
    assert!(kind(BEGUN).contains("CutJson"), "{}", kind(BEGUN));
    // In the middle, something else is wrong.
    let middle = kind(&format!("{events}\n{BEGUN}\n{events}"));
    assert!(middle.starts_with("Line 6"), "{middle}");
    let input = detect(&format!("{events}\n{BEGUN}")).expect("it has versions");
    assert_eq!(detect(&input.to_text()), Ok(input));
}

#[test]
fn a_list_of_lists_is_no_object() {
    let object =
        "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}";
    let all = NotDetected::Missing {
        document: 1,
        fields: vec!["apiVersion", "kind", "metadata.name"],
    };
    for text in [format!("- - {object}\n"), format!("[[{object}]]")] {
        assert_eq!(detect(&text), Err(all.clone()), "{text}");
    }
    assert!(matches!(
        detect(&format!("- {object}\n")),
        Ok(Input::Manifest(_))
    ));
}
