//! The recorded form of answers: everything that differs between two runs is replaced.
//!
//! Versions and uids become aliases, numbered by their first appearance in the answers of a whole
//! sequence, so that equal aliases say "the same version" and a skipped or additional write shows.
//! Times, generated names, cluster IPs, continue tokens and the namespace become placeholders.
//! [`Normalizer::scan`] must have seen all answers before [`Normalizer::normalize`] is used.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::{Map, Number, Value};

use super::template::Derived;
use super::walk::{Level, for_each_text, for_each_version};

/// The uid that requests use for another object. It is not replaced.
const LITERAL_UID: &str = "11111111-2222-3333-4444-555555555555";

static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z").expect("the pattern is valid")
});

/// Go's reference time, as error messages print it: no time of this run.
const REFERENCE_TIME: &str = "2006-01-02T15:04:05Z07";

/// The words before and after versions of the server itself in texts; these versions count as
/// appearances.
const SERVER_VERSIONS: [(&str, &str); 2] = [
    ("ResourceVersion in record (", ")"),
    ("ResourceVersion in object meta: ", ""),
];

/// The words before and after other versions in texts.
const OTHER_VERSIONS: [(&str, &str); 9] = [
    ("ResourceVersion in the precondition (", ")"),
    ("ResourceVersion in precondition: ", ""),
    ("resourceVersion\":\"", "\""),
    ("resourceVersion\": \"", "\""),
    ("resourceVersion\\\":\\\"", "\\\""),
    ("resourceVersion:", ""),
    ("too old resource version: ", ""),
    ("Too large resource version: ", ""),
    ("modRevision=", ""),
];

/// The words around the current version of the whole store in texts, which no recording can
/// predict.
const CURRENT_VERSIONS: [(&str, &str, &str); 2] = [
    ("too old resource version: ", " (", ")"),
    ("Too large resource version: ", ", current: ", ""),
];

/// The common values of one sequence's answers: versions, uids, and so on.
#[derive(Debug)]
pub struct Normalizer<'a> {
    namespace: &'a str,
    derived: &'a [Derived],
    versions: HashMap<String, String>,
    list_versions: Vec<String>,
    uids: Vec<(String, String)>,
    generated: Vec<(String, String)>,
    named: HashSet<String>,
}

impl<'a> Normalizer<'a> {
    /// A normalizer for a run in this namespace which sent these derived versions.
    pub fn new(namespace: &'a str, derived: &'a [Derived]) -> Self {
        Normalizer {
            namespace,
            derived,
            versions: HashMap::new(),
            list_versions: Vec::new(),
            uids: Vec::new(),
            generated: Vec::new(),
            named: HashSet::new(),
        }
    }

