//! Values of a session that look like passwords, tokens or keys, and the session without them.
//!
//! They are found by the name of their field, by the format of known tokens, and in the data of a
//! Secret. The search is a heuristic: it can miss a value.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::Session;
use optimist_apiserver::object::text;
use optimist_apiserver::pointer::unescape;
use optimist_client::{objects, to_yaml};

/// A value that looks private.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Private {
    /// The field that it was found in: `data.password`, `DB_PASSWORD`.
    pub field: String,
    /// What it looks like: `a password`.
    pub looks_like: &'static str,
    value: String,
    /// Whether it is base64, as in the data of a Secret.
    encoded: bool,
}

/// Names of fields with private values, in lower case without `-`, `_` and `.`.
const NAMES: [(&str, &str); 12] = [
    ("password", "a password"),
    ("passwd", "a password"),
    ("passphrase", "a password"),
    ("pwd", "a password"),
    ("token", "a token"),
    ("authorization", "a token"),
    ("apikey", "a key"),
    ("accesskey", "a key"),
    ("privatekey", "a key"),
    ("secretkey", "a key"),
    ("secret", "a secret"),
    ("credential", "a secret"),
];

/// Endings of names of fields that contain the location of a private value: `tokenFile`.
const ELSEWHERE: [&str; 9] = [
    "name",
    "ref",
    "file",
    "path",
    "seconds",
    "policy",
    "type",
    "url",
    "namespace",
];

/// The prefixes of tokens, with their minimum length, from the issuers' documents.
const BEGINNINGS: [(&str, usize, &str); 14] = [
    ("AKIA", 20, "an AWS access key"),
    ("ASIA", 20, "an AWS access key"),
    ("AIza", 35, "a Google API key"),
    ("ghp_", 36, "a GitHub token"),
    ("gho_", 36, "a GitHub token"),
    ("ghs_", 36, "a GitHub token"),
    ("github_pat_", 40, "a GitHub token"),
    ("glpat-", 20, "a GitLab token"),
    ("xoxb-", 20, "a Slack token"),
    ("xoxp-", 20, "a Slack token"),
    ("sk_live_", 20, "a key"),
    ("sk-", 32, "a key"),
    ("npm_", 36, "a token"),
    ("hvs.", 24, "a token"),
];

fn by_name(name: &str) -> Option<&'static str> {
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | '.' | '/'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if ELSEWHERE.iter().any(|ending| plain.ends_with(ending)) {
        return None;
    }
    let known = NAMES.iter().find(|(known, _)| plain.contains(known));
    known.map(|(_, looks_like)| *looks_like)
}

/// The characters of tokens.
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=' | '+' | '/')
}

/// The parts of a text that look like a token, for a field with any name.
fn by_shape(text: &str) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        found.push((text.to_owned(), "a private key"));
        return found;
    }
    for word in text.split(|c: char| !is_token(c)) {
        let begins = BEGINNINGS
            .iter()
            .find(|(begin, length, _)| word.starts_with(begin) && word.len() >= *length);
        if let Some((_, _, looks_like)) = begins {
            found.push((word.to_owned(), *looks_like));
        }
        // A JSON Web Token (RFC 7519): three parts, of which the first is `{"…` in base64.
        if word.starts_with("eyJ") && word.len() > 40 && word.matches('.').count() == 2 {
            found.push((word.to_owned(), "a token"));
        }
    }
    // A URL with a user's password (RFC 3986, section 3.2.1).
    for rest in text.split("://").skip(1) {
        let authority = rest.split(['/', '?', '#', ' ', '"', '\'']).next();
        let user = authority.and_then(|authority| authority.rsplit_once('@'));
        let password = user.and_then(|(user, _)| user.split_once(':'));
        if let Some((_, password)) = password.filter(|(_, password)| !password.is_empty()) {
            found.push((password.to_owned(), "a password"));
        }
    }
    found
}

/// Whether a text is not a value: empty, a reference, or already removed.
fn is_blank(value: &str) -> bool {
    value.is_empty() || value.starts_with("$(") || value.starts_with("left-out-")
}

#[derive(Default)]
struct Finder {
    found: BTreeMap<String, Private>,
}

impl Finder {
    fn take(&mut self, field: &str, value: &str, looks_like: &'static str, encoded: bool) {
        if is_blank(value) {
            return;
        }
        let private = Private {
            field: field.to_owned(),
            looks_like,
            value: value.to_owned(),
            encoded,
        };
        self.found.entry(value.to_owned()).or_insert(private);
    }

    fn string(&mut self, field: &str, name: &str, value: &str) {
        for (token, looks_like) in by_shape(value) {
            self.take(field, &token, looks_like, false);
        }
        if let Some(looks_like) = by_name(name) {
            self.take(field, value, looks_like, false);
        }
        // An argument of a command: `--token=x`.
        if let Some((option, value)) = value.split_once('=')
            && let Some(looks_like) = by_name(option)
            && option.chars().all(is_token)
        {
            self.take(option.trim_start_matches('-'), value, looks_like, false);
        }
        if value.trim_start().starts_with(['{', '[']) {
            self.text(field, value);
        }
    }

