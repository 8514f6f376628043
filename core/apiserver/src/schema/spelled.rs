//! Numbers as a document spells them. Go's JSON package shows a number in an error as it is spelled, and gives a
//! type that reads its own JSON the spelling (`literalStore` of `sigs.k8s.io/json`).

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::{Number, Value};

use crate::go;
use crate::json::Raw;

/// The numbers of a document that are not integers of 64 bits, by their paths.
#[derive(Default)]
pub(super) struct SpelledNumbers<'a> {
    document: Option<&'a dyn Fn() -> Option<Raw>>,
    found: OnceCell<HashMap<Vec<String>, String>>,
}

impl<'a> SpelledNumbers<'a> {
    /// Reads them from this document, if a number needs it; if it returns none, they are as Go writes them.
    pub(super) fn from_document(document: &'a dyn Fn() -> Option<Raw>) -> Self {
        Self {
            document: Some(document),
            found: OnceCell::new(),
        }
    }

    /// The text of the number at a path.
    pub(super) fn text(&self, number: &Number, path: impl Fn() -> Vec<String>) -> String {
        if number.is_i64() {
            return number.to_string();
        }
        let found = self.found.get_or_init(|| {
            let mut found = HashMap::new();
            if let Some(document) = self.document.and_then(|document| document()) {
                collect(document, &mut Vec::new(), &mut found);
            }
            found
        });
        match found.get(&path()) {
            Some(text) => text.clone(),
            None => go::json(&Value::Number(number.clone())),
        }
    }
}

/// Collects the numbers. Of repeated members the last counts.
fn collect(raw: Raw, path: &mut Vec<String>, found: &mut HashMap<Vec<String>, String>) {
    match raw {
        Raw::Scalar(text)
            if text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                && text.parse::<i64>().is_err() =>
        {
            found.insert(path.clone(), text);
        }
        Raw::Null | Raw::Scalar(_) => {}
        Raw::Array(items) => {
            for (i, item) in items.into_iter().enumerate() {
                path.push(i.to_string());
                collect(item, path, found);
                path.pop();
            }
        }
        Raw::Object(members) => {
            for (name, member) in members {
                path.push(name);
                collect(member, path, found);
                path.pop();
            }
        }
    }
}