    /// Records an answer, or `{"events": [...]}` of a watch. Call it in the order of the steps.
    pub fn scan(&mut self, answer: &Value) {
        for_each_version(answer, &mut |version, level| {
            self.meet_version(version, level)
        });
        for_each_text(answer, None, &mut |key, text| {
            if key == Some("uid")
                && is_uuid(text)
                && text != LITERAL_UID
                && !self.uids.iter().any(|(uid, _)| uid == text)
            {
                self.uids
                    .push((text.to_owned(), format!("<uid{}>", self.uids.len() + 1)));
            }
        });
        for_each_text(answer, None, &mut |_, text| {
            for (before, after) in SERVER_VERSIONS {
                for_each_number(text, before, after, &mut |number| {
                    let next = format!("rv{}", self.versions.len() + 1);
                    self.versions.entry(number.to_owned()).or_insert(next);
                });
            }
        });
        self.meet_generated_name(answer);
        for event in answer
            .get("events")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.meet_generated_name(event.get("object").unwrap_or(&Value::Null));
        }
    }

    /// Keeps the addresses and ports that a recorded answer names: the recorded server did not choose them, or
    /// they were installed with their object. Others become placeholders.
    pub fn keep(&mut self, recorded: &Value) {
        self.keep_member(recorded, None);
    }

    fn keep_member(&mut self, value: &Value, key: Option<&str>) {
        match value {
            Value::Object(members) => members
                .iter()
                .for_each(|(name, it)| self.keep_member(it, Some(name))),
            Value::Array(items) => items.iter().for_each(|it| self.keep_member(it, key)),
            _ if key.is_some_and(is_allotted) => {
                self.named.insert(value.to_string());
            }
            _ => {}
        }
    }

    fn meet_version(&mut self, version: &str, level: Level) {
        let number = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
        if !number
            || version.bytes().all(|b| b == b'0')
            || self.derived.iter().any(|d| d.value == version)
        {
            return;
        }
        if level == Level::Collection {
            if !self.list_versions.iter().any(|v| v == version) {
                self.list_versions.push(version.to_owned());
            }
        } else {
            let next = format!("rv{}", self.versions.len() + 1);
            self.versions.entry(version.to_owned()).or_insert(next);
        }
    }

    fn meet_generated_name(&mut self, object: &Value) {
        let metadata = &object["metadata"];
        if let (Some(prefix), Some(name)) =
            (metadata["generateName"].as_str(), metadata["name"].as_str())
            && !prefix.is_empty()
            && name.starts_with(prefix)
            && !self.generated.iter().any(|(known, _)| known == name)
        {
            self.generated
                .push((name.to_owned(), format!("{prefix}<random>")));
        }
    }

    /// The recorded form of an answer.
    pub fn normalize(&self, answer: &Value) -> Value {
        self.member(answer, None)
    }

    /// The recorded form of a text that is no member of a body, such as a header.
    pub fn normalize_text(&self, text: &str) -> String {
        self.text(None, text)
    }

    fn member(&self, value: &Value, key: Option<&str>) -> Value {
        match value {
            Value::Object(members) => {
                let mut members: Map<String, Value> = members
                    .iter()
                    .map(|(name, v)| (name.clone(), self.member(v, Some(name))))
                    .collect();
                if key == Some("details")
                    && let Some(Value::Array(causes)) = members.get_mut("causes")
                {
                    let text = |cause: &Value, name: &str| {
                        cause[name].as_str().unwrap_or_default().to_owned()
                    };
                    causes.sort_by_cached_key(|c| {
                        (text(c, "field"), text(c, "message"), text(c, "reason"))
                    });
                }
                Value::Object(members)
            }
            Value::Array(items) => items.iter().map(|item| self.member(item, key)).collect(),
            _ if key.is_some_and(is_allotted) && self.named.contains(&value.to_string()) => {
                value.clone()
            }
            Value::String(text) => Value::String(self.text(key, text)),
            Value::Number(port) if is_allotted_port(key, port) => "<nodePort>".into(),
            other => other.clone(),
        }
    }

    fn text(&self, key: Option<&str>, text: &str) -> String {
        match key {
            Some("resourceVersion") => return self.alias(text),
            Some("continue") => {
                return if text.is_empty() {
                    String::new()
                } else {
                    "<continue>".to_owned()
                };
            }
            Some("clusterIP" | "clusterIPs") if text.parse::<IpAddr>().is_ok() => {
                return "<clusterIP>".to_owned();
            }
            _ => {}
        }
        let mut text = text.to_owned();
        for (value, alias) in &self.uids {
            replace(&mut text, value, alias);
        }
        text = replace_times(text);
        for (value, alias) in &self.generated {
            replace(&mut text, value, alias);
        }
        replace(&mut text, self.namespace, "<ns>");
        // Every place that names a version has one of these words; few texts have.
        if text.contains("esource") || text.contains("modRevision") {
            for (before, after) in SERVER_VERSIONS.into_iter().chain(OTHER_VERSIONS) {
                text = replace_numbers(text, before, after, |number| self.alias(number));
            }
            for (before, between, after) in CURRENT_VERSIONS {
                text = replace_current(text, before, between, after);
            }
        }
        text
    }

    fn alias(&self, version: &str) -> String {
        if let Some(alias) = self.versions.get(version) {
            return alias.clone();
        }
        let mut collections = self
            .list_versions
            .iter()
            .filter(|v| !self.versions.contains_key(*v));
        if let Some(position) = collections.position(|v| v == version) {
            return format!("listrv{}", position + 1);
        }
        let derived = self.derived.iter().find(|d| d.value == version);
        match derived.and_then(|d| Some((self.versions.get(&d.base)?, d.offset))) {
            Some((base, offset)) => format!("{base}{offset:+}"),
            None => version.to_owned(),
        }
    }
}

/// The opposite of normalizing, for an object that is put into the store: the namespace, and a
/// time and a uid that a server could have given.
pub(super) fn enliven(value: &Value, namespace: &str) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), enliven(member, namespace)))
            .collect(),
        Value::Array(items) => items.iter().map(|item| enliven(item, namespace)).collect(),
        Value::String(text) => {
            let mut text = text.replace("<ns>", namespace).replace("<time>", INSTALLED);
            if let Some(number) = text.strip_prefix("<uid").and_then(|t| t.strip_suffix('>')) {
                text = format!("{number:0>8}-2026-4111-8222-333333333333");
            }
            text.into()
        }
        other => other.clone(),
    }
}