    /// A text that may contain an object, in JSON or YAML.
    fn text(&mut self, field: &str, value: &str) {
        let read = read(value).unwrap_or_default();
        if !read
            .iter()
            .any(|value| value.is_object() || value.is_array())
        {
            for (token, looks_like) in by_shape(value) {
                self.take(field, &token, looks_like, false);
            }
        }
        for value in &read {
            self.value("", "", value);
        }
    }

    fn value(&mut self, path: &str, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.string(path, name, text),
            Value::Array(items) => items.iter().for_each(|item| self.value(path, name, item)),
            Value::Object(map) => {
                let kind = text(value, "kind");
                // A variable of a container.
                if let (Some(Value::String(name)), Some(Value::String(text))) =
                    (map.get("name"), map.get("value"))
                {
                    self.string(name, name, text);
                }
                for (key, member) in map {
                    let here = if path.is_empty() {
                        key.clone()
                    } else {
                        format!("{path}.{key}")
                    };
                    if kind == "Secret" && matches!(key.as_str(), "data" | "stringData") {
                        self.data_of_secret(&here, member, key == "data");
                    } else {
                        self.value(&here, key, member);
                    }
                }
            }
            _ => {}
        }
    }

    fn data_of_secret(&mut self, path: &str, data: &Value, encoded: bool) {
        for (key, value) in data.as_object().into_iter().flatten() {
            if let Some(text) = value.as_str() {
                self.take(&format!("{path}.{key}"), text, "data of a Secret", encoded);
                // The user may also have typed and sent the decoded value.
                let plain = STANDARD.decode(text).ok().filter(|_| encoded);
                if let Some(plain) = plain.and_then(|plain| String::from_utf8(plain).ok()) {
                    self.take(&format!("{path}.{key}"), &plain, "data of a Secret", false);
                }
            }
        }
    }

    /// An edit in a session: a path and its new value.
    fn edit(&mut self, edit: &Value, secret: bool) {
        let (Some(pointer), Some(value)) = (edit.get(0).and_then(Value::as_str), edit.get(1))
        else {
            return;
        };
        let parts: Vec<String> = pointer.split('/').skip(1).map(unescape).collect();
        let (path, name) = (parts.join("."), parts.last().cloned().unwrap_or_default());
        let first = parts.first().map(String::as_str);
        match (first, value.as_str()) {
            (Some(first @ ("data" | "stringData")), Some(text)) if secret => {
                self.take(&path, text, "data of a Secret", first == "data");
            }
            (Some(first @ ("data" | "stringData")), None) if secret => {
                self.data_of_secret(&path, value, first == "data");
            }
            _ => self.value(&path, &name, value),
        }
    }

    /// All text that a user typed, anywhere in a session's JSON.
    fn session(&mut self, json: &Value, secret: bool) {
        match json {
            Value::Array(items) => {
                let pointer = items.first().and_then(Value::as_str);
                if pointer.is_some_and(|it| it.starts_with('/')) && items.len() <= 2 {
                    self.edit(json, secret);
                } else {
                    items.iter().for_each(|item| self.session(item, secret));
                }
            }
            Value::Object(map) => map.iter().for_each(|(key, value)| match value.as_str() {
                Some(value) => self.typed(key, value),
                None => self.session(value, secret),
            }),
            Value::String(value) => self.typed("", value),
            _ => {}
        }
    }

    fn typed(&mut self, field: &str, value: &str) {
        if value.contains(['\n', '{', ':']) {
            self.text(field, value);
        } else {
            self.string(field, "", value);
        }
    }
}

/// A text with its private values replaced. Short values are replaced only if they are the whole
/// text, because other texts can contain them by chance.
fn replaced(value: &str, replacements: &BTreeMap<String, String>) -> Option<String> {
    const LONG: usize = 6;
    if let Some(replacement) = replacements.get(value) {
        return Some(replacement.clone());
    }
    let mut text = value.to_owned();
    // The longest first, because one value may be a part of another.
    let mut all: Vec<_> = replacements.iter().collect();
    all.sort_by_key(|(private, _)| std::cmp::Reverse(private.len()));
    for (private, replacement) in all {
        let assigned = format!("={private}");
        if private.len() >= LONG {
            text = text.replace(private.as_str(), replacement);
        } else if text.ends_with(&assigned) {
            text.truncate(text.len() - private.len());
            text.push_str(replacement);
        }
    }
    (text != value).then_some(text)
}

