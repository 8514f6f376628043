//! The values of a row as they are shown: without those that look private.

use std::sync::Arc;

use optimist_apiserver::apply::Places;
use optimist_masking::{MASK, masked_arc};
use serde_json::Value;

use super::Row;

/// Returns the value of a field as it is at its place in an object without private values. A value that is not found
/// there is masked whole if anything of the row is private.
pub(crate) fn shown_value(
    value: Option<&Value>,
    masked: Option<&Value>,
    has_private: bool,
) -> Option<Value> {
    let value = value?;
    Some(match masked {
        Some(masked) => masked.clone(),
        None if has_private => MASK.into(),
        None => value.clone(),
    })
}

impl Row {
    /// Masks the values that look private. `before` and `wanted`: the object before and the wanted one, masked.
    /// `has_private`: whether one of them has such a value.
    pub fn mask(&mut self, before: Arc<Value>, wanted: &Value, has_private: bool) {
        let (after, has_private) = match self.before == self.after {
            true => (Arc::clone(&before), has_private),
            false => {
                let after = masked_arc(&self.after);
                let has_private = has_private || !Arc::ptr_eq(&after, &self.after);
                (after, has_private)
            }
        };
        let mut places = [&*before, &*after, wanted].map(Places::new);
        for outcome in &mut self.fields {
            let field = &outcome.field.0;
            let [old, new, said] = places.each_mut().map(|object| object.find(field));
            // A manifest may write a value elsewhere than the server stores it.
            let hides = [old, new, said]
                .iter()
                .flatten()
                .any(|value| **value == MASK);
            let said = said.filter(|_| !hides);
            outcome.before = shown_value(outcome.before.as_ref(), old, has_private);
            outcome.after = shown_value(outcome.after.as_ref(), new, has_private);
            outcome.wanted = shown_value(outcome.wanted.as_ref(), said, has_private);
        }
        self.before = before;
        self.after = after;
    }
}