/// The time of installed objects: before the replay begins.
const INSTALLED: &str = "2026-06-01T00:00:00Z";

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// Returns whether a server chooses the values of a member, if the client names none.
fn is_allotted(key: &str) -> bool {
    matches!(
        key,
        "clusterIP" | "clusterIPs" | "nodePort" | "healthCheckNodePort"
    )
}

/// Returns whether a port is of the range from which a server chooses.
fn is_allotted_port(key: Option<&str>, port: &Number) -> bool {
    matches!(key, Some("nodePort" | "healthCheckNodePort"))
        && port.as_i64().is_some_and(|port| port >= 30000)
}

fn replace(text: &mut String, from: &str, to: &str) {
    if !from.is_empty() && text.contains(from) {
        *text = text.replace(from, to);
    }
}

fn replace_times(text: String) -> String {
    if !text.contains('T') || !TIME.is_match(&text) {
        return text;
    }
    let times = TIME.replace_all(&text, |found: &regex_lite::Captures<'_>| {
        let whole = found.get(0).expect("a match has a whole");
        if text[whole.start()..].starts_with(REFERENCE_TIME) {
            whole.as_str().to_owned()
        } else {
            "<time>".to_owned()
        }
    });
    times.into_owned()
}

fn digits_at_start(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

/// Calls `f` with every number that stands between the two texts.
fn for_each_number(text: &str, before: &str, after: &str, f: &mut impl FnMut(&str)) {
    let mut rest = text;
    while let Some(at) = rest.find(before) {
        rest = &rest[at + before.len()..];
        let number = digits_at_start(rest);
        if !number.is_empty() && rest[number.len()..].starts_with(after) {
            f(number);
        }
    }
}

/// Replaces every number that stands between the two texts.
fn replace_numbers(
    text: String,
    before: &str,
    after: &str,
    alias: impl Fn(&str) -> String,
) -> String {
    if !text.contains(before) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(before) {
        out.push_str(&rest[..at + before.len()]);
        rest = &rest[at + before.len()..];
        let number = digits_at_start(rest);
        if !number.is_empty() && rest[number.len()..].starts_with(after) {
            out.push_str(&alias(number));
            rest = &rest[number.len()..];
        }
    }
    out + rest
}

/// Replaces the second number of "too old: REQUESTED (CURRENT)".
fn replace_current(text: String, before: &str, between: &str, after: &str) -> String {
    let Some(at) = text.find(before) else {
        return text;
    };
    let requested = at + before.len();
    let Some(length) = text[requested..].find(between) else {
        return text;
    };
    let start = requested + length + between.len();
    let number = digits_at_start(&text[start..]).len();
    // A version has no blanks: with one in between, the second text belongs to something else.
    if number == 0
        || text[requested..requested + length].contains(' ')
        || !text[start + number..].starts_with(after)
    {
        return text;
    }
    format!("{}<rv>{}", &text[..start], &text[start + number..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UID: &str = "0f4c1a52-2f0e-4c4e-9b7a-0123456789ab";

    fn normalized(answers: &[Value]) -> Vec<Value> {
        normalized_with(answers, &[])
    }

    fn normalized_with(answers: &[Value], derived: &[Derived]) -> Vec<Value> {
        let mut normalizer = Normalizer::new("rp-7", derived);
        answers.iter().for_each(|answer| normalizer.scan(answer));
        answers
            .iter()
            .map(|answer| normalizer.normalize(answer))
            .collect()
    }

    fn message(text: &str) -> Value {
        json!({"kind": "Status", "message": text})
    }

    fn object(version: &str) -> Value {
        json!({"kind": "ConfigMap", "metadata": {"resourceVersion": version}})
    }

    #[test]
    fn versions_are_numbered_by_first_appearance_and_zeros_stay() {
        let answers = normalized(&[
            object("2007"),
            object("2003"),
            object("2007"),
            object("0"),
            object("abc"),
        ]);
        let versions: Vec<_> = answers
            .iter()
            .map(|a| a["metadata"]["resourceVersion"].as_str().unwrap())
            .collect();
        assert_eq!(versions, ["rv1", "rv2", "rv1", "0", "abc"]);
    }

    #[test]
    fn versions_of_collections_are_numbered_apart_unless_an_object_has_them() {
        let list = |version: &str| json!({"kind": "ConfigMapList", "metadata": {"resourceVersion": version}});
        let bookmark = json!({"events": [{"type": "BOOKMARK",
            "object": {"kind": "ConfigMap", "metadata": {"resourceVersion": "2009"}}}]});
        let answers = normalized(&[
            list("2001"),
            list("2005"),
            object("2001"),
            list("2006"),
            bookmark,
        ]);
        assert_eq!(answers[0]["metadata"]["resourceVersion"], "rv1");
        assert_eq!(answers[1]["metadata"]["resourceVersion"], "listrv1");
        assert_eq!(answers[3]["metadata"]["resourceVersion"], "listrv2");
        assert_eq!(
            answers[4]["events"][0]["object"]["metadata"]["resourceVersion"],
            "listrv3"
        );
    }

    #[test]
    fn a_derived_version_is_named_after_its_origin() {
        let derived = [Derived {
            value: "2012".into(),
            base: "2007".into(),
            offset: 5,
        }];
        let answers = normalized_with(&[object("2007"), object("2012")], &derived);
        assert_eq!(answers[1]["metadata"]["resourceVersion"], "rv1+5");
    }

    #[test]
    fn uids_times_namespace_and_generated_names_are_replaced_in_texts() {
        let object = json!({"metadata": {"uid": UID, "generateName": "web-", "name": "web-x2kd9"}});
        let text = message(&format!(
            "{UID} 2026-01-02T03:04:05.678Z web-x2kd9 /rp-7/ 2006-01-02T15:04:05Z07:00"
        ));
        assert_eq!(
            normalized(&[object, text])[1]["message"],
            "<uid1> <time> web-<random> /<ns>/ 2006-01-02T15:04:05Z07:00"
        );
    }

    #[test]
    fn the_uid_of_somebody_else_stays() {
        let object = json!({"metadata": {"uid": LITERAL_UID}});
        assert_eq!(normalized(std::slice::from_ref(&object)), [object]);
    }

    #[test]
    fn versions_in_texts_get_their_alias() {
        let answers = normalized(&[
            object("2007"),
            message(
                "the ResourceVersion in the precondition (2007) does not match the ResourceVersion in record (2008). The",
            ),
            message(
                r#"{"resourceVersion":"2008"} {\"resourceVersion\":\"2007\"} map[resourceVersion:2008]"#,
            ),
        ]);
        assert_eq!(
            answers[1]["message"],
            "the ResourceVersion in the precondition (rv1) does not match the ResourceVersion in record (rv2). The"
        );
        assert_eq!(
            answers[2]["message"],
            r#"{"resourceVersion":"rv2"} {\"resourceVersion\":\"rv1\"} map[resourceVersion:rv2]"#
        );
    }

    #[test]
    fn the_current_version_of_the_store_is_never_compared() {
        let answers = normalized(&[
            object("2007"),
            message("too old resource version: 2007 (2044)"),
            message("Too large resource version: 99999999, current: 2044"),
        ]);
        assert_eq!(
            answers[1]["message"],
            "too old resource version: rv1 (<rv>)"
        );
        assert_eq!(
            answers[2]["message"],
            "Too large resource version: 99999999, current: <rv>"
        );
    }

    #[test]
    fn addresses_and_ports_that_the_recording_names_stay() {
        let mut normalizer = Normalizer::new("rp-7", &[]);
        let answer = |ip: &str, port: u16| json!({"spec": {"clusterIP": ip, "clusterIPs": [ip], "ports": [{"nodePort": port}]}});
        normalizer.keep(&answer("10.96.0.12", 30080));
        let got = |ip, port| normalizer.normalize(&answer(ip, port));
        assert_eq!(got("10.96.0.12", 30080), answer("10.96.0.12", 30080));
        let other = got("fd00::12", 30081);
        assert_eq!(other["spec"]["clusterIPs"], json!(["<clusterIP>"]));
        assert_eq!(other["spec"]["ports"][0]["nodePort"], "<nodePort>");
    }

    #[test]
    fn tokens_addresses_and_the_order_of_causes() {
        let answer = json!({
            "metadata": {"continue": "eyJ2"},
            "spec": {"clusterIP": "10.0.0.12", "clusterIPs": ["10.0.0.12", "None"]},
            "details": {"causes": [{"field": "b"}, {"field": "a", "message": "2"}, {"field": "a", "message": "1"}]},
        });
        assert_eq!(
            normalized(&[answer]),
            [json!({
                "metadata": {"continue": "<continue>"},
                "spec": {"clusterIP": "<clusterIP>", "clusterIPs": ["<clusterIP>", "None"]},
                "details": {"causes": [{"field": "a", "message": "1"}, {"field": "a", "message": "2"}, {"field": "b"}]},
            })]
        );
    }
}