/// Replaces private values everywhere except in the fields that identify an object.
fn replace(value: &mut Value, key: &str, replacements: &BTreeMap<String, String>) {
    match value {
        Value::String(text) if !matches!(key, "kind" | "apiVersion") => {
            if let Some(new) = replaced_text(text, replacements) {
                *text = new;
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| replace(item, "", replacements)),
        Value::Object(map) => map
            .iter_mut()
            .for_each(|(key, value)| replace(value, key, replacements)),
        _ => {}
    }
}

/// The objects of a text in JSON or YAML; JSON documents may follow each other, as in a watch.
fn read(text: &str) -> Option<Vec<Value>> {
    let documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let json: Result<Vec<Value>, _> = documents.collect();
    json.ok().or_else(|| objects(text).ok())
}

/// A text, or the object in it, with its private values replaced.
fn replaced_text(text: &str, replacements: &BTreeMap<String, String>) -> Option<String> {
    if let Some(replacement) = replacements.get(text) {
        return Some(replacement.clone());
    }
    let object = text.contains(['\n', '{', ':']).then(|| read(text));
    let values = object.flatten();
    let Some(values) = values.filter(|all| all.iter().any(|it| it.is_object() || it.is_array()))
    else {
        return replaced(text, replacements);
    };
    let mut new = values.clone();
    new.iter_mut()
        .for_each(|value| replace(value, "", replacements));
    if new == values {
        return replaced(text, replacements);
    }
    let json = text.trim_start().starts_with(['{', '[']);
    let texts: Vec<String> = new
        .iter()
        .map(|value| {
            if json {
                value.to_string()
            } else {
                to_yaml(value)
            }
        })
        .collect();
    Some(texts.join(if json { "\n" } else { "---\n" }))
}

/// What stands for a private value where an object is shown.
pub const MASK: &str = "••••••";

/// An object with [`MASK`] in the place of each value that looks private, to be shown.
pub fn masked(object: &Value) -> Value {
    hidden(object).unwrap_or_else(|| object.clone())
}

/// As [`masked`]: the same object if nothing in it looks private.
pub fn shown(object: &Arc<Value>) -> Arc<Value> {
    hidden(object).map_or_else(|| Arc::clone(object), Arc::new)
}

/// An object with [`MASK`] in the place of each value that looks private; `None` if none does.
fn hidden(object: &Value) -> Option<Value> {
    let mut finder = Finder::default();
    finder.value("", "", object);
    if finder.found.is_empty() {
        return None;
    }
    let found = finder.found.into_keys();
    let replacements = found.map(|value| (value, MASK.to_owned())).collect();
    let mut object = object.clone();
    replace(&mut object, "", &replacements);
    Some(object)
}

/// A text with [`MASK`] in the place of each value that looks private, to be shown.
pub fn masked_text(text: &str) -> String {
    let mut finder = Finder::default();
    finder.text("", text);
    // What a tool prints can look like YAML by chance.
    for word in text.split_whitespace() {
        finder.string("", "", word);
    }
    let found = finder.found.into_keys();
    let replacements: BTreeMap<String, String> =
        found.map(|value| (value, MASK.to_owned())).collect();
    replaced(text, &replacements).unwrap_or_else(|| text.to_owned())
}

impl Session {
    /// The values that look private, in the order of their fields. A session has only values that a
    /// user typed or loaded.
    pub fn private_values(&self) -> Vec<Private> {
        let mut finder = Finder::default();
        let manifests = objects(&self.start.manifests).unwrap_or_default();
        let mut secret = false;
        for value in &manifests {
            secret |= text(value, "kind") == "Secret";
            finder.value("", "", value);
        }
        let json = self.to_json();
        for part in ["n", "t", "l", "b", "x"] {
            if let Some(part) = json.get(part) {
                finder.session(part, secret);
            }
        }
        let mut found: Vec<Private> = finder.found.into_values().collect();
        found.sort();
        found
    }

    /// The session with these values replaced. Equal values stay equal and different values stay
    /// different, so the history has the same results.
    pub fn without(&self, private: &[Private]) -> Self {
        let mut replacements = BTreeMap::new();
        let mut plain = BTreeMap::new();
        for one in private.iter().filter(|one| !one.encoded) {
            let name = format!("left-out-{}", plain.len() + 1);
            plain.insert(one.value.clone(), name.clone());
            replacements.insert(one.value.clone(), name);
        }
        for one in private.iter().filter(|one| one.encoded) {
            let decoded = STANDARD.decode(&one.value).ok();
            let decoded = decoded.and_then(|decoded| String::from_utf8(decoded).ok());
            let name = decoded.and_then(|decoded| plain.get(&decoded).cloned());
            let name = name.unwrap_or_else(|| format!("left-out-{}", replacements.len() + 1));
            replacements.insert(one.value.clone(), STANDARD.encode(name));
        }
        let mut json = self.to_json();
        for part in ["m", "n", "t", "l", "b", "x"] {
            if let Some(part) = json.get_mut(part) {
                replace(part, "", &replacements);
            }
        }
        Self::from_json(&json).unwrap_or_else(|_| self.clone())
    }
}
