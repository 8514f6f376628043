//! A session without the values that look private.

use serde_json::Value;

use super::Session;
use optimist_masking::{Masking, Private, names_secret};

/// The parts of a session's JSON that people typed or loaded, besides its manifests.
const TYPED: [&str; 5] = ["n", "t", "l", "b", "x"];

impl Session {
    /// The session with a stand-in in the place of each value that looks private, and what was left
    /// out, in the order of the fields. Equal values stay equal and different values stay different, so the history has the same
    /// results. Its texts are searched as in [`Masking`].
    pub fn without_private(&self) -> (Self, Vec<Private>) {
        let mut json = self.to_json();
        let whole = json.to_string();
        let mut masking = Masking::shared([whole.as_str()]).with_secrets(names_secret(&whole));
        drop(whole);
        if let Some(Value::String(manifests)) = json.get_mut("m")
            && let Some(new) = masking.text(manifests)
        {
            *manifests = new;
        }
        for part in TYPED {
            if let Some(part) = json.get_mut(part) {
                typed(&mut masking, part);
            }
        }
        if masking.is_empty() {
            return (self.clone(), Vec::new());
        }
        let known = masking.known_values();
        for part in ["m"].into_iter().chain(TYPED) {
            if let Some(part) = json.get_mut(part) {
                known.replace(part);
            }
        }
        // A session that cannot be read without its values is not shared with them.
        let session = Self::from_json(&json).unwrap_or_else(|_| Self::empty());
        (session, masking.findings())
    }
}

/// Takes the values that look private out of a session's JSON.
fn typed(masking: &mut Masking, json: &mut Value) {
    match json {
        Value::Array(items) => match items.as_mut_slice() {
            // An edit: a path and its new value.
            [Value::String(pointer), value] if pointer.starts_with('/') => {
                masking.at_pointer(pointer, value);
            }
            items => items.iter_mut().for_each(|item| typed(masking, item)),
        },
        Value::Object(map) if map.keys().any(|key| key.starts_with("f:")) => masking.object(json),
        Value::Object(map) => map.values_mut().for_each(|value| typed(masking, value)),
        Value::String(text) => {
            if let Some(new) = masking.text(text) {
                *text = new;
            }
        }
        _ => {}
    }
}
